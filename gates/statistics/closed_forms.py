"""Metrics whose standard error has a formula: proportions, means, and the area under the ROC curve."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from gates.statistics import delong
from gates.statistics.aligning import Predictions, Rows
from gates.statistics.arrays import Booleans, Floats, Numbers
from gates.statistics.measured import Difference, Metric, Values
from gates.statistics.points import binary_losses, label_losses
from gates.statistics.standard_errors import (
    ONE_EACH_WAY,
    ONE_OF_EACH,
    counts_of,
    error_of_mean,
    mean_over_repeats,
    with_repeats,
)

LEAST_ROWS: Final = 2
"""One row has no spread, and one example of a class no rank among its like."""

PerRow = Callable[[Predictions], Floats]


@dataclass(frozen=True, slots=True)
class Made:
    """A metric, and its difference to the incumbent where there is one."""

    metric: Metric
    difference: Difference | None


def closed_forms(rows: Rows, values: Mapping[str, Values]) -> dict[str, Made]:
    """Of the metrics in `values`, all point estimates, those that have a formula and rows enough for it."""
    made: dict[str, Made] = {}
    if len(rows) < LEAST_ROWS:
        return made
    hits = _hits(rows)
    if "accuracy" in values:
        everything = np.ones(len(rows), dtype=np.bool_)
        made["accuracy"] = _proportion(rows, values["accuracy"], hits, everything)
    if "recall" in values:
        made["recall"] = _proportion(rows, values["recall"], hits, rows.label == 1)
    if "balanced_accuracy" in values:
        made["balanced_accuracy"] = _mean_of_recalls(rows, values["balanced_accuracy"], hits)
    for name, per_row in _means(rows).items():
        if name in values:
            made[name] = _mean(rows, values[name], per_row)
    if "roc_auc" in values:
        positives = np.count_nonzero(rows.label)
        if min(positives, len(rows) - positives) >= LEAST_ROWS:
            made["roc_auc"] = _roc_auc(rows, values["roc_auc"])
    return made


def _proportion(rows: Rows, values: Values, hits: PerRow, of: Booleans) -> Made:
    candidate = [hits(model)[of] for model in rows.candidate]
    n = len(candidate[0])
    mean = mean_over_repeats(candidate)
    error = error_of_mean(mean, ONE_OF_EACH)
    counts = counts_of(candidate, with_repeats(error, values.candidate))
    difference = None
    if values.incumbent:
        against = mean_over_repeats([hits(model)[of] for model in rows.incumbent])
        difference = values.difference(error_of_mean(mean - against, ONE_EACH_WAY), n, "closed-form")
    return Made(values.metric(error, n, "wilson", counts), difference)


def _mean_of_recalls(rows: Rows, values: Values, hits: PerRow) -> Made:
    """Each class has its own examples, so the variances of their recalls add up."""
    candidate = mean_over_repeats([hits(model) for model in rows.candidate])
    classes = np.unique(rows.label)
    error = _error_over_classes(rows, candidate, ONE_OF_EACH) / len(classes)
    difference = None
    if values.incumbent:
        against = mean_over_repeats([hits(model) for model in rows.incumbent])
        paired = _error_over_classes(rows, candidate - against, ONE_EACH_WAY) / len(classes)
        difference = values.difference(paired, len(rows), "closed-form")
    return Made(values.metric(error, len(rows), "closed-form"), difference)


def _error_over_classes(rows: Rows, of_rows: Floats, added: tuple[float, float]) -> float:
    classes = np.unique(rows.label)
    return float(np.sqrt(sum(error_of_mean(of_rows[rows.label == each], added) ** 2 for each in classes)))


def _mean(rows: Rows, values: Values, per_row: PerRow) -> Made:
    candidate = mean_over_repeats([per_row(model) for model in rows.candidate])
    difference = None
    if values.incumbent:
        against = mean_over_repeats([per_row(model) for model in rows.incumbent])
        difference = values.difference(error_of_mean(candidate - against), len(rows), "closed-form")
    return Made(values.metric(error_of_mean(candidate), len(rows), "closed-form"), difference)


def _roc_auc(rows: Rows, values: Values) -> Made:
    is_positive = rows.label == 1

    def placed(models: tuple[Predictions, ...]) -> delong.Placements:
        scores = [model.score for model in models if model.score is not None]
        return delong.mean_placements([delong.placements(score, is_positive) for score in scores])

    candidate = placed(rows.candidate)
    difference = None
    if values.incumbent:
        paired = delong.minus(candidate, placed(rows.incumbent))
        difference = values.difference(delong.error_of(paired), len(rows), "delong")
    return Made(values.metric(delong.error_of(candidate), len(rows), "delong"), difference)


def _hits(rows: Rows) -> PerRow:
    return lambda model: np.equal(_given(model.prediction), rows.label).astype(np.float64)


def _means(rows: Rows) -> dict[str, PerRow]:
    """Of every metric that is a mean, what each row adds to it."""
    made: dict[str, PerRow] = {}
    if rows.task == "regression":
        made["mean_absolute_error"] = lambda model: np.abs(_given(rows.label) - _given(model.prediction))
    elif rows.task == "multiclass":
        made["log_loss"] = lambda model: label_losses(_given(model.score))
    else:
        made["log_loss"] = lambda model: binary_losses(rows.label, _given(model.score))
        made["brier_score"] = lambda model: np.square(_given(model.score) - rows.label)
    for name in rows.candidate[0].values:
        made[f"mean_{name}"] = _of_value(name)
    return made


def _of_value(name: str) -> PerRow:
    return lambda model: model.values[name]


def _given(array: Numbers | None) -> Floats:
    """A metric has a point estimate only where its column is there."""
    assert array is not None
    return array.astype(np.float64, copy=False)
