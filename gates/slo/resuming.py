"""What a preemption cost: steps since the checkpoint that was resumed from, and whether the data went on where it
was."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gates.release.texts import counted, length

_TOO_FEW: Final = 2


@dataclass(frozen=True, slots=True)
class Progress:
    """A step that had been done at a time, from one attempt."""

    at: datetime
    step: int


@dataclass(frozen=True, slots=True)
class Resumption:
    """`last_step`: the last one before the preemption, None when nobody saw it. `resumed_step`: that of the checkpoint;
    0 without one. `data_position`: whether it was restored; None when nobody said so."""

    last_step: int | None
    resumed_step: int
    step_s: float | None
    data_position: bool | None


@dataclass(frozen=True, slots=True)
class ResumeLoss:
    """`good` None: not known, which is counted as unknown, never as good."""

    good: bool | None
    steps: int | None
    seconds: float | None
    sentence: str


def step_seconds(progress: Sequence[Progress]) -> float | None:
    """Seconds for a step from the first to the last sign of progress of one attempt; None when it made none."""
    if len(progress) < _TOO_FEW:
        return None
    first = min(progress, key=lambda each: (each.at, each.step))
    last = max(progress, key=lambda each: (each.at, each.step))
    steps = last.step - first.step
    seconds = (last.at - first.at).total_seconds()
    return seconds / steps if steps > 0 and seconds > 0 else None


def resume_loss(resumption: Resumption, max_loss: timedelta) -> ResumeLoss:
    """Steps lost × step time against the limit. No step lost needs no step time."""
    if resumption.last_step is None:
        return ResumeLoss(None, None, None, "nobody saw the last step before the preemption; send progress")
    steps = max(0, resumption.last_step - resumption.resumed_step)
    seconds = 0.0 if steps == 0 else None if resumption.step_s is None else steps * resumption.step_s
    lost = f"{counted(steps, 'step')} lost"
    if resumption.data_position is False:
        return ResumeLoss(False, steps, seconds, f"{lost}, and the data position was not restored")
    if seconds is None:
        return ResumeLoss(None, steps, None, f"{lost}, of unknown duration; send progress more often")
    if seconds > max_loss.total_seconds():
        took = length(timedelta(seconds=round(seconds)))
        return ResumeLoss(False, steps, seconds, f"{lost}, {took} of work; {length(max_loss)} are allowed")
    if resumption.data_position is None:
        return ResumeLoss(None, steps, seconds, f"{lost}; nobody said whether the data position was restored")
    return ResumeLoss(True, steps, seconds, f"{lost}, {length(max_loss)} of work are allowed")
