"""How old the latest checkpoint of a live run is that was verified well enough, in slices of five minutes."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, Literal

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


SliceOutcome = Literal["good", "bad", "unknown"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Slices in a row that count alike. `begin`: of the first one; `end`: of the last one. `state_time`: of the
    checkpoint that counts for them, None as long as none does."""

    outcome: SliceOutcome
    begin: datetime
    end: datetime
    state_time: datetime | None
    slices: int


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
    counted = {"good": 0, "bad": 0, "unknown": 0}
    for outcome, begin, finish, _ in _spans(
        run_start, run_end, checkpoints, required, max_age, start, end, as_of, unknown
    ):
        counted[outcome] += _slices_between(begin, finish)
    return SliceCounts(**counted)


def stretches(
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
) -> list[Stretch]:
    """The slices that `slices` counts, the earliest first."""
    found: list[Stretch] = []
    for outcome, begin, finish, state in _spans(
        run_start, run_end, checkpoints, required, max_age, start, end, as_of, unknown
    ):
        before, total = _multiples_before(begin), _slices_between(begin, finish)
        if not total:
            continue
        one = Stretch(outcome, _EPOCH + before * SLICE, _EPOCH + (before + total) * SLICE, state, total)
        last = found[-1] if found else None
        if last is not None and (last.outcome, last.state_time, last.end) == (outcome, state, one.begin):
            found[-1] = replace(last, end=one.end, slices=last.slices + total)
        else:
            found.append(one)
    return found


def _spans(
    run_start: datetime,
    run_end: datetime | None,
    checkpoints: Sequence[CheckpointFact],
    required: CheckpointLevel,
    max_age: timedelta,
    start: datetime,
    end: datetime,
    as_of: datetime,
    unknown: Sequence[Interval],
) -> Iterator[tuple[SliceOutcome, datetime, datetime, datetime | None]]:
    """How slices that begin in [begin, finish) count, and the training-state time of their checkpoint."""
    low, high = max(start, run_start), min(end, as_of + timedelta(microseconds=1))
    if run_end is not None:
        high = min(high, run_end)
    if low >= high:
        return
    moments, states = _latest(checkpoints, required, as_of)
    cuts = {low, high, *(each for each in moments if low < each < high)}
    cuts.update(each for span in unknown for each in (span.start, span.end) if low < each < high)
    for begin, finish in pairwise(sorted(cuts)):
        at = bisect_right(moments, begin)
        state = states[at - 1] if at else None
        if any(span.start <= begin < span.end for span in unknown):
            yield "unknown", begin, finish, state
            continue
        fresh_until = (state or run_start) + max_age
        fresh_until = min(max(begin, fresh_until + timedelta(microseconds=1)), finish)
        yield "good", begin, fresh_until, state
        yield "bad", fresh_until, finish, state


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
