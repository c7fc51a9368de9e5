"""Records that the service makes by itself, appended in their namespaces."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final

import structlog

from models.actor import SYSTEM
from models.errors import Conflict, RecordTooLarge
from models.kinds.registry import KINDS
from models.kinds.slos import MAX_SETTLED_AT_ONCE
from models.ledger.drafts import Draft, Item, Stored, make_draft
from models.ledger.writer import Ledger

MAX_WAITING: Final = 1_000
"""Items that wait to be written at the same time: a quarter of what the ledger queues, so that clients find room."""
MAX_RECORDS_AT_ONCE: Final = 3
"""Records of outcomes that one commit takes: while these are written the next are made, and no client waits behind more
than a few hundred outcomes."""
Body = dict[str, Any]
_Together = Sequence[tuple[str, Sequence[Body], Draft]]

log = structlog.get_logger("shipworthy.ticks")


def append_bodies(ledger: Ledger, kind: str, bodies: Iterable[tuple[str, Body]]) -> int:
    """How many of these bodies, each with its namespace, became records. One that another process was faster with is
    left out: the next round sees what that one made of it."""
    made, waiting = 0, deque[Future[tuple[Stored, ...]]]()
    for namespace, body in bodies:
        if len(waiting) >= MAX_WAITING:
            made += _settled(waiting)
            waiting.clear()
        waiting.append(ledger.append(Item((_draft(kind, namespace, _stated(body)),))))
    return made + _settled(waiting)


def _settled(waiting: Iterable["Future[tuple[Stored, ...]]"]) -> int:
    made = 0
    for future in waiting:
        try:
            (stored,) = future.result()
        except Conflict as refusal:
            log.info("tick.overtaken", reason=refusal.detail)
            continue
        made += stored.created
    return made


def append_outcomes(ledger: Ledger, outcomes: Iterable[tuple[str, Body]]) -> int:
    """How many of these outcomes of windows, each with its namespace, were recorded: many in one record, and a few
    records in one commit. Where another process was faster with one of them, the others are tried alone: their evidence
    may not come again."""
    made = 0
    waiting: tuple[_Together, Future[tuple[Stored, ...]]] | None = None
    records = _records(outcomes)
    while together := list(islice(records, MAX_RECORDS_AT_ONCE)):
        if waiting is not None:
            made += _outcomes_stored(ledger, *waiting)
        waiting = together, ledger.append(Item(tuple(draft for _, _, draft in together)))
    return made + (0 if waiting is None else _outcomes_stored(ledger, *waiting))


def _records(outcomes: Iterable[tuple[str, Body]]) -> Iterator[tuple[str, Sequence[Body], Draft]]:
    for namespace, group in groupby(outcomes, itemgetter(0)):
        chunk: list[Body] = []
        for _, body in group:
            chunk.append(_stated(body))
            if len(chunk) == MAX_SETTLED_AT_ONCE:
                yield from _drafts(namespace, chunk)
                chunk = []
        if chunk:
            yield from _drafts(namespace, chunk)


def _drafts(namespace: str, bodies: Sequence[Body]) -> Iterator[tuple[str, Sequence[Body], Draft]]:
    """One record, or several when these outcomes name so much evidence that one could not hold it."""
    try:
        draft = _draft("window.settled", namespace, {"windows": list(bodies)})
    except RecordTooLarge:
        if len(bodies) == 1:
            raise
        half = len(bodies) // 2
        yield from _drafts(namespace, bodies[:half])
        yield from _drafts(namespace, bodies[half:])
    else:
        yield namespace, bodies, draft


def _outcomes_stored(ledger: Ledger, together: _Together, future: "Future[tuple[Stored, ...]]") -> int:
    try:
        stored = future.result()
    except Conflict as refusal:
        alone = [(namespace, body) for namespace, bodies, _ in together for body in bodies]
        if len(alone) > 1:
            return append_bodies(
                ledger, "window.settled", ((namespace, {"windows": [body]}) for namespace, body in alone)
            )
        log.info("tick.overtaken", reason=refusal.detail)
        return 0
    return sum(len(bodies) for (_, bodies, _), each in zip(together, stored, strict=True) if each.created)


def _draft(kind: str, namespace: str, body: Body) -> Draft:
    actor = replace(SYSTEM, namespace=namespace)
    return make_draft(KINDS[kind], actor, body, KINDS[kind].body.model_validate(body))


def _stated(body: Body) -> Body:
    return {name: value for name, value in body.items() if value is not None}
