"""How long jobs wait before they start, by team and priority; those that still wait are counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Final

SHARE: Final = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Job:
    """`started` None: still waiting."""

    team: str
    priority: str
    submitted: datetime
    started: datetime | None


@dataclass(frozen=True, slots=True)
class GroupDelay:
    """`p95`: by nearest rank, with each waiting job at what it has waited so far, hence a lower bound while any waits.
    `within`: whether the 95th percentile keeps the limit; None while that depends on jobs that still wait."""

    team: str
    priority: str
    jobs: int
    waiting: int
    p95: timedelta
    within: bool | None


def delays(jobs: Sequence[Job], limit: timedelta, at: datetime) -> tuple[GroupDelay, ...]:
    """One for each team and priority, in order of name. Jobs submitted after `at` play no part; what started after it
    counts as waiting."""
    groups: dict[tuple[str, str], list[tuple[timedelta, bool]]] = {}
    for job in jobs:
        if job.submitted > at:
            continue
        waits = job.started is None or job.started > at
        until = at if waits or job.started is None else job.started
        groups.setdefault((job.team, job.priority), []).append((until - job.submitted, waits))
    return tuple(_group(team, priority, groups[team, priority], limit) for team, priority in sorted(groups))


def all_within(groups: Sequence[GroupDelay]) -> bool | None:
    """Whether every group keeps the limit: one that doesn't is not made up for by the others. None: not known yet."""
    if any(group.within is False for group in groups):
        return False
    return None if any(group.within is None for group in groups) else True


def _group(team: str, priority: str, waits: Sequence[tuple[timedelta, bool]], limit: timedelta) -> GroupDelay:
    count = len(waits)
    rank = ceil(SHARE * count)
    ordered = sorted(delay for delay, _ in waits)
    over = sum(delay > limit for delay in ordered)
    kept = sum(delay <= limit and not waiting for delay, waiting in waits)
    within = False if over > count - rank else True if kept >= rank else None
    waiting = sum(still for _, still in waits)
    return GroupDelay(team, priority, count, waiting, ordered[rank - 1], within)
