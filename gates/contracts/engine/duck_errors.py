"""DuckDB's errors as sentences. Its own texts quote values and whole lines of the data, so none is passed on."""

import re
from typing import Final

import duckdb

_LINE: Final = re.compile(r"CSV Error on Line: (\d+)")

_SENTENCES: Final[tuple[tuple[type[duckdb.Error], str], ...]] = (
    (
        duckdb.OutOfMemoryException,
        "The query needed more memory, or more room for temporary files, than its limit. Give the worker more, or "
        "check fewer columns.",
    ),
    (duckdb.PermissionException, "The query asked for a file or setting that is locked."),
    (duckdb.ConversionException, "A value can't be converted to the type that the check needs."),
    (duckdb.OutOfRangeException, "A number is beyond the range of its type."),
    (duckdb.ParserException, "The query is not valid SQL."),
    (duckdb.CatalogException, "The query names a table or function that does not exist."),
    (duckdb.BinderException, "The check does not fit the columns' types or names."),
    (duckdb.InvalidInputException, "The data or an argument of the check is not valid."),
    (duckdb.IOException, "The file could not be read to its end."),
)


def explained(error: duckdb.Error) -> str:
    """A sentence without a value of the data; for CSV with the number of the line."""
    text = str(error)
    if line := _LINE.search(text):
        return f"The CSV file can't be read as a table: line {line[1]} does not fit the others."
    if text.startswith("INTERRUPT"):
        return "The query was stopped."
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return sentence
    return f"The query failed ({type(error).__name__})."
