"""What is written down as expected: windows of the calendar ahead of time, windows of events and runs when they are
seen."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from sqlalchemy import Connection, select
from sqlmodel import col

from gates.slo.periods import period_at
from gates.slo.schedules import ExpectedWindow, windows
from gates.slo.zones import TZDATA_VERSION
from models.fields import instant_text
from models.kinds.slos import MAX_EXPECTED_AT_ONCE
from models.slo.definitions import Current, Published
from models.slo.events import Event, local
from models.slo.freshness import RunDay
from models.slo.tables import SloWindow
from shipworthy.formats.digests import sha256_digest

AHEAD: Final = timedelta(days=8)
"""At least so far windows are written down, and to the end of the period: what is pending takes part in its status."""
AT_ONCE: Final = timedelta(days=7)
"""So far beyond that: time moves on with every tick, and a record for each would be one of nothing."""
Body = dict[str, Any]


def horizon(published: Published, now: datetime) -> datetime:
    definition = published.definition
    end = now if definition.period.is_rolling else period_at(definition.period, now).end
    return max(end, now + AHEAD)


def calendar_bodies(published: Current, now: datetime) -> Iterator[Body]:
    """Bodies of `windows.expected` records up to the horizon, in the order in which they must be appended; none when
    all is written down."""
    start, needed = published.expected_until or published.since, horizon(published, now)
    if start >= needed:
        return
    end = max(needed, now + AHEAD + AT_ONCE)
    coming = windows(published.definition, start, end)
    chunk = list(islice(coming, MAX_EXPECTED_AT_ONCE))
    while True:
        following = list(islice(coming, MAX_EXPECTED_AT_ONCE))
        until = following[0].opens_at if following else end
        yield _body(published, instant_text(start), [_of_calendar(published, each) for each in chunk], until)
        if not following:
            return
        start, chunk = until, following


def withdrawal_bodies(connection: Connection, published: Current) -> Iterator[Body]:
    """Takes back what earlier versions expected from the publication of this one on. What opened before stays: the
    promise under which it did is the one that it is judged by."""
    if published.version == 1 or published.expected_until != published.published_at:
        return
    query = (
        select(col(SloWindow.id))
        .where(
            col(SloWindow.namespace) == published.namespace,
            col(SloWindow.slo) == published.name,
            col(SloWindow.version) < published.version,
            col(SloWindow.status) == "pending",
            col(SloWindow.opens_at) >= published.published_at,
            col(SloWindow.about).is_(None),
            col(SloWindow.run_id).is_(None),
        )
        .order_by(col(SloWindow.id))
    )
    ids = connection.execute(query).scalars().all()
    for start in range(0, len(ids), MAX_EXPECTED_AT_ONCE):
        chunk = list(ids[start : start + MAX_EXPECTED_AT_ONCE])
        yield _body(published, f"withdrawn {start}", [], None) | {"withdrawn": chunk}


def event_bodies(published: Published, events: Sequence[Event]) -> Iterator[Body]:
    for chunk in _chunks([_of_event(published, each) for each in events]):
        yield _body(published, _named("events", chunk), chunk, None)


def day_bodies(published: Published, days: Sequence[RunDay]) -> Iterator[Body]:
    for chunk in _chunks([_of_day(published, each) for each in days]):
        yield _body(published, _named("days", chunk), chunk, None)


def looked_back(published: Published) -> Body:
    """Says that all events before the publication that count were looked for."""
    return _body(published, "events before", [], published.published_at)


def _named(what: str, chunk: Sequence[Body]) -> str:
    """A window is written down once, so that its id names the chunk that it is first in."""
    return f"{what} from {sha256_digest(chunk[0]['id'].encode())}"


def _chunks(windows: Sequence[Body]) -> Iterator[list[Body]]:
    for start in range(0, len(windows), MAX_EXPECTED_AT_ONCE):
        yield list(windows[start : start + MAX_EXPECTED_AT_ONCE])


def _body(published: Published, chunk: str, expected: Iterable[Body], until: datetime | None) -> Body:
    body = {
        "slo": published.name,
        "version": published.version,
        "chunk": chunk,
        "windows": list(expected),
    }
    return body | ({} if until is None else {"until": instant_text(until)})


def _of_calendar(published: Published, window: ExpectedWindow) -> Body:
    definition = published.definition
    due = window.deadline_utc + definition.grace
    if definition.limits.p95 is not None:
        # Whether who was submitted last waited too long is known when the limit has passed.
        due += definition.limits.p95
    return {
        "id": window.id,
        "opens_at": instant_text(window.opens_at),
        "deadline": instant_text(window.deadline_utc),
        "due": instant_text(due),
        "deadline_local": window.deadline_local,
        "day": window.deadline_local[:10],
        "data_interval": {
            "start": instant_text(window.data_interval.start),
            "end": instant_text(window.data_interval.end),
        },
        "holidays": window.holidays_version,
        "tzdata": window.tzdata_version,
        "backfilled": window.deadline_utc <= published.first_at,
    }


def _of_event(published: Published, event: Event) -> Body:
    at, where = instant_text(event.at), local(published, event.at)
    body = {
        "id": event.id,
        "opens_at": at,
        "deadline": at,
        "due": at,
        "deadline_local": where.isoformat(timespec="seconds"),
        "day": where.date().isoformat(),
        "tzdata": TZDATA_VERSION,
        "about": event.about,
        "backfilled": event.at <= published.first_at,
    }
    return body | ({} if event.run_id is None else {"run_id": event.run_id})


def _of_day(published: Published, day: RunDay) -> Body:
    return {
        "id": day.id,
        "opens_at": instant_text(day.opens_at),
        "deadline": instant_text(day.deadline),
        "due": instant_text(day.deadline),
        "deadline_local": day.deadline_local,
        "day": day.day,
        "tzdata": TZDATA_VERSION,
        "run_id": day.run_id,
        "backfilled": day.deadline <= published.first_at,
    }
