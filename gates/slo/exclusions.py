"""Windows that are taken out: by their author ahead, by an approver afterwards, always with a reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gates.slo.definition import Definition
from gates.slo.schedules import ExpectedWindow


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Takes out the windows it names, or those that overlap [start, end). `recorded_at`: from when on it is known."""

    id: str
    reason: str
    recorded_at: datetime
    start: datetime | None = None
    end: datetime | None = None
    windows: tuple[str, ...] = ()
    approver: str | None = None
    retroactive: bool = False
    planned: bool = False
    """From the definition: excludes only windows that open at recorded_at (its publication) or later."""


def excluding(exclusions: Sequence[Exclusion], window: ExpectedWindow, now: datetime) -> Exclusion | None:
    """The exclusion that takes the window out, whatever became of it: one that only took out misses would flatter. Of
    several the first that was recorded."""
    found = [each for each in exclusions if each.recorded_at <= now and _takes_out(each, window)]
    return min(found, key=lambda each: (each.recorded_at, each.id), default=None)


def planned_exclusions(definition: Definition, published_at: datetime) -> tuple[Exclusion, ...]:
    """The exclusions that stand in a definition, in force from its publication on."""
    return tuple(
        Exclusion(each.id, each.reason, published_at, each.start, each.end, planned=True)
        for each in definition.exclusions
    )


def overlap(new: Exclusion, others: Sequence[Exclusion]) -> Exclusion | None:
    """One that takes out the same windows or time: two reasons for one window would leave open which one holds."""
    return next((each for each in others if _overlaps(new, each)), None)


def _overlaps(one: Exclusion, other: Exclusion) -> bool:
    if set(one.windows) & set(other.windows):
        return True
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end


def _takes_out(exclusion: Exclusion, window: ExpectedWindow) -> bool:
    if exclusion.planned and window.opens_at < exclusion.recorded_at:
        return False
    if window.id in exclusion.windows:
        return True
    if exclusion.start is None or exclusion.end is None:
        return False
    return exclusion.start <= window.deadline_utc and window.opens_at < exclusion.end
