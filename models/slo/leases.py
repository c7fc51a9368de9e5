"""One process at a time does what would be done twice otherwise; when it dies another takes over.

The lease only spares work. What is appended under it is safe without: of two processes that both believe to hold
it the log takes one, by the natural key of what is expected and the number of an outcome's revision.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, select, update
from sqlmodel import col

from models.bulk import insert_missing
from models.slo.tables import TickLease

_NEVER = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass(frozen=True, slots=True)
class LeaseState:
    """`cursor` is the log position up to which evidence was looked at; -1 before the first round."""

    holder: str
    cursor: int
    done_at: datetime | None


def acquire(connection: Connection, name: str, holder: str, now: datetime, lasts: timedelta) -> bool:
    """Whether `holder` has the lease from now on: it was free, had ended, or was this holder's. One that ends later
    than any lease lasts was taken under a clock that has gone back since, and counts as ended.

    Needs a write transaction: the row is locked until it ends.
    """
    free = {"name": name, "holder": "", "expires_at": _NEVER, "cursor": -1, "done_at": None}
    insert_missing(connection, TickLease, [free])
    row = connection.execute(
        select(col(TickLease.holder), col(TickLease.expires_at))
        .where(col(TickLease.name) == name)
        .with_for_update()
    ).one()
    if row.holder not in ("", holder) and now < row.expires_at <= now + 2 * lasts:
        return False
    connection.execute(
        update(TickLease).where(col(TickLease.name) == name).values(holder=holder, expires_at=now + lasts)
    )
    return True


def renew(
    connection: Connection,
    name: str,
    holder: str,
    now: datetime,
    lasts: timedelta,
    *,
    cursor: int | None = None,
    done: bool = False,
) -> bool:
    """Prolongs the lease and notes how far the work came; False when another process has it by now."""
    changed: dict[str, object] = {"expires_at": now + lasts}
    if cursor is not None:
        changed["cursor"] = cursor
    if done:
        changed["done_at"] = now
    query = update(TickLease).where(col(TickLease.name) == name, col(TickLease.holder) == holder)
    return connection.execute(query.values(**changed)).rowcount == 1


def release(connection: Connection, name: str, holder: str) -> None:
    """Gives the lease back, so that a process that stops keeps nobody waiting."""
    query = update(TickLease).where(col(TickLease.name) == name, col(TickLease.holder) == holder)
    connection.execute(query.values(holder="", expires_at=_NEVER))


def lease_state(connection: Connection, name: str) -> LeaseState:
    """How far the work came, whoever does it."""
    row = connection.execute(
        select(col(TickLease.holder), col(TickLease.cursor), col(TickLease.done_at)).where(
            col(TickLease.name) == name
        )
    ).first()
    return LeaseState("", -1, None) if row is None else LeaseState(*row)
