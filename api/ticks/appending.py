"""Records that the service makes by itself, appended in their namespaces."""

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Final

import structlog

from models.actor import SYSTEM
from models.errors import Conflict
from models.kinds.registry import KINDS
from models.ledger.drafts import Item, Stored, make_draft
from models.ledger.writer import Ledger

MAX_WAITING: Final = 1_000
"""Items that wait to be written at the same time: a quarter of what the ledger queues, so that clients find room."""

log = structlog.get_logger("shipworthy.ticks")


def append_bodies(ledger: Ledger, kind: str, bodies: Iterable[tuple[str, dict[str, Any]]]) -> int:
    """How many of these bodies, each with its namespace, became records. One that another process was faster with is
    left out: the next round sees what that one made of it."""
    made, waiting = 0, list[Future[tuple[Stored, ...]]]()
    for namespace, body in bodies:
        if len(waiting) >= MAX_WAITING:
            made += _settled(waiting)
            waiting = []
        stated = {name: value for name, value in body.items() if value is not None}
        actor = replace(SYSTEM, namespace=namespace)
        draft = make_draft(KINDS[kind], actor, stated, KINDS[kind].body.model_validate(stated))
        waiting.append(ledger.append(Item((draft,))))
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
