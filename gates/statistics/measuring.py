"""All metrics of some rows with their standard errors, and their paired differences to the incumbent."""

from gates.statistics.aligning import Rows
from gates.statistics.closed_forms import closed_forms
from gates.statistics.measured import Measured, Values
from gates.statistics.points import points
from gates.statistics.resampled import resampled
from gates.statistics.resampling import Plan, Step


def measure(rows: Rows, plan: Plan, step: Step) -> Measured:
    """Of each metric that is defined in every repeat of the candidate; a difference where it is so in every repeat of
    the incumbent too. A metric without a standard error is left out. `step` is told of all resamples."""
    values = point_estimates(rows)
    made = closed_forms(rows, values)
    rest = {name: each for name, each in values.items() if name not in made}
    made |= resampled(rows, rest, plan, step)
    kept = {name: made[name] for name in values if name in made}
    return Measured(
        {name: each.metric for name, each in kept.items()},
        {name: each.difference for name, each in kept.items() if each.difference is not None},
        values,
    )


def point_estimates(rows: Rows) -> dict[str, Values]:
    candidate = [points(rows, model) for model in rows.candidate]
    incumbent = [points(rows, model) for model in rows.incumbent]
    made = {}
    for name in candidate[0]:
        if all(name in each for each in candidate):
            others = tuple(each[name] for each in incumbent if name in each)
            complete = len(others) == len(incumbent)
            made[name] = Values(tuple(each[name] for each in candidate), others if complete else ())
    return made
