"""Attempts whose time is over without all of their results are abandoned, by a record that says so."""

from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from models.actor import SYSTEM
from models.database import Database
from models.errors import Conflict
from models.evaluations.queries import list_overdue
from models.kinds.registry import KINDS
from models.ledger.drafts import Item, make_draft
from models.ledger.writer import Ledger

MAX_AT_ONCE: Final = 200
REASON: Final = "the time that the attempt declared was over before all of its results came"
"""The same from every process: then their records have the same content, and the second one finds the first."""

log = structlog.get_logger("shipworthy.ticks")


def abandon_overdue(database: Database, ledger: Ledger, now: datetime) -> int:
    """How many attempts were abandoned by this call. Any number of processes may make it at the same time: an attempt
    can be abandoned once, and only while it is open and out of time when the log takes the record."""
    kind = KINDS["evaluation.abandoned"]
    with database.read() as session:
        overdue = list_overdue(session, now, MAX_AT_ONCE)
    waiting = []
    for namespace, attempt in overdue:
        body = {"attempt": attempt, "reason": REASON}
        actor = replace(SYSTEM, namespace=namespace)
        draft = make_draft(kind, actor, body, kind.body.model_validate(body))
        waiting.append((namespace, attempt, ledger.append(Item((draft,)))))
    abandoned = 0
    for namespace, attempt, future in waiting:
        try:
            (stored,) = future.result()
        except Conflict as refusal:
            # Its last result came first: it has closed, which is better.
            log.info("attempt.not_abandoned", namespace=namespace, attempt=attempt, reason=refusal.detail)
            continue
        abandoned += stored.created
    return abandoned
