"""slices: every expected part of the data against a floor, and against what the incumbent does there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from gates.release.combining import combined, error_part, worst_first
from gates.release.context import Context
from gates.release.criteria.base import MetricCriterion, OwnProblem, harsher
from gates.release.criteria.comparison import require_incumbent
from gates.release.estimates import Estimate, admit_difference, admit_estimate, require_agreement
from gates.release.intervals import Interval
from gates.release.metrics import find_metric
from gates.release.numbers import Unusable, admit_count
from gates.release.results import Finding, Inputs, PartResult
from gates.release.statistics_facts import Slice
from gates.release.texts import counted, figure, joined, span
from gates.release.values import Dimension, Items, Line, Severity


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One hypothesis about one slice: that `estimate` is `bound` or more. `part` is how it reads if neither harm nor
    its absence is shown."""

    part: PartResult
    estimate: Estimate
    interval: Interval
    bound: float


class Slices(MetricCriterion):
    """`floor` and `maxRegression` are in units of the metric. All expected slices have to be shown to keep them, each
    at alpha: that all pass is no likelier than that the worst one does. One is shown to break them at alpha over all
    tests together (Holm 1979). In between nothing is known."""

    kind: Literal["slices"]
    dimension: Dimension
    expected: Annotated[Items[Line], Field(min_length=1, max_length=1000)]
    """Values of the dimension that must be there. Others are named, not judged."""
    floor: float | None = None
    max_regression: Annotated[float, Field(gt=0)] | None = None
    minimum_positives: Annotated[int, Field(ge=1)] | None = None
    minimum_rows: Annotated[int, Field(ge=1)] | None = None
    correction: Literal["holm"] = "holm"
    on_too_small: Severity | None = None

    def on(self) -> dict[str, Severity | None]:
        return {"inconclusive": self.on_inconclusive, "too_small": self.on_too_small}

    def own_problems(self) -> list[OwnProblem]:
        problems = [*super().own_problems(), *harsher("onTooSmall", self.on_too_small, self.severity)]
        if self.floor is None and self.max_regression is None:
            problems.append(("kind", "has no limit; write floor, maxRegression or both"))
        repeated = sorted({value for value in self.expected if self.expected.count(value) > 1})
        if repeated:
            problems.append(("expected", f"names {joined(repeated)} twice; keep one of each"))
        metric = find_metric(self.metric)
        if metric is not None and metric.better != "higher":
            problems.append(
                ("metric", f"{self.metric} is not one of which more is better; slices take such only")
            )
        return problems

    def judge(self, context: Context) -> Finding:
        statistics = context.statistics(self.level)
        alpha = context.alpha()
        require_agreement(statistics, self.metric)
        found = [each for each in statistics.slices if each.dimension == self.dimension]
        inputs, no_incumbent = self._incumbent(context, context.statistics_inputs(statistics))
        by_value: dict[str, list[Slice]] = {}
        for each in found:
            by_value.setdefault(each.value, []).append(each)
        judged: list[PartResult | Hypothesis] = []
        for value in self.expected:
            judged.extend(self._slice(value, by_value.get(value, []), alpha, no_incumbent))
        parts = worst_first(self, _concluded(judged, alpha))
        outcome, state = combined(self, parts)
        others = sorted(set(by_value) - set(self.expected))
        return Finding(
            outcome=outcome,
            state=state,
            sentence=self._sentence(parts, others),
            code="no_incumbent" if state == "first_release" else None,
            observed=parts[0].observed,
            interval=parts[0].interval,
            bound=parts[0].bound,
            n=parts[0].n,
            method="holm",
            alpha=alpha,
            seed=context.seed(statistics),
            inputs=inputs,
            parts=tuple(parts),
        )

    def _incumbent(self, context: Context, inputs: Inputs) -> tuple[Inputs, Unusable | None]:
        """A floor can be judged without an incumbent; a regression can't."""
        if self.max_regression is None:
            return inputs, None
        try:
            return require_incumbent(context, context.statistics(self.level)), None
        except Unusable as error:
            return inputs, error

    def _slice(
        self, value: str, found: Sequence[Slice], alpha: float, no_incumbent: Unusable | None
    ) -> list[PartResult | Hypothesis]:
        name = f"{self.dimension}={value}"
        try:
            if len(found) != 1:
                number = "missing from the results" if not found else "in the results more than once"
                raise Unusable("no_slice", f"{name} is {number}.")
            small = self._too_small(name, found[0])
        except Unusable as error:
            return [error_part(name, error)]
        if small is not None:
            return [small]
        judged: list[PartResult | Hypothesis] = []
        if self.floor is not None:
            judged.append(self._floor_test(name, found[0], alpha))
        if self.max_regression is not None and no_incumbent is not None:
            judged.append(error_part(f"{name} regression", no_incumbent))
        elif self.max_regression is not None:
            judged.append(self._regression_test(name, found[0], alpha))
        return judged

    def _too_small(self, name: str, found: Slice) -> PartResult | None:
        wanted = ((self.minimum_rows, found.n, "row"), (self.minimum_positives, found.positives, "positive"))
        for least, given, word in wanted:
            if least is None:
                continue
            number = admit_count(given, f"The number of {word}s of {name}")
            if number < least:
                sentence = f"{name} has {counted(number, word)}, fewer than {least:,}."
                return PartResult(name, "inconclusive", sentence, state="too_small", n=number)
        return None

    def _floor_test(self, name: str, found: Slice, alpha: float) -> PartResult | Hypothesis:
        assert self.floor is not None
        try:
            measured = found.metrics.get(self.metric)
            if measured is None:
                raise Unusable("not_measured", f"{name} has no {self.metric}.")
            estimate = admit_estimate(measured, self.metric, f"{self.metric} of {name}")
        except Unusable as error:
            return error_part(name, error)
        sentence = f"{self.metric} of {name} is {figure(estimate.value)}"
        return self._test(name, sentence, estimate, alpha, self.floor)

    def _regression_test(self, name: str, found: Slice, alpha: float) -> PartResult | Hypothesis:
        assert self.max_regression is not None
        name = f"{name} regression"
        try:
            difference = found.differences.get(self.metric)
            if difference is None:
                raise Unusable("not_measured", f"{name}: no difference of {self.metric} to the incumbent.")
            paired = admit_difference(difference, self.metric, f"{self.metric} of {name}")
        except Unusable as error:
            return error_part(name, error)
        word = "better" if paired.change >= 0 else "worse"
        sentence = f"{name}: {self.metric} is {figure(abs(paired.change))} {word} than the incumbent's"
        return self._test(name, sentence, paired.as_estimate(1), alpha, -self.max_regression)

    def _test(self, name: str, measured: str, estimate: Estimate, alpha: float, bound: float) -> Hypothesis:
        interval = estimate.interval(alpha)
        sentence = f"{measured} ({span(interval.low, interval.high)}, n = {estimate.n:,})"
        part = PartResult(
            name,
            "inconclusive",
            sentence,
            observed=estimate.value,
            interval=interval,
            bound=f"≥ {figure(bound)}",
            n=estimate.n,
        )
        return Hypothesis(part, estimate, interval, bound)

    def _sentence(self, parts: Sequence[PartResult], others: Sequence[str]) -> str:
        ended = [part for part in parts if part.outcome != "passed"]
        if ended:
            more = f" {counted(len(ended) - 1, 'more finding')} like it below." if len(ended) > 1 else ""
            text = f"{ended[0].sentence}{more}"
        else:
            text = f"Every expected slice of {self.dimension} keeps its limits."
        if others:
            shown = joined([*others[:5], *(["others"] if len(others) > 5 else [])])
            text += f" Not judged: {shown}."
        return text


def _concluded(judged: Sequence[PartResult | Hypothesis], alpha: float) -> list[PartResult]:
    """Holm's step-down over all tests: harm is shown where p_(i) ≤ alpha/(m − i + 1) for this i and all before it."""
    tested = [(index, each) for index, each in enumerate(judged) if isinstance(each, Hypothesis)]
    chances = sorted((each.estimate.chance_of_harm(each.bound), index) for index, each in tested)
    harmful: set[int] = set()
    for step, (chance, index) in enumerate(chances):
        if chance > alpha / (len(chances) - step):
            break
        harmful.add(index)
    return [
        _part(each, index in harmful) if isinstance(each, Hypothesis) else each
        for index, each in enumerate(judged)
    ]


def _part(test: Hypothesis, is_harmful: bool) -> PartResult:
    part = test.part
    if is_harmful:
        return replace(part, outcome="failed", sentence=f"{part.sentence}, which is not {part.bound}.")
    if test.interval.low >= test.bound:
        return replace(part, outcome="passed", sentence=f"{part.sentence}, which is {part.bound}.")
    return replace(part, sentence=f"{part.sentence}: too uncertain to say whether it is {part.bound}.")
