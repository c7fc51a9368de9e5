"""Queue delay by team and priority, with those that still wait."""

from datetime import timedelta

from gates.slo.queueing import GroupDelay, Job, all_within, delays
from tests.gates.slo.definitions import utc

NOW = utc("2026-11-03T12:00")
HOUR = timedelta(hours=1)
LIMIT = 2 * HOUR


def job(waited: float, started: bool = True, team: str = "a", priority: str = "high") -> Job:
    submitted = NOW - HOUR * (waited if not started else waited + 1)
    return Job(team, priority, submitted, submitted + HOUR * waited if started else None)


def test_a_job_that_still_waits_beyond_the_limit_counts_against_it() -> None:
    """Of jobs that started, all waited briefly: the one that never got a turn would not be seen."""
    started = [job(0.5)] * 9
    assert delays(started, LIMIT, NOW) == (GroupDelay("a", "high", 9, 0, 0.5 * HOUR, True),)
    (group,) = delays([*started, job(30, started=False)], LIMIT, NOW)
    assert (group.jobs, group.waiting, group.p95, group.within) == (10, 1, 30 * HOUR, False)


def test_one_that_waits_within_the_limit_leaves_it_open() -> None:
    (group,) = delays([*[job(0.5)] * 9, job(1, started=False)], LIMIT, NOW)
    assert group.within is None
    # One of twenty may take as long as it likes.
    (group,) = delays([*[job(0.5)] * 19, job(99, started=False)], LIMIT, NOW)
    assert group.within is True


def test_the_limit_itself_is_within() -> None:
    assert delays([job(2)], LIMIT, NOW)[0].within is True
    assert delays([job(2.001)], LIMIT, NOW)[0].within is False


def test_a_small_team_is_not_made_up_for_by_a_large_one() -> None:
    jobs = [*[job(0.1)] * 1000, *[job(9, team="b")] * 3, job(0.1, team="b", priority="low")]
    groups = delays(jobs, LIMIT, NOW)
    assert [(each.team, each.priority, each.within) for each in groups] == [
        ("a", "high", True),
        ("b", "high", False),
        ("b", "low", True),
    ]
    assert all_within(groups) is False
    assert all_within(groups[:1]) is True
    assert all_within(delays([job(1, started=False)], LIMIT, NOW)) is None


def test_only_what_had_happened_by_then_counts() -> None:
    later = Job("a", "high", NOW - HOUR, NOW + 5 * HOUR)
    (group,) = delays([later, Job("a", "high", NOW + HOUR, None)], LIMIT, NOW)
    assert (group.jobs, group.waiting, group.p95, group.within) == (1, 1, HOUR, None)
