"""What all criteria have."""

from typing import Final

from gates.release.metrics import find_metric
from gates.release.values import Identifier, Level, Line, MetricName, PolicyPart, Severity

_ORDER: Final[tuple[Severity, ...]] = ("warn", "review", "block")

OwnProblem = tuple[str, str]
"""The member of the criterion, and a sentence that says how to mend it."""


class Criterion(PolicyPart):
    """`severity` is what a failure asks for, and no value too."""

    id: Identifier
    severity: Severity
    why: Line | None = None
    """Why it is asked for; shown beside the result."""

    def on(self) -> dict[str, Severity | None]:
        """What the two kinds of not knowing ask for, where that is not the severity."""
        return {"inconclusive": None, "too_small": None}

    def own_problems(self) -> list[OwnProblem]:
        """What is wrong with it beyond the shapes of its members."""
        return []


class MetricCriterion(Criterion):
    """Judges what was measured in the attempt."""

    metric: MetricName
    on_inconclusive: Severity | None = None
    level: Level = "trusted_runner"
    """The least level of the attempt and of the statistics that close it."""

    def on(self) -> dict[str, Severity | None]:
        return {"inconclusive": self.on_inconclusive, "too_small": None}

    def own_problems(self) -> list[OwnProblem]:
        problems = harsher("onInconclusive", self.on_inconclusive, self.severity)
        if find_metric(self.metric) is None:
            message = (
                f"no worker computes {self.metric!r}; write one such as roc_auc, recall, log_loss, f1_macro or "
                "p95_latency_ms (docs/gates.md lists them)"
            )
            problems.append(("metric", message))
        return problems


def harsher(member: str, effect: Severity | None, severity: Severity) -> list[OwnProblem]:
    """Refuses what would make losing the evidence better than having it."""
    if effect is None or _ORDER.index(effect) <= _ORDER.index(severity):
        return []
    message = (
        f"asks for {effect!r} where no value at all asks for {severity!r} only, so that losing the evidence would "
        f"help; make severity {effect!r}, or this {severity!r}"
    )
    return [(member, message)]
