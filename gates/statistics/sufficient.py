"""Metrics from sufficient statistics: n, mean and standard deviation, as an evaluator gave them without its rows.

Nothing of it can be recomputed, so its method is "reported", and it can't be paired with another model.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gates.statistics.measured import Measured, Metric, mean
from gates.statistics.refusals import StatisticsRefused
from gates.statistics.slicing import Slice
from gates.statistics.standard_errors import Counts, counts_like, with_repeats

PROPORTIONS: Final = frozenset({"accuracy", "precision", "recall"})
_WHOLE: Final = 1e-6
"""How near mean × n must come to a whole number to be a count, in parts of n: means are often printed rounded."""

Json = Any


def measured_of(evaluations: Sequence[Mapping[str, Json]]) -> Measured:
    """Of the `statistics` of all repeats, each metric that is whole in every one: a proportion needs n and mean,
    another mean needs its standard deviation too."""
    first, *others = [each["statistics"] for each in evaluations]
    made = {}
    for name in first:
        if all(name in other for other in others):
            metric = _metric(name, [each[name] for each in (first, *others)])
            if metric is not None:
                made[name] = metric
    return Measured(made, {}, {})


def slices_of(evaluations: Sequence[Mapping[str, Json]]) -> tuple[Slice, ...]:
    """Of the `slices` that every repeat has."""
    by_name = [
        {(part["dimension"], part["value"]): part for part in each.get("slices") or ()}
        for each in evaluations
    ]
    made = []
    for dimension, value in sorted(set(by_name[0]).intersection(*by_name[1:])):
        parts = [each[dimension, value] for each in by_name]
        n, positives = rows_of(parts)
        made.append(Slice(dimension, value, n, positives, measured_of(parts)))
    return tuple(made)


def rows_of(evaluations: Sequence[Mapping[str, Json]]) -> tuple[int, int | None]:
    """Rows and positives: the largest n that any metric of the first repeat has, and the positives beside it."""
    summaries = list(evaluations[0]["statistics"].values())
    positives = [each["positives"] for each in summaries if each.get("positives") is not None]
    return max((each["n"] for each in summaries), default=0), max(positives, default=None)


def _metric(name: str, summaries: Sequence[Mapping[str, Json]]) -> Metric | None:
    found = [_one(name, summary) for summary in summaries]
    made = [each for each in found if each is not None]
    if len(made) < len(found):
        return None
    values = tuple(float(summary["mean"]) for summary in summaries)
    # Repeats of the same rows may err together: their mean is known no better than one of them.
    error = max(each.standard_error for each in made)
    error = with_repeats(error, values)
    counts = made[0].counts
    if counts is not None and len(set(values)) > 1:
        counts = counts_like(mean(values), error, counts.trials)
    return Metric(values, error, made[0].n, "reported", counts)


def _one(name: str, summary: Mapping[str, Json]) -> Metric | None:
    n, value, deviation = summary["n"], summary.get("mean"), summary.get("sd")
    if n < 2 or value is None:
        return None
    if name in PROPORTIONS:
        successes = round(value * n)
        if not 0 <= successes <= n or abs(value * n - successes) > max(_WHOLE * n, _WHOLE):
            raise StatisticsRefused(
                f"the reported {name} is no proportion of its n: mean × n must be a whole number from 0 to n"
            )
        share = (successes + 1) / (n + 2)
        error = math.sqrt(share * (1 - share) / (n + 2))
        return Metric((float(value),), error, n, "reported", Counts(successes, n))
    if deviation is None:
        return None
    return Metric((float(value),), deviation / math.sqrt(n), n, "reported")
