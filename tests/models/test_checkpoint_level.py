"""How far a checkpoint is proven, whatever the order in which verdicts arrive."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from models.kinds.facts import LEVEL_ORDER, CheckpointLevel
from models.lineage.checkpoint_level import Verdict, effective_level, latest_verdicts

MORNING = datetime(2026, 5, 1, 8, tzinfo=UTC)


def verdict(level: str, outcome: str, hour: int) -> Verdict:
    return Verdict(
        CheckpointLevel(level), outcome == "passed", MORNING + timedelta(hours=hour), "self_reported"
    )


verdicts = st.lists(
    st.builds(
        Verdict,
        level=st.sampled_from(LEVEL_ORDER),
        passed=st.booleans(),
        checked_at=st.integers(0, 4).map(lambda hour: MORNING + timedelta(hours=hour)),
        evidence_level=st.sampled_from(["server_run", "trusted_runner", "self_reported"]),
    ),
    max_size=12,
)


def rank(level: CheckpointLevel | None) -> int:
    return -1 if level is None else LEVEL_ORDER.index(level)


def test_highest_passed_level_counts() -> None:
    given_verdicts = [verdict("written", "passed", 0), verdict("loaded", "passed", 1)]
    assert effective_level(given_verdicts) is CheckpointLevel.LOADED


def test_failure_below_takes_the_levels_above() -> None:
    given_verdicts = [
        verdict("written", "passed", 0),
        verdict("restore_tested", "passed", 1),
        verdict("checksummed", "failed", 2),
    ]
    assert effective_level(given_verdicts) is CheckpointLevel.WRITTEN


def test_later_check_overrules_a_failure_and_an_equal_time_does_not() -> None:
    failed = verdict("loaded", "failed", 1)
    assert effective_level([failed, verdict("loaded", "passed", 2)]) is CheckpointLevel.LOADED
    assert effective_level([verdict("loaded", "passed", 1), failed]) is None


def test_a_failure_is_outweighed_by_evidence_that_is_as_strong_and_by_no_weaker() -> None:
    failed = replace(verdict("loaded", "failed", 1), evidence_level="trusted_runner")
    own_word, worker = verdict("loaded", "passed", 3), replace(failed, passed=True, checked_at=MORNING)
    assert effective_level([worker, failed, own_word]) is None
    later = replace(worker, checked_at=MORNING + timedelta(hours=2))
    assert effective_level([failed, later]) is CheckpointLevel.LOADED
    assert latest_verdicts([failed, own_word])[CheckpointLevel.LOADED] == failed


def test_nothing_known_is_no_level() -> None:
    assert effective_level([]) is None


@given(verdicts, st.randoms(use_true_random=False))
def test_order_and_repetition_change_nothing(found: list[Verdict], random: Random) -> None:
    shuffled = [*found, *found]
    random.shuffle(shuffled)
    assert effective_level(shuffled) == effective_level(found)
    assert latest_verdicts(shuffled) == latest_verdicts(found)


@given(verdicts, st.sampled_from(LEVEL_ORDER), st.integers(-1, 5))
def test_failed_verdict_never_raises_the_level(
    found: list[Verdict], level: CheckpointLevel, hour: int
) -> None:
    failed = verdict(level, "failed", hour)
    assert rank(effective_level([*found, failed])) <= rank(effective_level(found))


@given(verdicts)
def test_passed_verdicts_alone_reach_the_highest(found: list[Verdict]) -> None:
    passed = [replace(each, passed=True) for each in found]
    assert rank(effective_level(passed)) == max((rank(each.level) for each in found), default=-1)
