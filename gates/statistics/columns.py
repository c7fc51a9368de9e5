"""Columns of a per-example table: which there may be, of which types, and their values as arrays.

`id` names the row, `label` is the truth, `score` and `prediction` are what the model gave, `value.NAME` is a number
such as a latency, and `slice.DIMENSION` is text that puts the row into a part of the data.
"""

import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gates.statistics.arrays import Floats, Integers
from gates.statistics.refusals import StatisticsRefused

MAX_VALUES: Final = 16
"""Columns `value.NAME`: each makes four metrics, and a record has an end."""
MAX_DIMENSIONS: Final = 32
MAX_TEXT: Final = 256
"""Characters of a slice's value and of a class's name."""
MAX_SLICES: Final = 1000
"""Values of one dimension."""
VALUE: Final = "value."
SLICE: Final = "slice."

# As the names in a record: one line without control characters and without what turns the direction of text.
_LINE: Final = re.compile("[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
_KNOWN: Final = ("id", "label", "score", "prediction")
_PREFIXED: Final = re.compile(r"value\.[a-z0-9_]{1,64}|slice\.[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)

Column = Any
"""A pyarrow array or chunked array; the package ships no types."""


def check_names(names: list[str]) -> None:
    """StatisticsRefused when a column is missing, unknown, or there twice."""
    for prefix, most in ((VALUE, MAX_VALUES), (SLICE, MAX_DIMENSIONS)):
        found = sum(name.startswith(prefix) for name in names)
        if found > most:
            raise StatisticsRefused(f"the table has {found:,} columns {prefix}NAME; at most {most} are taken")
    if len(set(names)) != len(names):
        raise StatisticsRefused("a column name occurs twice; name every column once")
    for name in names:
        if name not in _KNOWN and _PREFIXED.fullmatch(name) is None:
            raise StatisticsRefused(
                f"the column {name[:80]!a} is none of id, label, score, prediction, value.NAME and slice.DIMENSION; "
                "rename it or leave it out; the name of a value has small letters, digits and underscores"
            )
    for name in ("id", "label"):
        if name not in names:
            raise StatisticsRefused(f"the table has no column {name}; add it")


def ids(column: Column) -> Column:
    """The ids as large_string or int64, unique. Raises StatisticsRefused."""
    plain = _decoded(column)
    if pa.types.is_integer(plain.type):
        found = _cast(plain, pa.int64(), "id")
    elif _is_text(plain.type):
        found = plain.cast(pa.large_string())
    else:
        raise StatisticsRefused(f"the column id has the type {plain.type}; give texts or integers")
    found = _whole(found)
    if pc.count_distinct(found).as_py() != len(found):
        raise StatisticsRefused("the column id holds an id twice; give one row for each example")
    return found


def numbers(column: Column, name: str) -> Floats:
    """Finite numbers. Raises StatisticsRefused."""
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise StatisticsRefused(f"the column {name} has the type {column.type}; give numbers")
    found = np.asarray(_whole(_cast(column, pa.float64(), name)).to_numpy(zero_copy_only=False))
    if not np.isfinite(found).all():
        raise StatisticsRefused(f"the column {name} holds NaN or an infinite number; give finite numbers")
    return found


def zeros_and_ones(column: Column, name: str) -> Integers:
    """0 and 1 of booleans or integers. Raises StatisticsRefused."""
    if not (pa.types.is_boolean(column.type) or pa.types.is_integer(column.type)):
        raise StatisticsRefused(
            f"the column {name} has the type {column.type}; of a binary task give booleans or the integers 0 and 1"
        )
    found = np.asarray(_whole(_cast(column, pa.int64(), name)).to_numpy(zero_copy_only=False))
    if ((found != 0) & (found != 1)).any():
        raise StatisticsRefused(f"the column {name} holds other integers than 0 and 1")
    return found


def class_names(column: Column, name: str) -> Column:
    """Classes as large_string, at most MAX_TEXT characters each. Raises StatisticsRefused."""
    plain = _decoded(column)
    if not (_is_text(plain.type) or pa.types.is_integer(plain.type)):
        raise StatisticsRefused(
            f"the column {name} has the type {plain.type}; of a multiclass task give texts or integers"
        )
    found = _whole(plain.cast(pa.large_string()))
    _check_lengths(found, name)
    return found


def parts(column: Column, name: str) -> tuple[Integers, tuple[str, ...]]:
    """Of each row the place of its slice in the sorted values that occur. Raises StatisticsRefused."""
    if not _is_text(_value_type(column.type)):
        raise StatisticsRefused(f"the column {name} has the type {column.type}; give texts")
    plain = _whole(_decoded(column).cast(pa.large_string()))
    values = pc.unique(plain)
    if len(values) > MAX_SLICES:
        raise StatisticsRefused(
            f"the column {name} has {len(values):,} values; at most {MAX_SLICES:,} are taken, so group them"
        )
    _check_lengths(values, name)
    names = sorted(values.to_pylist())
    if not all(_LINE.fullmatch(each) for each in names):
        raise StatisticsRefused(
            f"the column {name} holds an empty text or a control character; name every slice in one line"
        )
    codes = pc.index_in(plain, value_set=pa.array(names, pa.large_string()))
    return np.asarray(codes.to_numpy(zero_copy_only=False)).astype(np.int64), tuple(names)


def _decoded(column: Column) -> Column:
    value_type = _value_type(column.type)
    return column if value_type is column.type else column.cast(value_type)


def _value_type(kind: Column) -> Column:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: Column) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _cast(column: Column, kind: Column, name: str) -> Column:
    try:
        # Integers beyond 2^53 would lose digits as floats, an unsigned one beyond 2^63 its meaning.
        return column.cast(kind)
    except pa.ArrowInvalid:
        raise StatisticsRefused(f"the column {name} holds a number that does not fit {kind}") from None


def _whole(column: Column) -> Column:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _check_lengths(texts: Column, name: str) -> None:
    longest = pc.max(pc.utf8_length(texts)).as_py()
    if longest is not None and longest > MAX_TEXT:
        raise StatisticsRefused(
            f"the column {name} holds a text of {longest:,} characters; at most {MAX_TEXT} are taken"
        )
