"""How old the latest checkpoint of a live run is that was verified well enough, in slices of five minutes."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

from gates.slo.definition import CHECKPOINT_LEVELS, CheckpointLevel
from gates.slo.schedules import Interval

SLICE: Final = timedelta(minutes=5)
"""Slices begin at whole multiples of it since 1970-01-01T00:00Z and are judged at their begin."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CheckpointFact:
    """One level that one checkpoint reached. `state_time`: of the training state it holds. `level_from`: when it was
    shown to have the level. `level_until`: when a later verification failed, from which time on it counts as never
    having had the level."""

    state_time: datetime
    level: CheckpointLevel
    level_from: datetime
    level_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SliceCounts:
    good: int
    bad: int
    unknown: int


@dataclass(frozen=True, slots=True)
class CheckpointAge:
    """`state_time` None: no checkpoint counts yet, and the age is that of the run."""

    age: timedelta
    state_time: datetime | None


def slices(
    run_start: datetime,
    run_end: datetime | None,
    checkpoints: Sequence[CheckpointFact],
    required: CheckpointLevel,
    max_age: timedelta,
    start: datetime,
    end: datetime,
    *,
    as_of: datetime,
    unknown: Sequence[Interval] = (),
) -> SliceCounts:
    """Slices that begin in [start, end) while the run is live (run_start ≤ begin < run_end) and not after `as_of`.
    `unknown`: spans in which nobody knows whether the run was alive. Adjoining spans add up."""
    low, high = max(start, run_start), min(end, as_of + timedelta(microseconds=1))
    if run_end is not None:
        high = min(high, run_end)
    if low >= high:
        return SliceCounts(0, 0, 0)
    moments, states = _latest(checkpoints, required, as_of)
    cuts = {low, high, *(each for each in moments if low < each < high)}
    cuts.update(each for span in unknown for each in (span.start, span.end) if low < each < high)
    good = bad = unsure = 0
    ordered = sorted(cuts)
    for begin, finish in pairwise(ordered):
        total = _slices_between(begin, finish)
        if any(span.start <= begin < span.end for span in unknown):
            unsure += total
            continue
        at = bisect_right(moments, begin)
        origin = states[at - 1] if at else run_start
        fresh_until = origin + max_age + timedelta(microseconds=1)
        fresh = _slices_between(begin, min(finish, fresh_until)) if fresh_until > begin else 0
        good += fresh
        bad += total - fresh
    return SliceCounts(good, bad, unsure)


def age(
    now: datetime,
    run_start: datetime,
    checkpoints: Sequence[CheckpointFact],
    required: CheckpointLevel,
    *,
    as_of: datetime,
) -> CheckpointAge:
    """At `now`, by what was known at `as_of` (≥ now)."""
    moments, states = _latest(checkpoints, required, as_of)
    at = bisect_right(moments, now)
    if not at:
        return CheckpointAge(now - run_start, None)
    return CheckpointAge(now - states[at - 1], states[at - 1])


def _latest(
    checkpoints: Sequence[CheckpointFact], required: CheckpointLevel, as_of: datetime
) -> tuple[list[datetime], list[datetime]]:
    """When the training-state time of the latest checkpoint that counts changed, and to what; both ascend."""
    enough = CHECKPOINT_LEVELS[CHECKPOINT_LEVELS.index(required) :]
    counted = sorted(
        (max(each.level_from, each.state_time), each.state_time)
        for each in checkpoints
        if each.level in enough
        and each.level_from <= as_of
        and (each.level_until is None or each.level_until > as_of)
    )
    moments: list[datetime] = []
    states: list[datetime] = []
    for moment, state in counted:
        if not states or state > states[-1]:
            moments.append(moment)
            states.append(state)
    return moments, states


def _slices_between(start: datetime, end: datetime) -> int:
    """How many multiples of SLICE lie in [start, end)."""
    return _multiples_before(end) - _multiples_before(start)


def _multiples_before(when: datetime) -> int:
    return -((_EPOCH - when) // SLICE)
