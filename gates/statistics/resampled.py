"""Metrics without a formula: their standard errors from resamples, both models on the same ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gates.statistics import cells, replicates
from gates.statistics.aligning import Predictions, Rows
from gates.statistics.arrays import Floats, Integers, Numbers
from gates.statistics.closed_forms import LEAST_ROWS, Made
from gates.statistics.measured import Metric, Values
from gates.statistics.points import QUANTILES
from gates.statistics.resampling import Plan, Replicate, Step, error_of, resample_cells, resample_rows
from gates.statistics.standard_errors import (
    ONE_OF_EACH,
    counts_like,
    counts_of,
    error_of_mean,
    least_error,
)

_OF_CELLS: Mapping[str, Callable[[cells.Cells], Replicate]] = {
    "precision": cells.precision,
    "f1": cells.f1,
    "f1_macro": cells.f1_macro,
}


def resampled(rows: Rows, values: Mapping[str, Values], plan: Plan, step: Step) -> dict[str, Made]:
    """Of the metrics in `values` those that are resampled and have a value in nearly all resamples."""
    if len(rows) < LEAST_ROWS:
        return {}
    drawn = _of_cells(rows, values, plan) | _of_rows(rows, values, plan, step)
    made = {}
    for name, replicates_of_models in drawn.items():
        found = _made(rows, name, values[name], replicates_of_models)
        if found is not None:
            made[name] = found
    return made


def _made(rows: Rows, name: str, values: Values, drawn: Floats) -> Made | None:
    """`drawn`: resamples × models, the candidate's repeats first."""
    repeats = len(values.candidate)
    candidate = drawn[:, :repeats].mean(axis=1)
    error = error_of(candidate)
    if error is None:
        return None
    floor = _floor(rows, name)
    metric = values.metric(max(error, floor), len(rows), "bootstrap")
    if name == "precision":
        metric = _as_proportion(rows, metric)
    if not values.incumbent:
        return Made(metric, None)
    paired = error_of(candidate - drawn[:, repeats:].mean(axis=1))
    if paired is None:
        return Made(metric, None)
    return Made(metric, values.difference(max(paired, floor), len(rows), "bootstrap"))


def _floor(rows: Rows, name: str) -> float:
    """Where the metric lies between 0 and 1: resamples of models that agree, or never err, have no spread at all."""
    if name == "average_precision" or name in _OF_CELLS:
        _, sizes = np.unique(rows.label, return_counts=True)
        share = 1 if rows.task == "binary" else len(sizes)
        return least_error(*sizes.tolist()) / share
    return 0.0


def _as_proportion(rows: Rows, metric: Metric) -> Metric:
    """A precision is a proportion of what was predicted positive, so that it has a Wilson interval as well."""
    predicted = [_classes(model) == 1 for model in rows.candidate]
    n = min(int(np.count_nonzero(each)) for each in predicted)
    if len(predicted) > 1:
        return replace(
            metric, n=n, method="wilson", counts=counts_like(metric.estimate, metric.standard_error, n)
        )
    right = (rows.label[predicted[0]] == 1).astype(np.float64)
    error = error_of_mean(right, ONE_OF_EACH)
    return replace(metric, n=n, standard_error=error, method="wilson", counts=counts_of([right], error))


def _of_cells(rows: Rows, values: Mapping[str, Values], plan: Plan) -> dict[str, Floats]:
    wanted = [name for name in _OF_CELLS if name in values]
    if not wanted:
        return {}
    models = _compared(rows, values[wanted[0]])
    table = cells.cells_of(rows.label.astype(np.int64), [_classes(model) for model in models])
    return resample_cells(table.sizes, {name: _OF_CELLS[name](table) for name in wanted}, plan)


def _of_rows(rows: Rows, values: Mapping[str, Values], plan: Plan, step: Step) -> dict[str, Floats]:
    wanted: dict[tuple[str, ...], Replicate] = {}
    for names, one in _by_rows(rows).items():
        if names[0] in values:
            wanted[names] = replicates.of_models([one(model) for model in _compared(rows, values[names[0]])])
    if not wanted:
        step(plan.resamples)
        return {}
    made = {}
    for names, drawn in resample_rows(len(rows), wanted, plan, step).items():
        for place, name in enumerate(names):
            made[name] = drawn if len(names) == 1 else drawn[:, :, place]
    return made


def _compared(rows: Rows, values: Values) -> Sequence[Predictions]:
    return [*rows.candidate, *rows.incumbent] if values.incumbent else rows.candidate


def _by_rows(rows: Rows) -> dict[tuple[str, ...], Callable[[Predictions], replicates.One]]:
    """By the names of what is made in one go."""
    made: dict[tuple[str, ...], Callable[[Predictions], replicates.One]] = {}
    label = rows.label
    if rows.task == "binary":
        made["average_precision",] = lambda model: replicates.average_precision(
            _given(model.score), label == 1
        )
    elif rows.task == "regression":
        made["root_mean_squared_error",] = lambda model: replicates.root_mean_squared_error(
            label, _given(model.prediction)
        )
        made["r2",] = lambda model: replicates.r2(label, _given(model.prediction))
    for name in rows.candidate[0].values:
        made[tuple(f"{text}_{name}" for text in QUANTILES)] = _quantiles_of(name)
    return made


def _quantiles_of(name: str) -> Callable[[Predictions], replicates.One]:
    return lambda model: replicates.quantiles(model.values[name], tuple(QUANTILES.values()))


def _classes(model: Predictions) -> Integers:
    return _given(model.prediction).astype(np.int64)


def _given(array: Numbers | None) -> Floats:
    """A metric has a point estimate only where its column is there."""
    assert array is not None
    return array.astype(np.float64, copy=False)
