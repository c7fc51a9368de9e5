"""What judging a criterion gives: a finding, and the result that a decision records."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from gates.release.intervals import Interval
from gates.release.values import Severity
from shipworthy.formats.decision_rule import Effect, Outcome, State, effect

Inputs = tuple[tuple[str, str], ...]
"""(role, record digest) of what was read."""


@dataclass(frozen=True, slots=True)
class PartResult:
    """One of several things that a criterion looks at: a slice, a report, a property of the artifact."""

    name: str
    outcome: Outcome
    sentence: str
    state: State | None = None
    observed: float | None = None
    interval: Interval | None = None
    bound: str | None = None
    n: int | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "outcome": self.outcome,
            "state": self.state,
            "observed": self.observed,
            "interval": _interval_json(self.interval),
            "bound": self.bound,
            "n": self.n,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """`good_until` holds when what was read ends to count; a pass is valid no longer."""

    outcome: Outcome
    sentence: str
    code: str | None = None
    state: State | None = None
    observed: float | None = None
    interval: Interval | None = None
    bound: str | None = None
    n: int | None = None
    needed_n: int | None = None
    method: str | None = None
    alpha: float | None = None
    seed: int | None = None
    inputs: Inputs = ()
    parts: tuple[PartResult, ...] = ()
    good_until: tuple[datetime, ...] = ()


@lru_cache(maxsize=4096)
def asked_effect(
    severity: Severity,
    on: tuple[tuple[str, Severity | None], ...],
    outcome: Outcome,
    state: State | None,
    kind: str = "",
    is_cleared: bool = False,
) -> Effect:
    """The decision rule's answer, remembered: a decision asks it some hundred times for few different results."""
    return effect(
        {
            "id": kind or "a criterion",
            "kind": kind,
            "outcome": outcome,
            "state": state,
            "severity": severity,
            "on": dict(on),
            "waiver": "a record" if outcome == "waived" else None,
            "cleared_by": "a review" if is_cleared else None,
        }
    )


@dataclass(frozen=True)
class CriterionResult:
    """`cleared_by` is the id of the approved review that answers for this result, `waiver` the record that
    completed the waiver."""

    id: str
    kind: str
    severity: Severity
    on: Mapping[str, Severity | None]
    finding: Finding
    waiver: str | None = None
    cleared_by: str | None = None

    @property
    def outcome(self) -> Outcome:
        return "waived" if self.waiver is not None else self.finding.outcome

    @property
    def state(self) -> State | None:
        return None if self.waiver is not None else self.finding.state

    @cached_property
    def effect(self) -> Effect:
        on = tuple(self.on.items())
        cleared = self.cleared_by is not None
        return asked_effect(self.severity, on, self.outcome, self.state, self.kind, cleared)

    def as_json(self) -> dict[str, object]:
        finding = self.finding
        return {
            "id": self.id,
            "kind": self.kind,
            "outcome": self.outcome,
            "state": self.state,
            "severity": self.severity,
            "on": dict(self.on),
            "waiver": self.waiver,
            "cleared_by": self.cleared_by,
            "effect": self.effect,
            "observed": finding.observed,
            "interval": _interval_json(finding.interval),
            "bound": finding.bound,
            "n": finding.n,
            "needed_n": finding.needed_n,
            "method": finding.method,
            "alpha": finding.alpha,
            "seed": finding.seed,
            "evidence": list(dict.fromkeys(record for _, record in finding.inputs)),
            "code": finding.code,
            "sentence": finding.sentence,
            "parts": [part.as_json() for part in finding.parts],
        }


def _interval_json(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
