"""Age of the latest verified checkpoint, in slices of five minutes."""

from datetime import datetime, timedelta

import pytest

from gates.slo.checkpoints import CheckpointFact, SliceCounts, age, slices, stretches
from gates.slo.definition import CheckpointLevel
from gates.slo.schedules import Interval
from tests.gates.slo.definitions import utc

START = utc("2026-11-03T00:00")
LATER = START + timedelta(days=30)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
LIMIT = timedelta(hours=2)


def checkpoint(
    hour: float, verified: float | None = None, level: CheckpointLevel = "loaded", lost: float | None = None
) -> CheckpointFact:
    shown = START + HOUR * (hour if verified is None else verified)
    return CheckpointFact(START + HOUR * hour, level, shown, None if lost is None else START + HOUR * lost)


def counted(
    *checkpoints: CheckpointFact,
    hours: float = 6,
    run_end: datetime | None = None,
    as_of: datetime = LATER,
    unknown: tuple[Interval, ...] = (),
    required: CheckpointLevel = "loaded",
) -> tuple[int, int, int]:
    found = slices(
        START,
        run_end,
        checkpoints,
        required,
        LIMIT,
        START,
        START + HOUR * hours,
        as_of=as_of,
        unknown=unknown,
    )
    return found.good, found.bad, found.unknown


def test_before_the_first_checkpoint_the_age_is_that_of_the_run() -> None:
    # 00:00 to 02:00 are young enough, both ends counted.
    assert counted() == (25, 47, 0)
    found = age(START + HOUR, START, [checkpoint(3)], "loaded", as_of=LATER)
    assert (found.age, found.state_time) == (HOUR, None)


def test_age_counts_from_the_training_state_not_from_its_verification() -> None:
    late = checkpoint(1, verified=3)
    assert age(START + 2.5 * HOUR, START, [late], "loaded", as_of=LATER).age == 2.5 * HOUR
    found = age(START + 3 * HOUR, START, [late], "loaded", as_of=LATER)
    assert (found.age, found.state_time) == (2 * HOUR, START + HOUR)
    # Good until 02:00 by the run, at 03:00 by the checkpoint, which is two hours old then; bad in between and after.
    assert counted(late) == (26, 46, 0)


def test_only_the_required_level_counts() -> None:
    weak = checkpoint(1, level="checksummed")
    assert counted(weak) == counted()
    assert counted(weak, required="checksummed") == (37, 35, 0)
    assert counted(checkpoint(1, level="restore_tested")) == (37, 35, 0)


def test_a_failed_verification_takes_the_level_away_for_the_past_too() -> None:
    lost = checkpoint(1, lost=100)
    assert counted(lost, as_of=START + 99 * HOUR) == (37, 35, 0)
    assert counted(lost, as_of=START + 100 * HOUR) == counted()


def test_an_older_checkpoint_that_is_verified_later_makes_nothing_older() -> None:
    newer, older = checkpoint(2), checkpoint(1, verified=2.5)
    assert counted(newer, older) == counted(newer)
    assert age(START + 3 * HOUR, START, [older, newer], "loaded", as_of=LATER).age == HOUR


def test_only_slices_of_a_live_run_are_counted() -> None:
    assert counted(run_end=START + 30 * MINUTE) == (6, 0, 0)
    assert counted(as_of=START + 30 * MINUTE) == (7, 0, 0)
    assert counted(run_end=START) == (0, 0, 0)
    odd = slices(START + MINUTE, None, (), "loaded", LIMIT, START, START + 10 * MINUTE, as_of=LATER)
    assert odd == SliceCounts(1, 0, 0)


def test_time_in_which_nobody_knows_whether_it_ran_is_unknown() -> None:
    silent = Interval(START + HOUR, START + 3 * HOUR)
    assert counted(unknown=(silent,)) == (12, 36, 24)


@pytest.mark.parametrize("cut", [1, 7, 60, 61, 125, 300])
def test_adjoining_spans_add_up(cut: int) -> None:
    facts = [checkpoint(1, verified=1.3), checkpoint(2.7, lost=50), checkpoint(4, verified=4.02)]
    silent = (Interval(START + 90 * MINUTE, START + 111 * MINUTE),)
    whole = slices(START, None, facts, "loaded", LIMIT, START, START + 9 * HOUR, as_of=LATER, unknown=silent)
    edges = (START, START + cut * MINUTE, START + 9 * HOUR)
    one, two = (
        slices(START, None, facts, "loaded", LIMIT, low, high, as_of=LATER, unknown=silent)
        for low, high in ((edges[0], edges[1]), (edges[1], edges[2]))
    )
    assert (one.good + two.good, one.bad + two.bad, one.unknown + two.unknown) == (
        whole.good,
        whole.bad,
        whole.unknown,
    )


def test_slices_agree_with_the_age_at_each_of_them() -> None:
    facts = [checkpoint(1.01, verified=1.3), checkpoint(2.7, verified=5), checkpoint(4, verified=4.02)]
    ages = [age(START + each * 5 * MINUTE, START, facts, "loaded", as_of=LATER).age for each in range(12 * 9)]
    good = sum(each <= LIMIT for each in ages)
    assert counted(*facts, hours=9) == (good, len(ages) - good, 0)


def test_each_later_checkpoint_makes_the_run_young_again() -> None:
    assert counted(checkpoint(1), checkpoint(2), checkpoint(4)) == (72, 0, 0)
    assert age(START + 5 * HOUR, START, [checkpoint(1), checkpoint(4)], "loaded", as_of=LATER).age == HOUR


def test_a_report_as_of_a_time_knows_no_later_verification() -> None:
    """Though the run went on, and the verification was of a state before."""
    late = checkpoint(1, verified=3)
    early = age(START + 3 * HOUR, START, [late], "loaded", as_of=START + 2.9 * HOUR)
    assert (early.age, early.state_time) == (3 * HOUR, None)


def test_stretches_are_what_is_counted_one_by_one() -> None:
    known, silent = checkpoint(1), Interval(START + 5 * HOUR, LATER)
    found = stretches(
        START, None, [known], "loaded", LIMIT, START, START + 6 * HOUR, as_of=LATER, unknown=(silent,)
    )
    assert [(each.outcome, each.slices) for each in found] == [
        ("good", 12),
        ("good", 25),
        ("bad", 23),
        ("unknown", 12),
    ]
    assert [each.state_time for each in found] == [None, *[START + HOUR] * 3]
    missed = found[2]
    assert (missed.begin, missed.end) == (START + 3 * HOUR + 5 * MINUTE, START + 5 * HOUR)
    assert counted(known, unknown=(silent,)) == (37, 23, 12)
