"""Whether a source was proven alive over a span: only then is an absence of evidence evidence of absence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from gates.slo.schedules import Interval

ENOUGH: Final = Fraction(9, 10)
"""Share of a window over which its source must have been proven alive for a miss to be one."""

_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """One sign of life; it promises the next one after `interval_s` seconds."""

    at: datetime
    interval_s: float


@dataclass(frozen=True, slots=True)
class HeartbeatCoverage:
    """`share` of the span (0 to 1) over which the source was proven alive; gaps in order. `last_seen`: the last
    heartbeat before the end of the span."""

    share: Fraction
    gaps: tuple[Interval, ...]
    last_seen: datetime | None

    @property
    def proves_life(self) -> bool:
        return self.share >= ENOUGH


def coverage(heartbeats: Sequence[Heartbeat], start: datetime, end: datetime) -> HeartbeatCoverage:
    """A heartbeat proves life from its time until one interval later; a pause between two of up to one and a half
    intervals is no gap. Heartbeats outside the span may be given, in any order."""
    known = sorted({(each.at, each.interval_s) for each in heartbeats if each.at <= end})
    gaps: list[Interval] = []
    alive_until = start
    for index, (at, interval_s) in enumerate(known):
        if at > alive_until:
            gaps.append(Interval(alive_until, at))
        reach = timedelta(seconds=interval_s)
        following = known[index + 1][0] if index + 1 < len(known) else None
        bridged = following is not None and following - at <= reach * 3 / 2
        alive_until = max(alive_until, at + reach, following if bridged and following is not None else at)
    if alive_until < end:
        gaps.append(Interval(alive_until, end))
    inside = [Interval(max(gap.start, start), min(gap.end, end)) for gap in gaps]
    inside = [gap for gap in inside if gap.start < gap.end]
    missing = sum((gap.end - gap.start for gap in inside), timedelta(0))
    share = (
        Fraction(0) if end <= start else 1 - Fraction(missing // _MICROSECOND, (end - start) // _MICROSECOND)
    )
    return HeartbeatCoverage(share, tuple(inside), known[-1][0] if known else None)
