"""What a preemption cost."""

from datetime import timedelta

import pytest

from gates.slo.resuming import Progress, Resumption, resume_loss, step_seconds
from tests.gates.slo.definitions import utc

START = utc("2026-11-03T12:00")
LIMIT = timedelta(minutes=15)


def test_step_time_is_measured_over_the_attempt() -> None:
    seen = [Progress(START + timedelta(seconds=each * 2), 100 + each) for each in (0, 10, 300)]
    assert step_seconds(list(reversed(seen))) == 2
    assert step_seconds(seen[:1]) is None
    assert step_seconds([Progress(START, 5), Progress(START + LIMIT, 5)]) is None


@pytest.mark.parametrize(
    ("resumption", "good", "told"),
    [
        (Resumption(1450, 1000, 2.0, True), True, "450 steps lost"),
        (
            Resumption(1451, 1000, 2.0, True),
            False,
            "451 steps lost, 902 seconds of work; 15 minutes are allowed",
        ),
        (Resumption(1000, 1000, None, True), True, "0 steps lost"),
        (Resumption(1001, 1000, None, True), None, "1 step lost, of unknown duration"),
        (Resumption(1000, 1000, 2.0, False), False, "the data position was not restored"),
        (Resumption(1000, 1000, 2.0, None), None, "nobody said whether the data position"),
        # Too much is too much, whatever became of the data.
        (Resumption(9000, 1000, 2.0, None), False, "8,000 steps lost"),
        (Resumption(None, 1000, 2.0, True), None, "nobody saw the last step"),
        # A checkpoint that is ahead of the last sign of progress loses nothing.
        (Resumption(990, 1000, 2.0, True), True, "0 steps lost"),
    ],
)
def test_what_was_lost_is_judged_and_told(resumption: Resumption, good: bool | None, told: str) -> None:
    found = resume_loss(resumption, LIMIT)
    assert found.good is good
    assert told in found.sentence
