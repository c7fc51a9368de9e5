"""Models whose truth is known: per-example results drawn from it, measured as a worker measures, put into facts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gates.release.evaluate import evaluate
from gates.release.loading import load_policy
from gates.release.policy import Policy
from gates.statistics import delong
from gates.statistics.aligning import Predictions, Rows
from gates.statistics.closed_forms import closed_forms
from gates.statistics.measured import Values
from gates.statistics.measuring import point_estimates
from gates.statistics.resampled import resampled
from gates.statistics.resampling import Plan
from tests.gates.release.passing import NOW, make_facts
from tests.gates.release.policies import HEAD, policy_text

Body = dict[str, Any]
Draw = np.random.Generator
Array = NDArray[Any]
Simulation = Callable[[Draw], Body]
"""Members of the facts' statistics, or `family`, of one candidate and its evaluation."""

FIRST_SHARE: Final = 6 / math.pi**2
"""The first attempt's part of alpha."""


def make_policy(criterion: str, alpha: float, budget: int = 10) -> Policy:
    """One criterion, judged at `alpha` in the first attempt."""
    head = HEAD.replace("alpha: 0.05", f"alpha: {alpha / FIRST_SHARE!r}").replace(
        "budget: 10", f"budget: {budget}"
    )
    return load_policy(policy_text({"criterion": criterion}, head=head, waivers=""))


@dataclass(frozen=True, slots=True)
class Judge:
    """What a policy with one criterion says about simulated evaluations."""

    policy: Policy
    facts: Body

    def outcome(self, simulated: Mapping[str, Any], attempt: int = 1) -> str:
        """Raises AssertionError when it is an error: then nothing was simulated."""
        statistics = self.facts["statistics"] | {"reported": []}
        facts = self.facts | {
            "statistics": statistics | {name: value for name, value in simulated.items() if name != "family"},
            "family": simulated.get("family", self.facts["family"]),
            "attempt": self.facts["attempt"] | {"number": attempt},
            "attempts": self.facts["attempts"] | {"count": attempt},
        }
        (result,) = evaluate(self.policy, facts, NOW).criteria
        assert result.outcome != "error", result.as_json()
        return result.outcome


def judge(criterion: str, alpha: float, budget: int = 10) -> Judge:
    policy = make_policy(criterion, alpha, budget)
    return Judge(policy, make_facts(policy))


def roc_auc(
    area: float, other: float | None, positives: int, negatives: int, correlation: float
) -> Simulation:
    """Binormal scores: that of a positive is N(d, 1), of a negative N(0, 1), so that the area is Φ(d/√2) exactly."""
    shifts = [math.sqrt(2) * NormalDist().inv_cdf(each) for each in (area, other) if each is not None]
    label = np.repeat([1, 0], [positives, negatives])

    def simulate(draw: Draw) -> Body:
        common = draw.normal(size=len(label))
        scores = [
            math.sqrt(correlation) * common
            + math.sqrt(1 - correlation) * draw.normal(size=len(label))
            + shift * label
            for shift in shifts
        ]
        areas = [(float(delong.placements(score, label == 1).positives.mean()),) for score in scores]
        models = [Predictions(score, None, {}) for score in scores]
        rows = Rows("binary", label, tuple(models[:1]), tuple(models[1:]))
        values = Values(areas[0], areas[1] if len(areas) > 1 else ())
        return _members(rows, {"roc_auc": values})

    return simulate


def correct(metric: str, n: int, right: float, only_candidate: float, only_incumbent: float) -> Simulation:
    """Accuracy or recall of n examples: both models right with probability `right`, one alone with the others."""
    shares = [right, only_candidate, only_incumbent, 1 - right - only_candidate - only_incumbent]

    def simulate(draw: Draw) -> Body:
        both, first, second, neither = draw.multinomial(n, shares)
        hits = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [both, first, second, neither], axis=0)
        # All examples are positive: recall and accuracy are the share of what is predicted positive.
        models = [Predictions(None, column.astype(np.int64), {}) for column in hits.T]
        rows = Rows("binary", np.ones(n, np.int64), (models[0],), (models[1],))
        values = Values((float(hits[:, 0].mean()),), (float(hits[:, 1].mean()),))
        return _members(rows, {metric: values})

    return simulate


def f1(n: int, share: float, recall: float, wrong: float) -> tuple[float, Simulation]:
    """The true F1 of a model that finds `recall` of the positives and takes `wrong` of the negatives for one."""
    found, taken = share * recall, (1 - share) * wrong
    truth = 2 * found / (share + found + taken)

    def simulate(draw: Draw) -> Body:
        label = (draw.random(n) < share).astype(np.int64)
        prediction = (draw.random(n) < np.where(label == 1, recall, wrong)).astype(np.int64)
        right = int((label & prediction).sum())
        value = 2 * right / int(label.sum() + prediction.sum())
        rows = Rows("binary", label, (Predictions(None, prediction, {}),), ())
        return _members(rows, {"f1": Values((value,), ())}, int(draw.integers(2**31)))

    return truth, simulate


def latency(metrics: Sequence[str], n: int, factor: float, resamples: int = 500) -> Simulation:
    """Gamma times of both models on the same requests; the candidate's distribution is `factor` times as slow."""

    def simulate(draw: Draw) -> Body:
        common = draw.gamma(1.5, 10, n)
        times = [(common + draw.gamma(0.5, 10, n)) * each for each in (factor, 1.0)]
        models = [Predictions(None, None, {"latency_ms": each}) for each in times]
        rows = Rows("binary", np.zeros(n, np.int64), (models[0],), (models[1],))
        values = point_estimates(rows)
        return _members(rows, {name: values[name] for name in metrics}, int(draw.integers(2**31)), resamples)

    return simulate


def recall_slices(positives: int, recalls: Mapping[str, float]) -> Simulation:
    def simulate(draw: Draw) -> Body:
        slices = []
        for value, recall in recalls.items():
            measured = correct("recall", positives, recall, 0.0, 0.0)(draw)
            part = {"dimension": "country", "value": value, "n": positives, "positives": positives}
            slices.append(part | measured)
        return {"slices": slices}

    return simulate


def seeds(family: list[Body], mean: float, deviation: float) -> Simulation:
    """A family of runs whose metric is normal over seeds."""

    def simulate(draw: Draw) -> Body:
        values = draw.normal(mean, deviation, len(family))
        runs = zip(family, values, strict=True)
        return {"family": [run | {"metrics": {"roc_auc": float(value)}} for run, value in runs]}

    return simulate


def _members(rows: Rows, values: Mapping[str, Values], seed: int = 0, resamples: int = 2000) -> Body:
    made = closed_forms(rows, values)
    rest = {name: each for name, each in values.items() if name not in made}
    made |= resampled(rows, rest, Plan(seed, (), resamples), lambda done: None)
    return {
        "metrics": {name: each.metric.as_json() for name, each in made.items()},
        "differences": {
            name: each.difference.as_json() for name, each in made.items() if each.difference is not None
        },
    }
