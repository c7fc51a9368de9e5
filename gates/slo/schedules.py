"""The windows that a definition expects."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from gates.slo.calendars import (
    HOLIDAYS_VERSION,
    business_day_of_month,
    is_business_day,
    is_holiday,
)
from gates.slo.definition import Definition, Override, Schedule
from gates.slo.ticks import last_tick_before, ticks
from gates.slo.zones import TZDATA_VERSION, instant, local_text, opening, zone

_ONE_DAY: Final = timedelta(days=1)
_TWO_DAYS: Final = 2 * _ONE_DAY
"""No deadline by a time of day is further from its opening."""
_LONGEST_SEARCH: Final = 1500
"""Days in which the window before is looked for. Only an author who skips years of dates gets beyond."""


@dataclass(frozen=True, slots=True)
class Interval:
    """start ≤ x < end, both aware UTC."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class ExpectedWindow:
    """`id` is "<slo>/<local date>", for cron "<slo>/<local minute of the tick with offset>": the same in every version.
    `deadline_local` is RFC 3339 with the zone's offset."""

    id: str
    opens_at: datetime
    deadline_utc: datetime
    deadline_local: str
    data_interval: Interval
    holidays_version: str
    tzdata_version: str


def windows(definition: Definition, start: datetime, end: datetime) -> Iterator[ExpectedWindow]:
    """The windows with start ≤ opens_at < end in order of opening: adjoining spans give each window once. None before
    `definition.starts`. ValueError for a definition without `expect`."""
    schedule = definition.expect
    if schedule is None:
        raise ValueError(f"{definition.name} is counted by {definition.objective}, not by windows")
    found = (
        _of_cron(schedule, start, end) if schedule.scheduled == "cron" else _of_dates(schedule, start, end)
    )
    before: datetime | None = None
    for day, name, opens_at in found:
        deadline = _deadline(schedule, day, opens_at)
        if deadline is not None and (definition.starts is None or day >= definition.starts):
            yield ExpectedWindow(
                f"{definition.name}/{name}",
                opens_at,
                deadline,
                local_text(deadline, zone(schedule.time_zone)),
                Interval(_interval_start(schedule, day, opens_at, before), opens_at),
                HOLIDAYS_VERSION,
                TZDATA_VERSION,
            )
        before = opens_at


def due_windows(
    definition: Definition, since: datetime, start: datetime, end: datetime
) -> Iterator[ExpectedWindow]:
    """The windows that open at `since` or later with start ≤ deadline_utc < end, in order of opening: the first may
    be open at `start` already. ValueError as for `windows`."""
    schedule = definition.expect
    longest = _TWO_DAYS if schedule is None or schedule.within is None else max(schedule.within, _TWO_DAYS)
    for window in windows(definition, max(since, start - longest), end):
        if start <= window.deadline_utc < end:
            yield window


def is_expected(schedule: Schedule, day: date) -> bool:
    """Whether a window opens on a local date. Not for cron."""
    override = _override(schedule, day)
    if override is not None and override.action != "by":
        return override.action == "run"
    match schedule.scheduled:
        case "business_days":
            return is_business_day(day, schedule.calendars)
        case "monthly_business_day":
            return is_business_day(day, schedule.calendars) and (
                schedule.business_day in business_day_of_month(day, schedule.calendars)
            )
        case "weekly":
            return day.weekday() in schedule.weekdays and not is_holiday(day, schedule.calendars)
        case _:
            return day in schedule.dates and not is_holiday(day, schedule.calendars)


_Opening = tuple[date, str, datetime]
"""Local date, name of the window, UTC time."""


def _of_dates(schedule: Schedule, start: datetime, end: datetime) -> Iterator[_Opening]:
    where = zone(schedule.time_zone)
    day = start.astimezone(where).date() - _ONE_DAY
    last = end.astimezone(where).date() + _ONE_DAY
    while day <= last:
        if is_expected(schedule, day):
            opens_at = _opens_at(schedule, day)
            if start <= opens_at < end:
                yield day, day.isoformat(), opens_at
        day += _ONE_DAY


def _of_cron(schedule: Schedule, start: datetime, end: datetime) -> Iterator[_Opening]:
    where = zone(schedule.time_zone)
    for tick, local in ticks(schedule, start, end):
        if _ticks_on(schedule, local.date()):
            name = tick.astimezone(where).isoformat(timespec="minutes")
            yield local.date(), name, tick


def _ticks_on(schedule: Schedule, day: date) -> bool:
    override = _override(schedule, day)
    if override is not None:
        return override.action == "run"
    return not is_holiday(day, schedule.calendars)


def _opens_at(schedule: Schedule, day: date) -> datetime:
    return opening(datetime.combine(day, schedule.opens), zone(schedule.time_zone), schedule.fold)


def _deadline(schedule: Schedule, day: date, opens_at: datetime) -> datetime | None:
    override = _override(schedule, day)
    by = schedule.by if override is None or override.by is None else override.by
    if by is None:
        assert schedule.within is not None
        return opens_at + schedule.within
    where = zone(schedule.time_zone)
    opens = schedule.opens if schedule.scheduled != "cron" else opens_at.astimezone(where).time()
    on = day if by > opens else day + _ONE_DAY
    deadline = instant(datetime.combine(on, by), where, schedule.gap, schedule.fold)
    # Opening and deadline may lie on two sides of one clock change.
    return None if deadline is None else max(deadline, opens_at)


def _interval_start(schedule: Schedule, day: date, opens_at: datetime, before: datetime | None) -> datetime:
    """`before`: when the window before opened; None when that has still to be found."""
    if schedule.covers is None:
        return before if before is not None else _opened_before(schedule, day, opens_at)
    if schedule.covers % _ONE_DAY:
        return opens_at - schedule.covers
    local = opens_at.astimezone(zone(schedule.time_zone)).replace(tzinfo=None, fold=0)
    at: time = schedule.opens if schedule.scheduled != "cron" else local.time()
    return opening(datetime.combine(day - schedule.covers, at), zone(schedule.time_zone), schedule.fold)


def _opened_before(schedule: Schedule, day: date, opens_at: datetime) -> datetime:
    """When the window before opened, whether or not it lies before `starts`."""
    if schedule.scheduled == "cron":
        tick = last_tick_before(schedule, opens_at)
        while tick is not None and not _ticks_on(schedule, tick.astimezone(zone(schedule.time_zone)).date()):
            tick = last_tick_before(schedule, tick)
        return tick if tick is not None else opens_at - _ONE_DAY * _LONGEST_SEARCH
    if schedule.scheduled == "dates":
        at = bisect_left(schedule.dates, day)
        # The last one first: calendars of all years before need not be made.
        earlier = (each for each in reversed(schedule.dates[:at]) if is_expected(schedule, each))
        found = next(earlier, None)
        return opens_at if found is None else _opens_at(schedule, found)
    before = day - _ONE_DAY
    for _ in range(_LONGEST_SEARCH):
        if is_expected(schedule, before):
            break
        before -= _ONE_DAY
    return _opens_at(schedule, before)


def _override(schedule: Schedule, day: date) -> Override | None:
    return None if schedule.overrides is None else schedule.overrides.get(day)
