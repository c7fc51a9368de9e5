"""How far a checkpoint is proven: a fold over verdicts that no order and no repetition changes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

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
    """The latest verdict of each level by the time of the check; of several at one time a failed counts."""
    latest: dict[CheckpointLevel, Verdict] = {}
    for verdict in verdicts:
        known = latest.get(verdict.level)
        if known is None or _order(verdict) > _order(known):
            latest[verdict.level] = verdict
    return latest


def effective_level(verdicts: Iterable[Verdict]) -> CheckpointLevel | None:
    """The highest level that passed while no level up to it failed last; None when nothing holds.

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


def _order(verdict: Verdict) -> tuple[datetime, bool, str]:
    # The evidence level decides nothing; it makes the choice between equals the same in any order.
    return verdict.checked_at, not verdict.passed, verdict.evidence_level
