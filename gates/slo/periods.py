"""The spans over which windows are counted: calendar months, quarters and weeks, or rolling days."""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from gates.slo.zones import opening, zone

Unit: TypeAlias = Literal["day", "week", "month", "quarter", "year"]

_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_DAYS: Final = {"day": 1, "week": 7}
_EPOCH: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - local to the period's zone


@dataclass(frozen=True, slots=True)
class Period:
    """OpenSLO's timeWindow. `starts` (calendar only) is the naive local time at which the first one began; all others
    lie whole periods before and after it. Rolling periods, of days or weeks, end now and are never closed."""

    count: int
    unit: Unit
    is_rolling: bool
    time_zone: str = "UTC"
    starts: datetime | None = None

    @property
    def name(self) -> str:
        """Such as "calendar month", "2 calendar weeks", "rolling 30 days"."""
        words = f"{self.count} {self.unit}s" if self.count > 1 else self.unit
        if self.is_rolling:
            return f"rolling {words}"
        return f"{self.count} calendar {self.unit}s" if self.count > 1 else f"calendar {self.unit}"


@dataclass(frozen=True, slots=True)
class PeriodBounds:
    """start ≤ instant < end, both aware UTC. `id` is the local start, such as 2026-11-01; "rolling" for a rolling
    one."""

    id: str
    start: datetime
    end: datetime
    time_zone: str


def period_at(period: Period, instant: datetime) -> PeriodBounds:
    """The calendar period that contains the instant; for a rolling one the span that ends there."""
    if period.is_rolling:
        length = timedelta(days=_DAYS[period.unit] * period.count)
        return PeriodBounds("rolling", instant - length, instant, period.time_zone)
    local = instant.astimezone(zone(period.time_zone)).replace(tzinfo=None)
    index = _estimate(period, local)
    while _start(period, index) > instant:
        index -= 1
    while _start(period, index + 1) <= instant:
        index += 1
    return _bounds(period, index)


def periods(period: Period, start: datetime, end: datetime) -> Iterator[PeriodBounds]:
    """The calendar periods that overlap [start, end), in order; a rolling one gives the one that ends at `end`."""
    if period.is_rolling:
        yield period_at(period, end)
        return
    found = period_at(period, start)
    while found.start < end:
        yield found
        found = period_at(period, found.end)


def _estimate(period: Period, local: datetime) -> int:
    starts = period.starts or _EPOCH
    if period.unit in _DAYS:
        return (local - starts).days // (_DAYS[period.unit] * period.count)
    months = (local.year - starts.year) * 12 + local.month - starts.month
    return months // (_MONTHS[period.unit] * period.count)


def _bounds(period: Period, index: int) -> PeriodBounds:
    local = _local_start(period, index)
    name = (
        local.date().isoformat() if local.time() == datetime.min.time() else local.isoformat("T", "minutes")
    )
    return PeriodBounds(name, _start(period, index), _start(period, index + 1), period.time_zone)


def _start(period: Period, index: int) -> datetime:
    return opening(_local_start(period, index), zone(period.time_zone)).astimezone(UTC)


def _local_start(period: Period, index: int) -> datetime:
    starts = period.starts or _EPOCH
    if period.unit in _DAYS:
        return starts + timedelta(days=_DAYS[period.unit] * period.count * index)
    months = starts.year * 12 + starts.month - 1 + _MONTHS[period.unit] * period.count * index
    year, month = divmod(months, 12)
    # The 31st of a shorter month is its last day, and the 31st again in the next long one.
    day = min(starts.day, calendar.monthrange(year, month + 1)[1])
    return starts.replace(year=year, month=month + 1, day=day)
