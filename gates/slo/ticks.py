"""The instants of a cron expression in a time zone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Final

from cronsim import CronSim, CronSimError

from gates.slo.definition import Schedule
from gates.slo.zones import instant, zone

SHORTEST_STEP: Final = timedelta(minutes=5)
"""Between two ticks. What has to hold more often is a freshness objective, which is counted in slices of that
length."""

_LOOKED_AT: Final = 300
_LAST_LOOKED_AT: Final = 2060
_SOME_MONDAY: Final = datetime(2026, 1, 5)  # noqa: DTZ001 - local
_LONGEST_SHIFT: Final = timedelta(days=1)
"""A clock change moves a local time by at most a day: Samoa left out 2011-12-30."""


@lru_cache(maxsize=1024)
def cron_problem(expression: str) -> str | None:
    """What is wrong with an expression of five fields, or None."""
    if len(expression.split()) != 5:
        return 'must have five fields, such as "0 6 * * 1-5": minute, hour, day of month, month, day of week'
    try:
        ticks = CronSim(expression, _SOME_MONDAY)
        before = next(ticks)
        for tick in islice(ticks, _LOOKED_AT):
            if tick.year > _LAST_LOOKED_AT:
                break
            if tick - before < SHORTEST_STEP:
                return (
                    "has ticks less than five minutes apart; write a rarer schedule, or objective: freshness, which is "
                    "judged every five minutes"
                )
            before = tick
    except CronSimError as error:
        return f"is no cron expression: {str(error).lower()}; write for example 0 6 * * 1-5"
    except StopIteration:
        return "never comes; correct day and month"
    return None


def ticks(schedule: Schedule, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Ticks with start ≤ tick < end as (UTC time, local time as the expression names it), in order, each once."""
    where = zone(schedule.time_zone)
    if _by_elapsed_time(schedule.cron):
        for aware in CronSim(schedule.cron, start.astimezone(where) - timedelta(seconds=1)):
            if aware.astimezone(UTC) >= end:
                return
            yield aware.astimezone(UTC), aware.replace(tzinfo=None, fold=0)
        return
    found: dict[datetime, datetime] = {}
    local_end = end.astimezone(where).replace(tzinfo=None) + _LONGEST_SHIFT
    local_start = start.astimezone(where).replace(tzinfo=None) - _LONGEST_SHIFT - timedelta(seconds=1)
    for local in CronSim(schedule.cron, local_start):
        if local >= local_end:
            break
        tick = instant(local, where, schedule.gap, schedule.fold)
        if tick is not None and start <= tick < end:
            # One that is shifted onto a later one is that one.
            found[tick] = local
    yield from sorted(found.items())


def last_tick_before(schedule: Schedule, when: datetime) -> datetime | None:
    """The UTC time of the last tick before an instant; None when there is none within fifty years."""
    where = zone(schedule.time_zone)
    if _by_elapsed_time(schedule.cron):
        latest = next(CronSim(schedule.cron, when.astimezone(where), reverse=True), None)
        return None if latest is None else latest.astimezone(UTC)
    best: datetime | None = None
    for local in CronSim(
        schedule.cron, when.astimezone(where).replace(tzinfo=None) + _LONGEST_SHIFT, reverse=True
    ):
        tick = instant(local, where, schedule.gap, schedule.fold)
        if tick is not None and tick < when and (best is None or tick > best):
            best = tick
        if best is not None and local < best.astimezone(where).replace(tzinfo=None) - _LONGEST_SHIFT:
            break
    return best


def _by_elapsed_time(expression: str) -> bool:
    """Every so many minutes or hours, as Debian's cron sees it: such a schedule runs on through a clock change, 25
    times on a day of 25 hours. The others name a local time."""
    minute, hour = expression.split()[:2]
    return minute.startswith("*") or hour.startswith("*")
