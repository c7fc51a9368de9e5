"""Which roots workers read, and when one of them last asked for work: what is offered to none need not be queued."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, select
from sqlmodel import col

from models.bulk import upsert_rows
from models.work.tables import Work, WorkerRoot

SIGN_SECONDS: Final = 600
"""How often it is noted that a worker is still there; idle ones ask every few seconds."""


def roots_to_note(connection: Connection, namespace: str, roots: Collection[str], now: datetime) -> list[str]:
    """Those of the roots that were not noted lately; a read, so that most claims write nothing."""
    if not roots:
        return []
    fresh = select(col(WorkerRoot.root)).where(
        col(WorkerRoot.namespace) == namespace,
        col(WorkerRoot.root).in_(roots),
        col(WorkerRoot.seen_at) > now - timedelta(seconds=SIGN_SECONDS),
    )
    return sorted(set(roots) - set(connection.execute(fresh).scalars()))


def awaited_root(connection: Connection, namespace: str, id: str) -> tuple[str, datetime | None] | None:
    """The root of the data that some work is about, and when a worker that reads it last asked for work; None for work
    without a root."""
    statement = (
        select(col(Work.root), col(WorkerRoot.seen_at))
        .outerjoin(
            WorkerRoot,
            (col(WorkerRoot.namespace) == col(Work.namespace)) & (col(WorkerRoot.root) == col(Work.root)),
        )
        .where(col(Work.namespace) == namespace, col(Work.id) == id, col(Work.root) != "")
    )
    row = connection.execute(statement).first()
    return None if row is None else (row[0], row[1])


def note_roots(connection: Connection, namespace: str, roots: Collection[str], now: datetime) -> None:
    rows = [{"namespace": namespace, "root": root, "seen_at": now} for root in roots]
    upsert_rows(connection, WorkerRoot, rows)
