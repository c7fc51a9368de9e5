"""threshold: a metric of the candidate against fixed bounds."""

from typing import Literal

from gates.release.context import Context
from gates.release.criteria.base import MetricCriterion, OwnProblem
from gates.release.estimates import Estimate, estimate_of
from gates.release.intervals import Conclusion, Interval
from gates.release.results import Finding
from gates.release.texts import figure, joined, span


class Threshold(MetricCriterion):
    """`use` says what is held against the bounds: by default the end of the interval that is the worse one for the
    bound, so that a pass is a proof; with `estimate` the estimate alone, whatever chance did to it."""

    kind: Literal["threshold"]
    min: float | None = None
    max: float | None = None
    use: Literal["lower-confidence-bound", "upper-confidence-bound", "estimate"] | None = None

    def own_problems(self) -> list[OwnProblem]:
        problems = super().own_problems()
        if self.min is None and self.max is None:
            problems.append(("kind", "has no bound; write min, max or both"))
        elif self.min is not None and self.max is not None and self.min > self.max:
            problems.append(
                ("min", f"is more than max, so that nothing passes; write at most {figure(self.max)}")
            )
        if self.use == "lower-confidence-bound" and self.max is not None:
            problems.append(("use", "a max is held against the upper bound; leave `use` out, or remove max"))
        if self.use == "upper-confidence-bound" and self.min is not None:
            problems.append(("use", "a min is held against the lower bound; leave `use` out, or remove min"))
        return problems

    def judge(self, context: Context) -> Finding:
        statistics = context.statistics(self.level)
        alpha = context.alpha()
        estimate = estimate_of(statistics, self.metric)
        interval = estimate.interval(alpha)
        judged = Interval(estimate.value, estimate.value) if self.use == "estimate" else interval
        conclusion = self._conclusion(judged)
        needed = self._needed(estimate, alpha) if conclusion == "inconclusive" else None
        return Finding(
            outcome=conclusion,
            sentence=self._sentence(conclusion, estimate, interval, needed),
            observed=estimate.value,
            interval=interval,
            bound=self._bound(),
            n=estimate.n,
            needed_n=needed,
            method=estimate.method,
            alpha=alpha,
            seed=context.seed(statistics),
            inputs=context.statistics_inputs(statistics),
        )

    def _conclusion(self, judged: Interval) -> Conclusion:
        found: set[Conclusion] = set()
        if self.min is not None:
            found.add(judged.at_least(self.min))
        if self.max is not None:
            found.add(judged.at_most(self.max))
        if "failed" in found:
            return "failed"
        return "inconclusive" if "inconclusive" in found else "passed"

    def _needed(self, estimate: Estimate, alpha: float) -> int | None:
        """For the bound that is the nearest: the other one needs fewer."""
        needs = [estimate.needed_n(bound, alpha) for bound in (self.min, self.max) if bound is not None]
        return None if None in needs else max(need for need in needs if need is not None)

    def _bound(self) -> str:
        bounds = []
        if self.min is not None:
            bounds.append(f"≥ {figure(self.min)}")
        if self.max is not None:
            bounds.append(f"≤ {figure(self.max)}")
        return joined(bounds)

    def _sentence(
        self, conclusion: Conclusion, estimate: Estimate, interval: Interval, needed: int | None
    ) -> str:
        around = f"{span(interval.low, interval.high)}, n = {estimate.n:,}"
        measured = f"{self.metric} is {figure(estimate.value)} ({around})"
        bound = self._bound()
        if conclusion == "passed":
            return f"{measured}, which keeps {bound}."
        if conclusion == "failed":
            return f"{measured}, which breaks {bound}."
        enough = "" if needed is None else f"; about {needed:,} examples would tell"
        return f"{measured}: too uncertain to say whether it is {bound}{enough}."
