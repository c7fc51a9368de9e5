"""Claiming work under a lease, renewing it, and giving work back.

A token is shown once and kept as its SHA-256. Work whose lease ended is taken over by the next claim; after the third
attempt it is dead. Every function is one short write transaction of its caller's and takes the time as an argument.
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, select, text
from sqlmodel import col

from models.errors import WorkLeaseLost
from models.work.queue import fitting, held, locked, set_values, waiting
from models.work.states import (
    LEASE_ENDED,
    LEASE_SECONDS,
    MAX_ATTEMPTS,
    RETRY_SECONDS,
    WorkItem,
    WorkState,
)
from models.work.tables import Work
from shipworthy.formats.digests import sha256_digest

_MAX_REASON: Final = 4096


@dataclass(frozen=True, slots=True)
class Claimed:
    """Work for one worker; `lease` is the token that it proves its claim with."""

    id: str
    kind: str
    attempt: int
    lease: str
    request: str


@dataclass(frozen=True, slots=True)
class Progress:
    done: int | None = None
    total: int | None = None
    text: str | None = None


def claim_work(
    connection: Connection,
    namespace: str,
    kinds: Collection[str],
    roots: Collection[str],
    worker: str,
    now: datetime,
    lease: str | None = None,
) -> Claimed | None:
    """The oldest work that waits, for this worker alone; None when nothing waits.

    `lease` is a token that the worker chose: a claim with the same one, sent again because its answer was lost, gives
    the same work. Needs a write transaction: SQLite's is exclusive, on PostgreSQL the row is locked and others skip it.
    """
    if (
        lease is not None
        and (again := _claimed_before(connection, namespace, worker, lease, now)) is not None
    ):
        return again
    _bury(connection, namespace, now)
    row = connection.execute(
        select(col(Work.id), col(Work.kind), col(Work.attempt), col(Work.request))
        .where(waiting(namespace, now), fitting(kinds, roots), col(Work.attempt) < MAX_ATTEMPTS)
        .order_by(col(Work.created_at), col(Work.id))
        .limit(1)
        .with_for_update(skip_locked=True)
    ).first()
    if row is None:
        return None
    token = lease or secrets.token_hex(16)
    set_values(
        connection,
        namespace,
        row.id,
        state=str(WorkState.RUNNING),
        attempt=row.attempt + 1,
        lease=lease_digest(token),
        lease_expires_at=now + timedelta(seconds=LEASE_SECONDS),
        worker=worker,
        progress_done=None,
        progress_total=None,
        progress_text=None,
        reason=None,
    )
    return Claimed(row.id, row.kind, row.attempt + 1, token, row.request)


def _claimed_before(
    connection: Connection, namespace: str, worker: str, lease: str, now: datetime
) -> Claimed | None:
    """What this worker runs under the lease, which begins anew: nobody has worked under it yet."""
    statement = select(col(Work.id), col(Work.kind), col(Work.attempt), col(Work.request))
    found = statement.where(held(namespace, worker, lease_digest(lease)))
    row = connection.execute(found.with_for_update()).first()
    if row is None:
        return None
    set_values(connection, namespace, row.id, lease_expires_at=now + timedelta(seconds=LEASE_SECONDS))
    return Claimed(row.id, row.kind, row.attempt, lease, row.request)


def renew_work(
    connection: Connection, namespace: str, id: str, lease: str, progress: Progress | None, now: datetime
) -> bool:
    """Prolongs the lease and notes progress; whether the work was cancelled. Raises NotFound, WorkLeaseLost."""
    found = locked(connection, namespace, id)
    if found.state == WorkState.CANCELLED and found.lease == lease_digest(lease):
        return True
    check_held(found, lease)
    changed: dict[str, Any] = {"lease_expires_at": now + timedelta(seconds=LEASE_SECONDS)}
    if progress is not None:
        changed |= {
            "progress_done": progress.done,
            "progress_total": progress.total,
            "progress_text": progress.text,
        }
    set_values(connection, namespace, id, **changed)
    return False


def set_request(connection: Connection, namespace: str, id: str, lease: str, request: str) -> None:
    """Keeps what was found out for whoever holds the lease. Raises NotFound, WorkLeaseLost."""
    check_held(locked(connection, namespace, id), lease)
    set_values(connection, namespace, id, request=request)


def give_back(
    connection: Connection, namespace: str, id: str, lease: str, reason: str, retry: bool, now: datetime
) -> WorkState:
    """The worker could not do it: tried again later when that may help, else failed. Raises NotFound, WorkLeaseLost.

    Told twice, the answer is the same.
    """
    found = locked(connection, namespace, id)
    if found.lease == lease_digest(lease) and found.state in (WorkState.FAILED, WorkState.DEAD):
        return WorkState(found.state)
    check_held(found, lease)
    if retry and found.attempt < MAX_ATTEMPTS:
        set_values(
            connection,
            namespace,
            id,
            state=str(WorkState.QUEUED),
            available_at=now + timedelta(seconds=RETRY_SECONDS * found.attempt),
            lease=None,
            lease_expires_at=None,
            reason=reason[:_MAX_REASON],
        )
        return WorkState.QUEUED
    state = WorkState.DEAD if retry else WorkState.FAILED
    set_values(connection, namespace, id, state=str(state), reason=reason[:_MAX_REASON], finished_at=now)
    return state


def lease_digest(token: str) -> str:
    return sha256_digest(token.encode())


def check_held(found: WorkItem, lease: str) -> None:
    """Raises WorkLeaseLost unless the work runs under this lease. One that ended unnoticed still holds."""
    if found.state == WorkState.RUNNING and found.lease == lease_digest(lease):
        return
    why = {
        WorkState.RUNNING: "another worker took it over",
        WorkState.QUEUED: "it was given back and waits",
    }.get(WorkState(found.state), f"it is {found.state}")
    raise WorkLeaseLost(f"the lease on this work is lost: {why}; drop the result and claim other work")


def _bury(connection: Connection, namespace: str, now: datetime) -> None:
    """Work whose last lease ended is dead, whoever claims next."""
    buried = (
        select(col(Work.id))
        .where(
            text("state IN ('queued', 'running')"),
            col(Work.namespace) == namespace,
            col(Work.state) == str(WorkState.RUNNING),
            col(Work.lease_expires_at) <= now,
            col(Work.attempt) >= MAX_ATTEMPTS,
        )
        .with_for_update(skip_locked=True)
    )
    for id in connection.execute(buried).scalars().all():
        set_values(connection, namespace, id, state=str(WorkState.DEAD), reason=LEASE_ENDED, finished_at=now)
