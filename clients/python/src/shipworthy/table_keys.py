"""The keys of a table's rows, for a sketch that tells whether two tables share rows."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from shipworthy.errors import UsageError
from shipworthy.formats.key_sketch import make_sketch


def sketch_of_table(path: Path, columns: Sequence[str]) -> bytes:
    """The key sketch of a CSV file with a header, or of a Parquet file or a folder of them (needs pyarrow).

    Every value counts as its text, so that 7 in a Parquet file and 7 in a CSV file are one key. Raises UsageError for a
    column that is not there, an empty value, or a file that is neither.
    """
    rows = _csv_rows(path, columns) if path.suffix.lower() == ".csv" else _parquet_rows(path, columns)
    try:
        return make_sketch(rows)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error


def _csv_rows(path: Path, columns: Sequence[str]) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        places = [_place(header, column, path) for column in columns]
        for number, row in enumerate(reader, start=2):
            if not row:
                continue
            if len(row) != len(header):
                raise UsageError(f"{path}:{number} has {len(row)} values, the header names {len(header)}")
            yield [_text(row[place], column, path) for place, column in zip(places, columns, strict=True)]


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[list[str]]:
    try:
        from pyarrow import dataset
        from pyarrow.lib import ArrowException
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{path}: reading keys of anything but CSV needs pyarrow; pip install pyarrow"
        ) from error
    try:
        table = dataset.dataset(path, format="parquet")
        for column in columns:
            _place(table.schema.names, column, path)
        for batch in table.to_batches(columns=list(columns)):
            listed = [batch.column(column).to_pylist() for column in columns]
            for row in zip(*listed, strict=True):
                yield [_text(value, column, path) for value, column in zip(row, columns, strict=True)]
    except (ArrowException, OSError) as error:
        raise UsageError(f"{path} is no table that can be read: {error}") from error


def _place(names: Sequence[str], column: str, path: Path) -> int:
    if list(names).count(column) != 1:
        raise UsageError(f"{path} has no single column {column!r}; it has: {', '.join(names)[:300]}")
    return list(names).index(column)


def _text(value: object, column: str, path: Path) -> str:
    if value is None or value == "" or isinstance(value, float):
        raise UsageError(
            f"{path}: column {column!r} holds {value!r}; a key is a text or a whole number in every row"
        )
    return str(value)
