"""How numbers, times and lists are written in the sentences that people read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from gates.release.texts import counted, day, figure, joined, length, short, span
from gates.release.values import parse_duration


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.9132, "0.9132"),
        (0.91324567, "0.913246"),
        (0.000304, "0.000304"),
        (12, "12"),
        (999, "999"),
        (1000, "1,000"),
        (-1000.0, "-1,000"),
        (1234567, "1,234,567"),
        (1000.5, "1000.5"),
        (-0.0, "0"),
        (-0.5, "-0.5"),
    ],
)
def test_a_number_has_at_most_six_digits_and_commas_where_it_is_whole(number: float, text: str) -> None:
    assert figure(number) == text
    assert span(number, 2) == f"{text} to 2"


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(days=90), "90 days"),
        (timedelta(days=1), "1 day"),
        (timedelta(hours=36), "36 hours"),
        (timedelta(hours=1), "1 hour"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(seconds=3601), "3,601 seconds"),
        (timedelta(seconds=1), "1 second"),
    ],
)
def test_a_length_of_time_is_told_in_the_largest_unit_that_is_exact(duration: timedelta, text: str) -> None:
    assert length(duration) == text


def test_a_time_is_told_in_utc_to_the_minute() -> None:
    assert day(datetime(2026, 5, 1, 1, 30, 59, tzinfo=timezone(timedelta(hours=2)))) == "2026-04-30 23:30 UTC"
    assert day(datetime(2026, 5, 1, 1, 30, tzinfo=UTC)) == "2026-05-01 01:30 UTC"


def test_words_are_counted_and_joined_as_a_person_writes_them() -> None:
    assert [joined(["a", "b", "c"][:many]) for many in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert joined(["a", "b"], "or") == "a or b"
    assert [counted(many, "row") for many in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]


def test_a_digest_is_shortened_to_twelve_digits() -> None:
    assert short("sha256:" + "0123456789abcdef" * 4) == "sha256:0123456789ab…"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("P7D", 7 * 86_400),
        ("P2W", 14 * 86_400),
        ("PT12H", 43_200),
        ("PT90M", 5_400),
        ("PT1S", 1),
        ("P1DT6H", 108_000),
        ("P1DT1H1M1S", 90_061),
        ("P36525D", 36_525 * 86_400),
    ],
)
def test_a_duration_is_read_to_the_second(text: str, seconds: int) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["P", "PT", "P1DT", "P1WT", "7D", "p7d", "P1Y", "P1M", "PT1.5H", "-P1D", "P1W1D", "P1D "]
)
def test_what_is_no_duration_of_a_fixed_length_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration; write it like P7D, PT12H or P1DT6H"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["P0D", "PT0S", "P36526D", "P36525DT1S"])
def test_a_duration_lasts_and_ends_within_a_hundred_years(text: str) -> None:
    with pytest.raises(ValueError, match="longer than nothing and at most 100 years"):
        parse_duration(text)
