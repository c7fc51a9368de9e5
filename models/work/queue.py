"""The queue of work: asked for, looked at, listed, cancelled. Claiming it is in leases.py.

Every function is one short transaction of its caller's and takes the time as an argument.
"""

import uuid
from collections.abc import Collection
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, or_, select, text, update
from sqlmodel import Session, col

from models.bulk import insert_missing
from models.errors import IdempotencyKeyReused, NotFound, WorkEnded
from models.work.states import (
    ENDED,
    WorkItem,
    WorkState,
)
from models.work.tables import Work

WORK_NOT_FOUND: Final = "no work with this id in this namespace; it is the `id` that the asking call answered"
_MAX_REASON: Final = 4096
# Said once more and as text: with bound values no planner sees that the index over open work fits.
_OPEN: Final = text("state IN ('queued', 'running')")
_COLUMNS: Final = tuple(col(getattr(Work, field.name)) for field in fields(WorkItem))


def work_row(
    *,
    id: str,
    namespace: str,
    kind: str,
    root: str,
    request: str,
    content: str,
    key: str | None,
    owner: str | None,
    now: datetime,
) -> dict[str, Any]:
    """The row of work that waits. Work whose root is "" reads none: any worker that does its kind may claim it."""
    row: dict[str, Any] = dict.fromkeys(Work.model_fields)
    return row | {
        "namespace": namespace,
        "id": id,
        "kind": kind,
        "state": str(WorkState.QUEUED),
        "root": root,
        "request": request,
        "content_digest": content,
        "idempotency_key": key,
        "requested_by": owner,
        "created_at": now,
        "available_at": now,
        "attempt": 0,
    }


def add_work(
    connection: Connection,
    *,
    namespace: str,
    kind: str,
    root: str,
    request: str,
    content: str,
    key: str | None,
    owner: str | None,
    now: datetime,
) -> WorkItem:
    """Queues work; the same idempotency key with the same content gives what the first call made.

    Raises IdempotencyKeyReused for other content.
    """
    id = str(uuid.uuid4())
    row = work_row(
        id=id,
        namespace=namespace,
        kind=kind,
        root=root,
        request=request,
        content=content,
        key=key,
        owner=owner,
        now=now,
    )
    insert_missing(connection, Work, [row])
    found = _first(connection, col(Work.namespace) == namespace, col(Work.id) == id)
    if found is None:
        found = find_by_key(connection, namespace, key)
        assert found is not None, "an id was given twice"
    if found.content_digest != content or found.kind != kind:
        raise IdempotencyKeyReused(
            "this idempotency key was used before with other content; send the same content, or a new key"
        )
    return found


def find_by_key(connection: Connection, namespace: str, key: str | None) -> WorkItem | None:
    """What was asked for under an idempotency key."""
    if key is None:
        return None
    return _first(connection, col(Work.namespace) == namespace, col(Work.idempotency_key) == key)


def get_work(connection: Connection, namespace: str, id: str, kind: str | None = None) -> WorkItem:
    """Raises NotFound, also for work of another kind."""
    found = _first(connection, col(Work.namespace) == namespace, col(Work.id) == id)
    if found is None or (kind is not None and found.kind != kind):
        raise NotFound(WORK_NOT_FOUND)
    return found


def list_work(
    session: Session,
    namespace: str,
    kind: str,
    state: str,
    after: tuple[datetime, str] | None,
    limit: int,
) -> list[WorkItem]:
    """Work of a stored state, the last asked for first."""
    statement = (
        select(*_COLUMNS)
        .where(col(Work.namespace) == namespace, col(Work.kind) == kind, col(Work.state) == state)
        .order_by(col(Work.created_at).desc(), col(Work.id).desc())
        .limit(limit)
    )
    if after is not None:
        when, id = after
        statement = statement.where(
            or_(col(Work.created_at) < when, and_(col(Work.created_at) == when, col(Work.id) < id))
        )
    return [WorkItem(*row) for row in session.connection().execute(statement)]


def may_claim(
    connection: Connection,
    namespace: str,
    kinds: Collection[str],
    roots: Collection[str],
    now: datetime,
    before: ColumnElement[bool] | None = None,
) -> bool:
    """Whether a claim would find something; a read, so that waiting takes no write lock. `before` says what was claimed
    already, as `held` gives it."""
    claimable = and_(waiting(namespace, now), fitting(kinds, roots))
    if before is not None:
        claimable = and_(_OPEN, or_(claimable, before))
    return connection.execute(select(col(Work.id)).where(claimable).limit(1)).first() is not None


def cancel_work(connection: Connection, namespace: str, id: str, kind: str, now: datetime) -> WorkItem:
    """Raises NotFound, WorkEnded. Cancelled twice is cancelled; a worker hears of it when it renews."""
    found = locked(connection, namespace, id)
    if found.kind != kind:
        raise NotFound(WORK_NOT_FOUND)
    if found.state == WorkState.CANCELLED:
        return found
    state, _ = found.state_at(now)
    if state in ENDED:
        raise WorkEnded(f"the work is {state} already; there is nothing left to cancel")
    set_values(connection, namespace, id, state=str(WorkState.CANCELLED), finished_at=now)
    return get_work(connection, namespace, id)


def locked(connection: Connection, namespace: str, id: str) -> WorkItem:
    """The row, which nobody else changes until this transaction ends. Raises NotFound."""
    statement = select(*_COLUMNS).where(col(Work.namespace) == namespace, col(Work.id) == id)
    row = connection.execute(statement.with_for_update()).first()
    if row is None:
        raise NotFound(WORK_NOT_FOUND)
    return WorkItem(*row)


def held(namespace: str, worker: str, digest: str) -> ColumnElement[bool]:
    """Work that runs under the lease with this digest."""
    return and_(
        col(Work.namespace) == namespace,
        _OPEN,
        col(Work.state) == str(WorkState.RUNNING),
        col(Work.worker) == worker,
        col(Work.lease) == digest,
    )


def waiting(namespace: str, now: datetime) -> ColumnElement[bool]:
    return and_(
        col(Work.namespace) == namespace,
        _OPEN,
        or_(
            and_(col(Work.state) == str(WorkState.QUEUED), col(Work.available_at) <= now),
            and_(col(Work.state) == str(WorkState.RUNNING), col(Work.lease_expires_at) <= now),
        ),
    )


def fitting(kinds: Collection[str], roots: Collection[str]) -> ColumnElement[bool]:
    return and_(col(Work.kind).in_(kinds), col(Work.root).in_([*roots, ""]))


def _first(connection: Connection, *conditions: ColumnElement[bool]) -> WorkItem | None:
    row = connection.execute(select(*_COLUMNS).where(*conditions)).first()
    return None if row is None else WorkItem(*row)


def set_values(connection: Connection, namespace: str, id: str, **values: object) -> None:
    connection.execute(
        update(Work).where(col(Work.namespace) == namespace, col(Work.id) == id).values(**values)
    )
