"""Spans over which windows are counted."""

from datetime import datetime, timedelta

import pytest

from gates.slo.periods import Period, Unit, period_at, periods
from tests.gates.slo.definitions import utc

NEW_YORK = "America/New_York"


def calendar(count: int, unit: Unit, starts: str, zone: str = NEW_YORK) -> Period:
    return Period(count, unit, False, zone, datetime.fromisoformat(starts))


@pytest.mark.parametrize(
    ("period", "at", "name", "start", "end"),
    [
        # A month of 30 days and 25 hours on one of them.
        (calendar(1, "month", "2026-01-01"), "2026-11-15T12:00", "2026-11-01", "2026-11-01T04:00", "2026-12-01T05:00"),
        # Long before the first one, and at its last moment.
        (calendar(1, "month", "2026-01-01"), "2024-03-01T04:59", "2024-02-01", "2024-02-01T05:00", "2024-03-01T05:00"),
        (calendar(1, "quarter", "2026-02-01"), "2026-11-01T04:00", "2026-11-01", "2026-11-01T04:00",
         "2027-02-01T05:00"),
        (calendar(1, "year", "2024-02-29"), "2025-02-28T12:00", "2025-02-28", "2025-02-28T05:00", "2026-02-28T05:00"),
        (calendar(1, "month", "2026-01-31"), "2026-03-30T12:00", "2026-02-28", "2026-02-28T05:00", "2026-03-31T04:00"),
        (calendar(2, "week", "2026-01-05"), "2026-11-30T12:00", "2026-11-23", "2026-11-23T05:00", "2026-12-07T05:00"),
        (calendar(1, "day", "2026-01-01 06:00:00"), "2026-03-08T10:30", "2026-03-08T06:00", "2026-03-08T10:00",
         "2026-03-09T10:00"),
    ],
)  # fmt: skip
def test_calendar_periods_are_cut_by_the_local_clock(
    period: Period, at: str, name: str, start: str, end: str
) -> None:
    found = period_at(period, utc(at))
    assert (found.id, found.start, found.end) == (name, utc(start), utc(end))


def test_a_rolling_period_ends_now() -> None:
    period = Period(4, "week", True)
    now = utc("2026-11-30T02:00")
    found = period_at(period, now)
    assert (found.id, found.end, found.end - found.start) == ("rolling", now, timedelta(days=28))
    assert list(periods(period, utc("2020-01-01"), now)) == [found]


def test_calendar_periods_follow_one_another_without_gap_or_overlap() -> None:
    period = calendar(1, "month", "2026-01-31")
    found = list(periods(period, utc("2025-12-01"), utc("2027-01-01")))
    assert found[0].start <= utc("2025-12-01") < found[0].end
    assert found[-1].start < utc("2027-01-01") <= found[-1].end
    assert [each.end for each in found[:-1]] == [each.start for each in found[1:]]


@pytest.mark.parametrize(
    ("period", "name"),
    [
        (Period(30, "day", True), "rolling 30 days"),
        (Period(1, "week", True), "rolling week"),
        (calendar(1, "month", "2026-01-01"), "calendar month"),
        (calendar(2, "quarter", "2026-01-01"), "2 calendar quarters"),
    ],
)
def test_a_period_has_a_name(period: Period, name: str) -> None:
    assert period.name == name
