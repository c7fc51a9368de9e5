from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipworthy.formats.times import format_instant, parse_instant


def test_format_instant_is_utc_with_milliseconds() -> None:
    when = datetime(2026, 5, 1, 14, 0, 0, 123999, tzinfo=timezone(timedelta(hours=2)))
    assert format_instant(when) == "2026-05-01T12:00:00.123Z"
    assert format_instant(datetime(2026, 5, 1, tzinfo=UTC)) == "2026-05-01T00:00:00.000Z"


def test_format_instant_refuses_naive_times() -> None:
    with pytest.raises(ValueError, match="has no zone"):
        format_instant(datetime(2026, 5, 1))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01T12:00:00Z", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ("2026-05-01t12:00:00.5z", datetime(2026, 5, 1, 12, 0, 0, 500000, tzinfo=UTC)),
        ("2026-05-01T12:00:00.123456000Z", datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)),
        ("2026-05-01T12:00:00.999999-05:30", datetime(2026, 5, 1, 17, 30, 0, 999999, tzinfo=UTC)),
        ("2026-12-31T23:30:00-01:00", datetime(2027, 1, 1, 0, 30, tzinfo=UTC)),
    ],
)
def test_parse_instant_reads_zones_and_long_fractions(text: str, expected: datetime) -> None:
    parsed = parse_instant(text)
    assert parsed == expected
    assert parsed.tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2026-05-01T12:00:00", "has no zone; end it with Z"),
        ("2026-05-01", "not an RFC 3339 time"),
        ("2026-05-01 12:00:00Z", "not an RFC 3339 time"),
        ("20260501T120000Z", "not an RFC 3339 time"),
        ("2026-05-01T12:00:00Z\n", "not an RFC 3339 time"),
        ("2026-05-01T12:00:00.Z", "not an RFC 3339 time"),
        ("٢٠٢٦-05-01T12:00:00Z", "not an RFC 3339 time"),
        ("2026-05-01T12:00:00.1234567Z", "more than microseconds; give at most six digits"),
        ("2026-05-01T12:00:00.000000001Z", "more than microseconds"),
        ("2026-02-29T12:00:00Z", "not a time in UTC"),
        ("2026-05-01T25:00:00Z", "not a time in UTC"),
        ("2026-05-01T12:00:00+24:00", "not a time in UTC"),
        ("0001-01-01T00:00:00+01:00", "not a time in UTC"),
    ],
)
def test_parse_instant_refuses(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_instant(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_instants_survive_a_round_trip_to_the_millisecond(when: datetime) -> None:
    assert parse_instant(format_instant(when)) == when.replace(microsecond=when.microsecond // 1000 * 1000)
