"""CSV records as texts. Arrow's reader refuses what does not fit; DuckDB's sniffer drops lines in silence."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.csv as arrow_csv

from gates.contracts.engine.opened import OpenFile
from gates.contracts.engine.refusals import DataUnreadable

_LONGEST_HEADER: Final = 2**20
_BLOCK: Final = 2**23
"""Bytes."""
_DELIMITERS: Final = ",;\t|"


def read_header(files: Sequence[OpenFile]) -> tuple[list[str], str]:
    """The names that every file starts with, as written, and the delimiter between them; DataUnreadable."""
    found = [_header(file) for file in files]
    for file, header in zip(files, found, strict=True):
        if header != found[0]:
            raise DataUnreadable(
                f"{file.path} has another header than {files[0].path}. Give all files the same."
            )
    return found[0]


def read_texts(files: Sequence[OpenFile], names: Sequence[str], delimiter: str) -> Iterator[pa.RecordBatch]:
    """Batches whose columns are all texts, under the given names; empty fields are null. DataUnreadable."""
    for file in files:
        _require_closed_quotes(file)
        options = {
            "read_options": arrow_csv.ReadOptions(
                column_names=list(names), skip_rows_after_names=1, block_size=_BLOCK, use_threads=False
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                # With one column an empty line is a row whose value is null.
                ignore_empty_lines=len(names) > 1,
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
            ),
        }
        try:
            with arrow_csv.open_csv(file.address, **options) as reader:
                yield from reader
        except pa.ArrowInvalid as error:
            raise DataUnreadable(f"{file.path} {_complaint(str(error))}") from None


def _header(file: OpenFile) -> tuple[list[str], str]:
    if file.size == 0:
        raise DataUnreadable(
            f"{file.path} is empty: it has not even a header. Write the names of its columns."
        )
    with open(file.address, "rb") as opened:
        start = opened.read(_LONGEST_HEADER)
    try:
        text = start.decode("utf-8-sig", errors="strict" if file.size <= _LONGEST_HEADER else "ignore")
    except UnicodeDecodeError:
        raise DataUnreadable(f"{file.path} is not UTF-8. Write it again in UTF-8.") from None
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), []), delimiter


def _require_closed_quotes(file: OpenFile) -> None:
    """A text whose quote is never closed would swallow the rows after it: Arrow reads on without a word."""
    quotes = 0
    with open(file.address, "rb") as opened:
        while block := opened.read(_BLOCK):
            quotes += block.count(b'"')
    if quotes % 2:
        raise DataUnreadable(
            f"{file.path} has an odd number of quotes: one is never closed. Write a quote within a text twice."
        )


def _complaint(message: str) -> str:
    """Arrow quotes the row, so only its kind is passed on."""
    if "Expected" in message and "columns" in message:
        return "has rows with another number of fields than its header. Quote texts that hold the delimiter."
    if "UTF8" in message:
        return "is not UTF-8. Write it again in UTF-8."
    return "can't be read as CSV. Check its quotes."
