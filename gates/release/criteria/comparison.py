"""comparison: the candidate against the incumbent, measured on the same examples."""

import math
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from gates.release.context import Context
from gates.release.criteria.base import MetricCriterion, OwnProblem
from gates.release.estimates import Estimate, PairedDifference, difference_of, estimate_of
from gates.release.intervals import Conclusion, Interval, needed_n
from gates.release.metrics import find_metric
from gates.release.numbers import Unusable, admit
from gates.release.results import Finding, Inputs
from gates.release.statistics_facts import Statistics
from gates.release.texts import figure, short, span

Better: TypeAlias = Literal["higher", "lower"]
_ANALYTIC: Final = frozenset({"delong", "closed-form", "wilson"})
_PAIRED: Final = _ANALYTIC | {"bootstrap"}


class Comparison(MetricCriterion):
    """`margin` and an absolute `maxRegression` are in units of the metric, a relative one is a share of the
    incumbent's value. All but `use: estimate` hold the interval of the difference against the limit."""

    kind: Literal["comparison"]
    better: Better
    test: Literal["non-inferiority", "superiority", "absolute", "relative"]
    margin: Annotated[float, Field(ge=0)] | None = None
    max_regression: Annotated[float, Field(ge=0)] | None = None
    method: Literal["paired-bootstrap", "analytic"] | None = None
    """paired-bootstrap, and the default: any standard error of paired differences, by resampling where no formula
    exists. analytic: DeLong or a closed form only."""
    use: Literal["confidence-bound", "estimate"] = "confidence-bound"

    def own_problems(self) -> list[OwnProblem]:
        problems = [*super().own_problems(), *self._limit_problems()]
        metric = find_metric(self.metric)
        if metric is not None and metric.better not in (None, self.better):
            message = f"{metric.better} is better for {self.metric}; write better: {metric.better}"
            problems.append(("better", message))
        if self.use == "estimate" and self.test in ("non-inferiority", "superiority"):
            problems.append(
                ("use", f"{self.test} is shown by an interval; leave `use` out, or test: absolute")
            )
        return problems

    def _limit_problems(self) -> list[OwnProblem]:
        by_margin = self.test in ("non-inferiority", "superiority")
        right, wrong = ("margin", "maxRegression") if by_margin else ("maxRegression", "margin")
        given = {"margin": self.margin, "maxRegression": self.max_regression}
        problems = []
        if given[wrong] is not None:
            problems.append((wrong, f"{self.test} has no {wrong}; write {right}"))
        if given[right] is None and self.test != "superiority":
            problems.append(("test", f"{self.test} needs a {right}; write for example {right}: 0.005"))
        if self.test == "non-inferiority" and self.margin == 0:
            message = "a margin of 0 can't be shown for a model that is as good; write a small margin, or superiority"
            problems.append(("margin", message))
        if self.test == "relative" and self.max_regression is not None and self.max_regression >= 1:
            problems.append(("maxRegression", "is a share of the incumbent's value; write 0.10 for 10 %"))
        return problems

    def judge(self, context: Context) -> Finding:
        statistics = context.statistics(self.level)
        inputs = require_incumbent(context, statistics)
        alpha = context.alpha()
        difference = difference_of(statistics, self.metric)
        if difference.method not in (_ANALYTIC if self.method == "analytic" else _PAIRED):
            sentence = f"The difference of {self.metric} was computed by another method: {difference.method}."
            raise Unusable("wrong_method", sentence)
        sign = 1 if self.better == "higher" else -1
        gain = difference.as_estimate(sign)
        if self.test == "relative":
            gain = _relative(gain, difference, estimate_of(statistics, self.metric), self._limit(), sign)
        return self._finding(context, statistics, inputs, gain, difference, alpha)

    def _limit(self) -> float:
        """How much worse it may be; negative for superiority: how much better it must be."""
        if self.test == "superiority":
            return -(self.margin or 0.0)
        limit = self.margin if self.test == "non-inferiority" else self.max_regression
        assert limit is not None, "publishing refuses a comparison without its limit"
        return limit

    def _finding(
        self,
        context: Context,
        statistics: Statistics,
        inputs: Inputs,
        gain: Estimate,
        difference: PairedDifference,
        alpha: float,
    ) -> Finding:
        limit = self._limit()
        interval = gain.interval(alpha)
        conclusion: Conclusion
        if self.use == "estimate":
            conclusion = Interval(gain.value, gain.value).at_least(-limit)
        else:
            conclusion = interval.at_least(-limit)
            if self.test == "superiority" and interval.low == -limit:
                # As good is not better: identical predictions have an interval of no width.
                conclusion = "inconclusive"
        uncertain = conclusion == "inconclusive"
        needed = needed_n(gain.value + limit, gain.standard_error, gain.n, alpha) if uncertain else None
        return Finding(
            outcome=conclusion,
            sentence=self._sentence(conclusion, gain, interval, difference, needed),
            observed=gain.value,
            interval=interval,
            bound=f"{'>' if self.test == 'superiority' else '≥'} {figure(-limit)}",
            n=gain.n,
            needed_n=needed,
            method=gain.method,
            alpha=alpha,
            seed=context.seed(statistics),
            inputs=inputs,
        )

    def _sentence(
        self,
        conclusion: Conclusion,
        gain: Estimate,
        interval: Interval,
        difference: PairedDifference,
        needed: int | None,
    ) -> str:
        unit = " of its value" if self.test == "relative" else ""
        word = "better" if gain.value >= 0 else "worse"
        measured = (
            f"{self.metric} is {figure(difference.candidate)} against {figure(difference.incumbent)} of the incumbent: "
            f"{figure(abs(gain.value))}{unit} {word} (gain {span(interval.low, interval.high)}, n = {gain.n:,})"
        )
        limit = self._limit()
        if self.test == "superiority":
            wanted = "better" if limit == 0 else f"better by more than {figure(-limit)}"
        else:
            wanted = f"no more than {figure(limit)}{unit} worse"
        if conclusion == "passed":
            return f"{measured}, which is {wanted}."
        if conclusion == "failed":
            return f"{measured}, which is not {wanted}."
        enough = "" if needed is None else f"; about {needed:,} examples would tell"
        return f"{measured}: too uncertain to say whether it is {wanted}{enough}."


def require_incumbent(context: Context, statistics: Statistics) -> Inputs:
    """What was read, when the statistics compare with the incumbent of now; else Unusable."""
    incumbent = context.facts.incumbent
    if incumbent.how == "none" and incumbent.artifact is None:
        first = context.require_protocol().incumbent.on_none == "first-release"
        raise Unusable(
            "no_incumbent",
            f"Nothing holds {context.target} yet, so that there is nothing to compare with.",
            state="first_release" if first else None,
        )
    if incumbent.artifact is None or incumbent.how == "none" or incumbent.record is None:
        raise Unusable("incumbent_unclear", f"It is unclear which artifact holds {context.target} now.")
    if statistics.incumbent != incumbent.artifact:
        compared = "nothing" if statistics.incumbent is None else short(statistics.incumbent)
        sentence = (
            f"The attempt was compared with {compared}; {context.target} is {short(incumbent.artifact)} now."
        )
        raise Unusable("other_incumbent", sentence)
    return (
        *context.statistics_inputs(statistics),
        *(("incumbent_evaluation", record) for record in statistics.incumbent_evaluations),
        ("incumbent", incumbent.record),
    )


def _relative(
    gain: Estimate, difference: PairedDifference, candidate: Estimate, limit: float, sign: int
) -> Estimate:
    """The gain as a share of the incumbent's value b, with an error that is wide enough for b being an estimate too.

    To be shown is gain ≥ −limit·b. With c the candidate, gain + limit·b = (1 − s·limit)·gain + limit·c, where s is the
    sign of the gain. The covariance of difference and c is not recorded: the sum of both errors bounds it whatever it
    is. Unusable when b is not above zero, where a share of it means nothing (and 0/0 is NaN).
    """
    if candidate.successes is None and not math.isclose(candidate.value, difference.candidate, rel_tol=1e-9):
        raise Unusable(
            "inconsistent", "The candidate's value is not the one that the difference was made of."
        )
    base = difference.incumbent
    if base <= 0:
        sentence = f"The incumbent's value is {figure(base)}, of which no share can be taken."
        raise Unusable("no_relative_change", sentence)
    error = abs(1 - sign * limit) * gain.standard_error + limit * candidate.standard_error
    return Estimate(
        admit(gain.value / base, "The relative change"),
        admit(error / base, "The standard error of the relative change", 0),
        gain.n,
        gain.method,
    )
