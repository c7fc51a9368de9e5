"""Local times on the days when clocks change, against dates and offsets that others publish."""

from datetime import datetime

import pytest

from gates.slo.zones import Fold, Gap, instant, opening, zone, zone_names
from tests.gates.slo.definitions import utc

# Sources: US: 15 U.S.C. 260a (second Sunday of March, first of November, at 02:00). EU: Directive 2000/84/EC (last
# Sundays of March and October, at 01:00 UTC). New South Wales: Standard Time Act 1987 (from the first Sunday of October
# at 02:00 to the first of April at 03:00). Lord Howe: by half an hour on the same days. Chile: tz database, file
# southamerica (at 04:00 UTC after the first Saturday of September). Samoa: tz NEWS (no 2011-12-30). Kazakhstan: tz NEWS
# 2024a (Almaty from +06 to +05 on 2024-03-01).
TABLE: list[tuple[str, str, Gap, Fold, str | None]] = [
    ("America/New_York", "2026-03-07T02:30", "shift_forward", "first", "2026-03-07T07:30"),
    ("America/New_York", "2026-03-08T02:30", "shift_forward", "first", "2026-03-08T07:30"),
    ("America/New_York", "2026-03-08T02:30", "skip", "first", None),
    ("America/New_York", "2026-03-08T03:00", "skip", "first", "2026-03-08T07:00"),
    ("America/New_York", "2026-11-01T01:30", "skip", "first", "2026-11-01T05:30"),
    ("America/New_York", "2026-11-01T01:30", "skip", "last", "2026-11-01T06:30"),
    ("America/New_York", "2026-11-01T02:00", "skip", "last", "2026-11-01T07:00"),
    ("Europe/Berlin", "2026-03-29T02:30", "shift_forward", "first", "2026-03-29T01:30"),
    ("Europe/Berlin", "2026-10-25T02:30", "shift_forward", "first", "2026-10-25T00:30"),
    ("Europe/Berlin", "2026-10-25T02:30", "shift_forward", "last", "2026-10-25T01:30"),
    ("Australia/Sydney", "2026-04-05T02:30", "shift_forward", "first", "2026-04-04T15:30"),
    ("Australia/Sydney", "2026-04-05T02:30", "shift_forward", "last", "2026-04-04T16:30"),
    ("Australia/Sydney", "2026-10-04T02:30", "shift_forward", "first", "2026-10-03T16:30"),
    ("Australia/Sydney", "2026-10-04T02:30", "skip", "first", None),
    ("Australia/Lord_Howe", "2026-10-04T02:15", "shift_forward", "first", "2026-10-03T15:45"),
    ("Australia/Lord_Howe", "2026-04-05T01:45", "shift_forward", "last", "2026-04-04T15:15"),
    ("America/Santiago", "2026-09-06T00:30", "shift_forward", "first", "2026-09-06T04:30"),
    ("Pacific/Apia", "2011-12-30T09:00", "shift_forward", "first", "2011-12-30T19:00"),
    ("Pacific/Apia", "2011-12-30T09:00", "skip", "first", None),
    ("Asia/Almaty", "2024-02-29T22:30", "skip", "first", "2024-02-29T16:30"),
    ("Asia/Almaty", "2024-02-29T23:30", "skip", "first", "2024-02-29T17:30"),
    ("Asia/Almaty", "2024-02-29T23:30", "skip", "last", "2024-02-29T18:30"),
    ("Asia/Almaty", "2024-03-01T09:00", "skip", "first", "2024-03-01T04:00"),
    ("Asia/Kolkata", "2026-03-08T02:30", "skip", "first", "2026-03-07T21:00"),
]


@pytest.mark.parametrize(("name", "local", "gap", "fold", "expected"), TABLE)
def test_local_time_is_the_instant_that_published_offsets_give(
    name: str, local: str, gap: Gap, fold: Fold, expected: str | None
) -> None:
    found = instant(datetime.fromisoformat(local), zone(name), gap, fold)
    assert found == (None if expected is None else utc(expected))


@pytest.mark.parametrize(
    ("name", "local", "expected"),
    [
        # Midnight does not exist there that day: the day begins at 01:00, which is the moment of the change.
        ("America/Santiago", "2026-09-06T00:00", "2026-09-06T04:00"),
        ("America/New_York", "2026-03-08T02:30", "2026-03-08T07:00"),
        ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30"),
        ("Pacific/Apia", "2011-12-30T00:00", "2011-12-30T10:00"),
        ("America/New_York", "2026-07-01T00:00", "2026-07-01T04:00"),
    ],
)
def test_a_day_begins_where_the_clock_first_shows_it(name: str, local: str, expected: str) -> None:
    assert opening(datetime.fromisoformat(local), zone(name)) == utc(expected)


def test_zones_come_by_the_names_of_the_tz_database_only() -> None:
    assert {"America/New_York", "Etc/UTC", "US/Eastern"} <= zone_names()
    for name in ("EDT", "New York", "../../etc/passwd", ""):
        with pytest.raises(ValueError, match="no time zone"):
            zone(name)
