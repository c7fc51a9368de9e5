"""Which time's data a run is of: without it no promise with a deadline could count the run."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from shipworthy.errors import UsageError
from shipworthy.intervals import VARIABLE, Interval, data_interval

START, END = "2026-11-29T00:00:00.000Z", "2026-11-30T00:00:00.000Z"


@pytest.mark.parametrize(
    "given",
    [
        "2026-11-29T00:00:00Z/2026-11-30T00:00:00Z",
        "2026-11-29 01:00:00+01:00/2026-11-30 01:00:00+01:00",  # as Airflow writes it
        (START, END),
        (datetime(2026, 11, 29, tzinfo=UTC), datetime(2026, 11, 30, 2, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_interval_is_told_in_many_ways_and_means_the_same(given: Interval) -> None:
    assert data_interval(given, {}) == {"start": START, "end": END}


def test_scheduler_may_say_it_and_the_program_knows_better() -> None:
    environ = {VARIABLE: f"{START}/{END}"}
    assert data_interval(None, environ) == {"start": START, "end": END}
    assert data_interval((END, "2026-12-01T00:00:00Z"), environ) == {
        "start": END,
        "end": "2026-12-01T00:00:00.000Z",
    }
    assert data_interval(None, {}) is None
    assert data_interval(None, {VARIABLE: ""}) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (START, "START/END"),
        (f"{END}/{START}", "ends before it begins"),
        ("2026-11-29T00:00:00/2026-11-30T00:00:00", "has no zone"),
        ((datetime(2026, 11, 29), datetime(2026, 11, 30)), "has no zone"),  # noqa: DTZ001 - what is refused
        ("yesterday/today", "RFC 3339"),
        ("", "START/END"),
    ],
)
def test_what_is_no_interval_is_refused_with_how_to_write_one(given: Interval, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        data_interval(given, {})
