"""stability: how much a metric moves over runs that differ in their seeds only."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Annotated, Final, Literal

from pydantic import Field

from gates.release.context import Context
from gates.release.criteria.base import MetricCriterion, OwnProblem
from gates.release.criteria.other_runs import other_inputs, require_usable_run, value_of
from gates.release.estimates import estimate_of
from gates.release.intervals import Interval, chi_square_quantile
from gates.release.numbers import Unusable
from gates.release.results import Finding
from gates.release.texts import figure, span

_FEWEST: Final = 5
"""With 3 runs the 95 % bound of a standard deviation is 4.4 times the one that was seen; with 5 it is 2.4 times."""
_NEAR_ZERO: Final = 3.0
"""Standard errors from zero below which a mean is no measure to divide by."""


class Stability(MetricCriterion):
    """`maxCv` bounds the standard deviation as a share of the mean, `maxSd` in units of the metric: what is used
    where the mean is near zero. By default the upper bound of the deviation is held against them."""

    kind: Literal["stability"]
    runs: Annotated[int, Field(ge=1, le=1000)]
    max_cv: Annotated[float, Field(gt=0)] | None = None
    max_sd: Annotated[float, Field(gt=0)] | None = None
    use: Literal["upper-confidence-bound", "estimate"] = "upper-confidence-bound"

    def own_problems(self) -> list[OwnProblem]:
        problems = super().own_problems()
        if self.runs < _FEWEST:
            problems.append(
                ("runs", f"fewer than {_FEWEST} runs say next to nothing about spread; write {_FEWEST}")
            )
        if self.max_cv is None and self.max_sd is None:
            problems.append(("kind", "has no limit; write maxCv, maxSd or both"))
        return problems

    def judge(self, context: Context) -> Finding:
        statistics = context.statistics(self.level)
        # The candidate must have the metric itself, by the protocol that its family is measured by.
        estimate_of(statistics, self.metric)
        alpha = context.alpha()
        run = context.training_run()
        by_seeds: dict[str, float] = {}
        for other in reversed(context.facts.family):
            require_usable_run(other, context, self.level)
            if other.seeds_digest is None:
                raise Unusable("no_seeds", f"Run {other.run_id} of the family doesn't name its seeds.")
            # The oldest run counts for its seeds: running them again until the spread is small shows nothing.
            by_seeds.setdefault(other.seeds_digest, value_of(other, self.metric))
        if not any(other.run_id == run.run_id for other in context.facts.family):
            raise Unusable(
                "other_family", "The run that made the artifact is not among the runs of its family."
            )
        values = list(dict.fromkeys(by_seeds.values()))
        if len(by_seeds) < self.runs:
            sentence = f"{len(by_seeds)} runs with seeds of their own were measured; the policy asks for {self.runs}."
            raise Unusable("too_few_runs", sentence)
        if len(values) < self.runs:
            given = f"{len(by_seeds)} runs gave {len(values)} different values"
            sentence = f"{given}: one result may stand for several runs."
            raise Unusable("identical_values", sentence)
        inputs = (*context.statistics_inputs(statistics), *other_inputs("family", context.facts.family))
        return self._finding(values, alpha, inputs)

    def _finding(self, values: Sequence[float], alpha: float, inputs: tuple[tuple[str, str], ...]) -> Finding:
        n, mean, deviation = len(values), fmean(values), stdev(values)
        by_cv = self.max_cv is not None and abs(mean) > _NEAR_ZERO * deviation / math.sqrt(n)
        limit = self.max_cv if by_cv else self.max_sd
        if limit is None:
            sentence = f"The mean of {self.metric} is too near zero to divide by; the policy names no maxSd."
            raise Unusable("near_zero_mean", sentence)
        scale = abs(mean) if by_cv else 1.0
        lowest = deviation * math.sqrt((n - 1) / chi_square_quantile(1 - alpha, n - 1))
        highest = deviation * math.sqrt((n - 1) / chi_square_quantile(alpha, n - 1))
        interval = Interval(lowest / scale, highest / scale)
        observed = deviation / scale
        judged = Interval(observed, observed) if self.use == "estimate" else interval
        conclusion = judged.at_most(limit)
        what = "coefficient of variation" if by_cv else "standard deviation"
        ends = {
            "passed": f", which is ≤ {figure(limit)}.",
            "failed": f", which is not ≤ {figure(limit)}.",
            "inconclusive": f": too uncertain to say whether it is ≤ {figure(limit)}; more runs would tell.",
        }
        measured = (
            f"Over {n} runs with seeds of their own the {what} of {self.metric} is {figure(observed)} "
            f"({span(interval.low, interval.high)})"
        )
        return Finding(
            outcome=conclusion,
            sentence=measured + ends[conclusion],
            observed=observed,
            interval=interval,
            bound=f"≤ {figure(limit)}",
            n=n,
            method="chi-square",
            alpha=alpha,
            inputs=inputs,
        )
