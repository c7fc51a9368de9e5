"""A source is alive only where its heartbeats prove it."""

from datetime import timedelta
from fractions import Fraction

from gates.slo.heartbeats import Heartbeat, coverage
from gates.slo.schedules import Interval
from tests.gates.slo.definitions import utc

START, END = utc("2026-11-03T00:00"), utc("2026-11-03T10:00")
MINUTE = timedelta(minutes=1)


def beats(*minutes: float, every: int = 60) -> list[Heartbeat]:
    return [Heartbeat(START + MINUTE * at, every * 60) for at in minutes]


def test_regular_heartbeats_cover_the_whole_span() -> None:
    found = coverage(beats(*range(0, 600, 60)), START, END)
    assert found.share == 1
    assert found.gaps == ()
    assert found.proves_life
    assert found.last_seen == START + 540 * MINUTE


def test_a_source_that_dies_leaves_a_gap_until_the_end() -> None:
    found = coverage(beats(0, 60, 120), START, END)
    assert found.share == Fraction(3, 10)
    assert found.gaps == (Interval(START + 180 * MINUTE, END),)
    assert not found.proves_life


def test_a_heartbeat_that_is_a_little_late_leaves_none() -> None:
    assert coverage(beats(*range(0, 600, 90)), START, END).share == 1
    late = coverage(beats(0, 91, *range(120, 600, 60)), START, END)
    assert late.gaps == (Interval(START + 60 * MINUTE, START + 91 * MINUTE),)


def test_life_before_the_span_counts_as_far_as_it_reaches() -> None:
    found = coverage(beats(-30, -200, 9 * 60 + 59), START, END)
    assert found.gaps == (Interval(START + 30 * MINUTE, START + 599 * MINUTE),)
    assert found.last_seen == START + 599 * MINUTE


def test_heartbeats_count_in_any_order_and_once() -> None:
    regular = beats(*range(0, 540, 60))
    assert coverage([*reversed(regular), *regular], START, END) == coverage(regular, START, END)


def test_nine_tenths_are_enough_and_less_is_not() -> None:
    assert coverage(beats(*range(60, 600, 60)), START, END).proves_life
    assert not coverage(beats(*range(61, 600, 60)), START, END).proves_life


def test_silence_proves_nothing() -> None:
    found = coverage([], START, END)
    assert found.share == 0
    assert (found.gaps, found.last_seen) == ((Interval(START, END),), None)
    after = coverage([Heartbeat(END + MINUTE, 60)], START, END)
    assert after.share == 0
    assert after.last_seen is None


def test_a_span_of_no_length_is_not_proven() -> None:
    found = coverage(beats(0), START, START)
    assert found.share == 0
    assert not found.proves_life
