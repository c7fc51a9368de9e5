"""Records that the service makes by itself, appended in their namespaces."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import groupby
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
MAX_RECORDS_WAITING: Final = 3
"""Records of outcomes: while one is written the next is made, and no client waits behind more than a few hundred."""
Body = dict[str, Any]

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
    """How many of these outcomes of windows, each with its namespace, were recorded: many in one record. Where another
    process was faster with one of a record, the others are tried alone: their evidence may not come again."""
    made = 0
    waiting = deque[tuple[str, Sequence[Body], Future[tuple[Stored, ...]]]]()
    for namespace, bodies, draft in _records(outcomes):
        if len(waiting) >= MAX_RECORDS_WAITING:
            made += _outcomes_stored(ledger, *waiting.popleft())
        waiting.append((namespace, bodies, ledger.append(Item((draft,)))))
    while waiting:
        made += _outcomes_stored(ledger, *waiting.popleft())
    return made


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


def _outcomes_stored(
    ledger: Ledger, namespace: str, bodies: Sequence[Body], future: "Future[tuple[Stored, ...]]"
) -> int:
    try:
        (stored,) = future.result()
    except Conflict as refusal:
        if len(bodies) > 1:
            return append_bodies(
                ledger, "window.settled", ((namespace, {"windows": [body]}) for body in bodies)
            )
        log.info("tick.overtaken", reason=refusal.detail)
        return 0
    return len(bodies) if stored.created else 0


def _draft(kind: str, namespace: str, body: Body) -> Draft:
    actor = replace(SYSTEM, namespace=namespace)
    return make_draft(KINDS[kind], actor, body, KINDS[kind].body.model_validate(body))


def _stated(body: Body) -> Body:
    return {name: value for name, value in body.items() if value is not None}
