"""How far a checkpoint is proven: a fold over verdicts that no order and no repetition changes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gates.release.values import LEVELS
from models.kinds.facts import LEVEL_ORDER, CheckpointLevel


@dataclass(frozen=True, slots=True)
class Verdict:
    """Somebody looked at a checkpoint: `level` was reached (`passed`) or was tried and failed.

    What a saver claims of its own checkpoint is a verdict that passed when it was saved.
    """

    level: CheckpointLevel
    passed: bool
    checked_at: datetime
    evidence_level: str


def latest_verdicts(verdicts: Iterable[Verdict]) -> Mapping[CheckpointLevel, Verdict]:
    """The verdict of each level that counts: the latest failure that no later success outweighs, else the latest
    success. Only evidence that is at least as strong outweighs a failure: nobody's own word takes back what a worker
    found. Of several at one time a failure counts."""
    latest: dict[tuple[CheckpointLevel, bool, str], Verdict] = {}
    for verdict in verdicts:
        key = verdict.level, verdict.passed, verdict.evidence_level
        if key not in latest or verdict.checked_at > latest[key].checked_at:
            latest[key] = verdict
    counting: dict[CheckpointLevel, Verdict] = {}
    for level in LEVEL_ORDER:
        found = [each for each in latest.values() if each.level == level]
        passed = [each for each in found if each.passed]
        standing = [each for each in found if not each.passed and not _is_outweighed(each, passed)]
        if standing or passed:
            counting[level] = max(standing or passed, key=_order)
    return counting


def _is_outweighed(failure: Verdict, passed: Iterable[Verdict]) -> bool:
    weakest = LEVELS.index(failure.evidence_level)
    return any(
        each.checked_at > failure.checked_at and LEVELS.index(each.evidence_level) <= weakest
        for each in passed
    )


def effective_level(verdicts: Iterable[Verdict]) -> CheckpointLevel | None:
    """The highest level that passed while no level up to it stands as failed; None when nothing holds.

    A failed verdict never raises it.
    """
    latest = latest_verdicts(verdicts)
    reached: CheckpointLevel | None = None
    for level in LEVEL_ORDER:
        verdict = latest.get(level)
        if verdict is not None and not verdict.passed:
            break
        if verdict is not None:
            reached = level
    return reached


def _order(verdict: Verdict) -> tuple[datetime, str]:
    # The evidence level decides nothing here; it makes the choice between equals the same in any order.
    return verdict.checked_at, verdict.evidence_level
