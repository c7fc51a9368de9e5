"""The ledger of outcomes: what was found is never taken back, only followed by a revision that names its cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gates.slo.definition import Definition
from gates.slo.exclusions import Exclusion
from gates.slo.heartbeats import HeartbeatCoverage
from gates.slo.schedules import ExpectedWindow
from gates.slo.windows import EvidenceItem, WindowOutcome, judge


@dataclass(frozen=True, slots=True)
class Settled:
    """`revision` counts from 1. `restatement`: changes an outcome after deadline + grace + settle; that an unknown one
    counts as bad from then on changes nothing."""

    revision: int
    outcome: WindowOutcome
    settled_at: datetime
    restatement: bool


def settle(
    previous: Settled | None,
    window: ExpectedWindow,
    definition: Definition,
    evidence: Sequence[EvidenceItem],
    coverage: HeartbeatCoverage | None,
    exclusions: Sequence[Exclusion],
    now: datetime,
) -> Settled | None:
    """The next revision, or None when nothing is to be said. A clock that was set back brings nothing back: the
    window is judged at the later of `now` and the last revision, and is never pending again."""
    at = now if previous is None else max(now, previous.settled_at)
    outcome = judge(window, definition, evidence, coverage, exclusions, at)
    if outcome.status == "pending":
        return None
    if previous is None:
        return Settled(1, outcome, at, restatement=False)
    if _same(outcome, previous.outcome):
        return None
    closed_at = window.deadline_utc + definition.grace + definition.settle
    restated = at >= closed_at and outcome.reason != "unresolved"
    return Settled(previous.revision + 1, outcome, at, restated)


def _same(one: WindowOutcome, other: WindowOutcome) -> bool:
    """Further evidence for what was said already makes no revision."""
    return (one.status, one.reason, one.lateness_s) == (other.status, other.reason, other.lateness_s) and (
        one.status != "excluded" or one.cause == other.cause
    )
