"""A blob of per-example results, read strictly: Parquet or Arrow IPC, one row for each example, nothing missing.

What is accepted has unique ids, no null, no NaN and known columns; so a metric is made of all rows or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as parquet

from gates.statistics import columns
from gates.statistics.arrays import Floats, Integers
from gates.statistics.bodies import MAX_EXAMPLES_BYTES
from gates.statistics.columns import SLICE, VALUE, Column
from gates.statistics.refusals import StatisticsRefused

MAX_ROWS: Final = 20_000_000
_PARQUET: Final = b"PAR1"
_ARROW_FILE: Final = b"ARROW1"
_FOOTER_STRINGS: Final = 2**24
_FOOTER_ITEMS: Final = 2**20
_THRESHOLD_TOLERANCE: Final = 1e-6
"""Scores are often stored as 32-bit floats, whose digits end there."""

File = Any
Table = Any
"""pyarrow's, which ships no types."""
Task = Literal["binary", "multiclass", "regression"]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """One evaluation. `label` and `prediction`: 0 and 1 of a binary task, large_string of a multiclass task, floats of
    a regression. `score`: of the positive class (binary), the probability given to the row's label (multiclass).
    `slices`: of each dimension the place of every row in the names beside it."""

    ids: Column
    label: Column
    score: Floats | None
    prediction: Column | None
    values: Mapping[str, Floats]
    slices: Mapping[str, tuple[Integers, tuple[str, ...]]]

    @property
    def rows(self) -> int:
        return len(self.ids)


def read_examples(source: str, size: int, task: Task, threshold: float) -> Examples:
    """The table in the file at `source`, of `size` bytes. Raises StatisticsRefused."""
    if size > MAX_EXAMPLES_BYTES:
        raise StatisticsRefused(f"the blob has {size:,} bytes; at most {MAX_EXAMPLES_BYTES:,} are taken")
    try:
        with pa.OSFile(source, "rb") as file:
            table = _table(file)
        table.validate(full=True)  # Offsets of an IPC file may point anywhere.
    except (
        pa.ArrowInvalid,
        pa.ArrowNotImplementedError,
        pa.ArrowTypeError,
        OSError,
        UnicodeDecodeError,
    ) as error:
        raise StatisticsRefused(
            f"the blob is no whole Parquet or Arrow IPC file ({type(error).__name__}); write it again"
        ) from None
    if not 1 <= table.num_rows <= MAX_ROWS:
        raise _rows(table.num_rows)
    for name in table.column_names:
        if table[name].null_count or _has_null_in_dictionary(table[name]):
            raise StatisticsRefused(
                f"the column {name} holds nulls; give every row a value, or leave the column out"
            )
    return _examples(table, task, threshold)


def _table(file: File) -> Table:
    start = file.read(8)
    file.seek(0)
    if start[: len(_PARQUET)] == _PARQUET:
        return _parquet(file)
    is_file = start[: len(_ARROW_FILE)] == _ARROW_FILE
    reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
    columns.check_names(reader.schema.names)
    return reader.read_all()


def _parquet(file: File) -> Table:
    limits = {"thrift_string_size_limit": _FOOTER_STRINGS, "thrift_container_size_limit": _FOOTER_ITEMS}
    footer = parquet.ParquetFile(file, **limits)
    names = footer.schema_arrow.names
    columns.check_names(names)
    if not 1 <= footer.metadata.num_rows <= MAX_ROWS:
        raise _rows(footer.metadata.num_rows)
    file.seek(0)
    # A slice's few values stay a dictionary: as texts they could take gigabytes. What expands all the same ends at
    # the memory limit of the process that reads it.
    parts = [name for name in names if name.startswith(SLICE)]
    return parquet.ParquetFile(file, read_dictionary=parts, **limits).read(use_threads=False)


def _rows(found: int) -> StatisticsRefused:
    return StatisticsRefused(f"the table has {found:,} rows; give at least one and at most {MAX_ROWS:,}")


def _has_null_in_dictionary(column: Column) -> bool:
    if not pa.types.is_dictionary(column.type):
        return False
    return any(chunk.dictionary.null_count for chunk in column.chunks)


def _examples(table: Table, task: Task, threshold: float) -> Examples:
    names = table.column_names
    if "score" not in names and "prediction" not in names:
        raise StatisticsRefused("the table has neither score nor prediction; add what the model gave")
    score = _score(table["score"], task) if "score" in names else None
    prediction = _classes(table["prediction"], "prediction", task) if "prediction" in names else None
    if task == "binary" and score is not None:
        prediction = _thresholded(score, prediction, threshold)
    return Examples(
        ids=columns.ids(table["id"]),
        label=_classes(table["label"], "label", task),
        score=score,
        prediction=prediction,
        values={
            name.removeprefix(VALUE): columns.numbers(table[name], name)
            for name in names
            if name.startswith(VALUE)
        },
        slices={
            name.removeprefix(SLICE): columns.parts(table[name], name)
            for name in names
            if name.startswith(SLICE)
        },
    )


def _classes(column: Column, name: str, task: Task) -> Column:
    if task == "binary":
        return columns.zeros_and_ones(column, name)
    return columns.class_names(column, name) if task == "multiclass" else columns.numbers(column, name)


def _score(column: Column, task: Task) -> Floats:
    if task == "regression":
        raise StatisticsRefused("a regression has no score; name the column prediction")
    if not pa.types.is_floating(column.type):
        raise StatisticsRefused(f"the column score has the type {column.type}; give floats")
    found = columns.numbers(column, "score")
    if task == "multiclass" and ((found < 0) | (found > 1)).any():
        raise StatisticsRefused(
            "the column score of a multiclass task is the probability that the model gave to the row's label; give "
            "numbers from 0 to 1"
        )
    return found


def _thresholded(score: Floats, prediction: Integers | None, threshold: float) -> Integers:
    """1 where the score reaches the threshold that the attempt declared; a prediction beside it must say the same."""
    made = (score >= threshold).astype(np.int64)
    if prediction is None:
        return made
    near = np.abs(score - threshold) <= _THRESHOLD_TOLERANCE * max(abs(threshold), 1.0)
    if ((made != prediction) & ~near).any():
        raise StatisticsRefused(
            "the column prediction differs from score ≥ threshold of the attempt; leave it out, or open the attempt "
            "with the threshold that was used"
        )
    return prediction
