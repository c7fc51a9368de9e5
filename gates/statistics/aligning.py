"""Several evaluations of the same examples as one set of rows: the repeats of the candidate, and of the incumbent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gates.statistics.arrays import Floats, Integers, Numbers
from gates.statistics.columns import Column
from gates.statistics.examples import Examples, Task
from gates.statistics.refusals import StatisticsRefused

MAX_CLASSES: Final = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What one evaluation gave for the rows. `prediction`: numbers of classes, or the floats of a regression."""

    score: Floats | None
    prediction: Numbers | None
    values: Mapping[str, Floats]

    def at(self, rows: Integers) -> "Predictions":
        return Predictions(
            None if self.score is None else self.score[rows],
            None if self.prediction is None else self.prediction[rows],
            {name: values[rows] for name, values in self.values.items()},
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """`label`: numbers of classes from 0, of a binary task 1 is positive; or the floats of a regression. `incumbent` is
    empty when there is none to compare with."""

    task: Task
    label: Numbers
    candidate: tuple[Predictions, ...]
    incumbent: tuple[Predictions, ...]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def positives(self) -> int | None:
        return int(np.count_nonzero(self.label)) if self.task == "binary" else None

    def at(self, rows: Integers) -> "Rows":
        return replace(
            self,
            label=self.label[rows],
            candidate=tuple(each.at(rows) for each in self.candidate),
            incumbent=tuple(each.at(rows) for each in self.incumbent),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Dimension:
    """`parts` is of each row the place in `names`; every name occurs."""

    parts: Integers
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    rows: Rows
    dimensions: Mapping[str, Dimension]


def align(task: Task, candidate: Sequence[Examples], incumbent: Sequence[Examples]) -> Aligned:
    """All evaluations in the order of the candidate's first. StatisticsRefused when they are not about the same
    examples with the same labels and slices: then at least one did not measure the data set whole, or not this one."""
    first = candidate[0]
    tables = [first]
    for number, other in enumerate([*candidate[1:], *incumbent], 1):
        tables.append(_in_order_of(first, other, _name(number, len(candidate))))
    for number, table in enumerate(tables[1:], 1):
        _require_same(first, table, _name(number, len(candidate)))
    coded = _coded(task, tables)
    label = coded[0][0]
    predictions = [
        Predictions(table.score, prediction, table.values)
        for table, (_, prediction) in zip(tables, coded, strict=True)
    ]
    rows = Rows(task, label, tuple(predictions[: len(candidate)]), tuple(predictions[len(candidate) :]))
    return Aligned(rows, {name: Dimension(*given) for name, given in first.slices.items()})


def _name(number: int, candidates: int) -> str:
    if number < candidates:
        return f"repeat {number} of the candidate"
    return f"repeat {number - candidates} of the incumbent"


def _in_order_of(first: Examples, other: Examples, name: str) -> Examples:
    if first.rows != other.rows or first.ids.type != other.ids.type:
        raise _other_examples(name)
    if first.ids.equals(other.ids):
        return other
    found = pc.index_in(first.ids, value_set=other.ids)
    if found.null_count:
        raise _other_examples(name)
    order = np.asarray(found.to_numpy(zero_copy_only=False)).astype(np.int64)
    return Examples(
        ids=first.ids,
        label=_taken(other.label, order),
        score=None if other.score is None else other.score[order],
        prediction=None if other.prediction is None else _taken(other.prediction, order),
        values={each: values[order] for each, values in other.values.items()},
        slices={each: (parts[order], names) for each, (parts, names) in other.slices.items()},
    )


def _other_examples(name: str) -> StatisticsRefused:
    return StatisticsRefused(
        f"{name} has other ids than the first evaluation of the candidate; both must measure every example of the "
        "data set, so evaluate again what lacks some"
    )


def _taken(column: Column, order: Integers) -> Column:
    return column[order] if isinstance(column, np.ndarray) else column.take(pa.array(order))


def _require_same(first: Examples, other: Examples, name: str) -> None:
    if isinstance(first.label, np.ndarray):
        same = np.array_equal(first.label, other.label)
    else:
        same = first.label.equals(other.label)
    if not same:
        raise StatisticsRefused(
            f"{name} has other labels than the first evaluation of the candidate; the labels of one snapshot are the "
            "same for every model, so evaluate both on it again"
        )
    for dimension in first.slices.keys() & other.slices.keys():
        (parts, names), (others, other_names) = first.slices[dimension], other.slices[dimension]
        if names != other_names or not np.array_equal(parts, others):
            raise StatisticsRefused(
                f"{name} puts examples into other slices of {dimension} than the first evaluation of the candidate; "
                "take the slices from the data set"
            )


def _coded(task: Task, tables: Sequence[Examples]) -> list[tuple[Numbers, Numbers | None]]:
    """Labels and predictions; the classes of a multiclass task become their numbers in the order of their names."""
    if task != "multiclass":
        return [(table.label, table.prediction) for table in tables]
    given = [table.label for table in tables[:1]]
    given += [table.prediction for table in tables if table.prediction is not None]
    names = pc.unique(pa.chunked_array(given))
    if len(names) > MAX_CLASSES:
        raise StatisticsRefused(f"there are {len(names):,} classes; at most {MAX_CLASSES:,} are taken")
    classes = pa.array(sorted(names.to_pylist()), pa.large_string())

    def numbered(column: Column) -> Integers:
        return np.asarray(pc.index_in(column, value_set=classes)).astype(np.int64)

    return [
        (numbered(table.label), None if table.prediction is None else numbered(table.prediction))
        for table in tables
    ]
