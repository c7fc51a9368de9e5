"""Sources of evidence say that they live: only then is an absence of evidence evidence of absence.

A time without a gap is one row, however many heartbeats it had.
"""

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, func, select, update
from sqlmodel import col

from gates.slo.heartbeats import Heartbeat
from models.bulk import upsert_rows
from models.patterns import IDENTIFIER_PATTERN
from models.slo.tables import SourceLife

_NAME: Final = re.compile(IDENTIFIER_PATTERN)
PATIENCE: Final = 1.5
"""A pause of so many intervals is no gap (gates/slo/heartbeats.py)."""


@dataclass(frozen=True, slots=True)
class Life:
    """The source lived from `began_at` until one interval after `last_seen_at`."""

    began_at: datetime
    last_seen_at: datetime
    interval_seconds: int

    @property
    def heartbeats(self) -> tuple[Heartbeat, ...]:
        """Two signs of life that stand for all of this time: the first lasts until the last, as no pause between them
        was a gap, and what follows the last one is judged by the interval that it promised."""
        last = Heartbeat(self.last_seen_at, self.interval_seconds)
        lasted = (self.last_seen_at - self.began_at).total_seconds()
        return (Heartbeat(self.began_at, lasted), last) if lasted > 0 else (last,)


def is_source_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def save_heartbeat(
    connection: Connection, namespace: str, source: str, interval_seconds: int, now: datetime
) -> None:
    """Notes that a source lives and will say so again after the interval."""
    until = now + timedelta(seconds=interval_seconds)
    latest = connection.execute(
        select(col(SourceLife.began_at), col(SourceLife.last_seen_at), col(SourceLife.interval_seconds))
        .where(col(SourceLife.namespace) == namespace, col(SourceLife.source) == source)
        .order_by(col(SourceLife.began_at).desc())
        .limit(1)
        .with_for_update()
    ).first()
    own = {"namespace": namespace, "source": source}
    if latest is not None and latest.last_seen_at > now:
        return  # A clock went back: what was proven stays proven.
    if (
        latest is None
        # Another rhythm is another time: what a pause means depends on it.
        or latest.interval_seconds != interval_seconds
        or now > latest.last_seen_at + timedelta(seconds=PATIENCE * interval_seconds)
    ):
        row = {
            "began_at": now,
            "last_seen_at": now,
            "alive_until": until,
            "interval_seconds": interval_seconds,
        }
        upsert_rows(connection, SourceLife, [own | row])
        return
    connection.execute(
        update(SourceLife)
        .where(
            col(SourceLife.namespace) == namespace,
            col(SourceLife.source) == source,
            col(SourceLife.began_at) == latest.began_at,
        )
        .values(last_seen_at=now, alive_until=until)
    )


def lives_of(
    connection: Connection, namespace: str, sources: Collection[str], start: datetime, end: datetime
) -> dict[str, list[Life]]:
    """When each source lived between two times, and its last time before them."""
    query = (
        select(
            col(SourceLife.source),
            col(SourceLife.began_at),
            col(SourceLife.last_seen_at),
            col(SourceLife.interval_seconds),
        )
        .where(
            col(SourceLife.namespace) == namespace,
            col(SourceLife.source).in_(sources),
            col(SourceLife.began_at) < end,
            col(SourceLife.alive_until) > start,
        )
        .order_by(col(SourceLife.source), col(SourceLife.began_at))
    )
    found: dict[str, list[Life]] = defaultdict(list)
    for source, began_at, last_seen_at, interval in connection.execute(query) if sources else ():
        found[source].append(Life(began_at, last_seen_at, interval))
    return found


def last_seen(
    connection: Connection, namespace: str, sources: Collection[str]
) -> dict[str, tuple[datetime, datetime]]:
    """When each source was last seen, whenever that was, and until when it is taken to live."""
    query = (
        select(
            col(SourceLife.source),
            func.max(col(SourceLife.last_seen_at)),
            func.max(col(SourceLife.alive_until)),
        )
        .where(col(SourceLife.namespace) == namespace, col(SourceLife.source).in_(sources))
        .group_by(col(SourceLife.source))
    )
    rows = connection.execute(query) if sources else ()
    return {source: (seen, until) for source, seen, until in rows}
