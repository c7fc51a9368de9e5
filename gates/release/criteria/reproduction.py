"""reproduction: a run of the same recipe gives the same again, as far as the examples can tell."""

from typing import Annotated, Literal

from pydantic import Field

from gates.release.context import Context
from gates.release.criteria.base import MetricCriterion
from gates.release.criteria.other_runs import other_inputs, require_usable_run, value_of
from gates.release.estimates import estimate_of
from gates.release.numbers import Unusable
from gates.release.results import Finding, PartResult
from gates.release.texts import counted, figure, span


class Reproduction(MetricCriterion):
    """Every repeat of the recipe has to fall into the interval of the candidate. The interval is the one at the whole
    alpha of the policy: at that of a late attempt it would be wider, and easier to hit."""

    kind: Literal["reproduction"]
    runs: Annotated[int, Field(ge=1, le=1000)]

    def judge(self, context: Context) -> Finding:
        statistics = context.statistics(self.level)
        estimate = estimate_of(statistics, self.metric)
        alpha = context.require_protocol().attempts.alpha
        interval = estimate.interval(alpha)
        run = context.training_run()
        if run.recipe_digest is None:
            raise Unusable(
                "no_recipe", "The training run has no recipe digest: an input of it is not resolved."
            )
        values: dict[str, float] = {}
        for other in reversed(context.facts.repeats):
            if other.run_id == run.run_id:
                continue
            require_usable_run(other, context, self.level)
            values.setdefault(other.run_id, value_of(other, self.metric))
        if len(values) < self.runs:
            sentence = (
                f"{counted(len(values), 'repeat')} of the recipe measured; the policy asks for {self.runs}."
            )
            raise Unusable("too_few_runs", sentence)
        bound = f"{span(interval.low, interval.high)}"
        parts = tuple(
            PartResult(
                name=run_id,
                outcome="passed" if interval.low <= value <= interval.high else "failed",
                sentence=f"Run {run_id} gave {figure(value)}.",
                observed=value,
                interval=interval,
                bound=bound,
            )
            for run_id, value in values.items()
        )
        away = [part for part in parts if part.outcome == "failed"]
        measured = f"{self.metric} is {figure(estimate.value)} ({bound})"
        if away:
            outside = f"{len(away)} of {counted(len(parts), 'repeat')} lies outside"
            sentence = f"{measured}, but {outside}: {away[0].sentence}"
        else:
            sentence = f"{measured}, and {counted(len(parts), 'repeat')} of its recipe lies within."
        return Finding(
            outcome="failed" if away else "passed",
            sentence=sentence,
            observed=(away or parts)[0].observed,
            interval=interval,
            bound=f"within {bound}",
            n=len(parts),
            method=estimate.method,
            alpha=alpha,
            inputs=(
                *context.statistics_inputs(statistics),
                *other_inputs(
                    "repeat", (each for each in context.facts.repeats if each.run_id != run.run_id)
                ),
            ),
            parts=parts,
        )
