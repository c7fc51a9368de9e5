"""Metrics of classes from a table of counts: label by the predictions of every model, rows of a cell being alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from gates.statistics.arrays import Floats, Integers
from gates.statistics.resampling import Replicate

_One = Callable[[Floats, Floats, Floats], Floats]
"""Of right, predicted and labelled counts (resamples × classes each) one value a resample."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """`sizes` (cells); `label` (cells) and `predictions` (models × cells) are classes, `classes` how many there are."""

    sizes: Integers
    label: Integers
    predictions: Integers
    classes: int


def cells_of(label: Integers, predictions: Sequence[Integers]) -> Cells:
    columns = [label, *predictions]
    classes = 1 + max(int(column.max()) for column in columns)
    codes = label
    for column in predictions:
        # Numbered anew each time, or many repeats of many classes would run out of integers.
        _, codes = np.unique(codes * classes + column, return_inverse=True)
    _, first, sizes = np.unique(codes, return_index=True, return_counts=True)
    return Cells(sizes, label[first], np.stack([column[first] for column in predictions]), classes)


def precision(cells: Cells) -> Replicate:
    """Of class 1: the share of its predictions that are right."""

    def one(right: Floats, predicted: Floats, labelled: Floats) -> Floats:
        return _shares(right[:, 1], predicted[:, 1])

    return _replicate(cells, one)


def f1(cells: Cells) -> Replicate:
    """Of class 1: 2·right / (predicted + labelled)."""

    def one(right: Floats, predicted: Floats, labelled: Floats) -> Floats:
        scores = _shares(2 * right[:, 1], predicted[:, 1] + labelled[:, 1])
        return np.where(labelled[:, 1] > 0, scores, np.nan)

    return _replicate(cells, one)


def f1_macro(cells: Cells) -> Replicate:
    """The mean of F1 over the classes that occur, as label or as prediction."""

    def one(right: Floats, predicted: Floats, labelled: Floats) -> Floats:
        scores = _shares(2 * right, predicted + labelled)
        occurs = np.isfinite(scores)
        return np.asarray(np.where(occurs, scores, 0.0).sum(axis=1) / occurs.sum(axis=1))

    return _replicate(cells, one)


def _replicate(cells: Cells, one: _One) -> Replicate:
    label = _indicator(cells.label, cells.classes)
    models = []
    for prediction in cells.predictions:
        right = np.where(prediction == cells.label, prediction, cells.classes)
        models.append((_indicator(right, cells.classes + 1), _indicator(prediction, cells.classes)))

    def replicate(counts: Integers) -> Floats:
        labelled = counts @ label
        values = []
        for right, predicted in models:
            values.append(one((counts @ right)[:, : cells.classes], counts @ predicted, labelled))
        return np.stack(values, axis=1)

    return replicate


def _indicator(place: Integers, width: int) -> sparse.csr_array:
    """Cells × classes: 1 where the cell counts for the class."""
    return sparse.csr_array((np.ones(len(place)), (np.arange(len(place)), place)), shape=(len(place), width))


def _shares(part: Floats, whole: Floats) -> Floats:
    made: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return made
