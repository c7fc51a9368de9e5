"""CSV files as a table. CSV has no types: they are found over all rows, then widened to what the contract declares."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import duckdb
import pyarrow as pa

from gates.contracts.engine.arrow_schema import table_shape
from gates.contracts.engine.csv_reading import read_header, read_texts
from gates.contracts.engine.opened import DeclaredColumn, Source
from gates.contracts.engine.sql import identifier
from gates.contracts.engine.table import TableShape

_ZONE: Final = r"\s*(Z|[+-]\d{2}(:?\d{2})?)"
_CLOCK: Final = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?"
_WHOLE: Final = r"-?(0|[1-9]\d*)"
_PATTERNS: Final[tuple[tuple[str, str], ...]] = (
    # The first that all values of a column match, and can be cast to, is its type. 007 is a text: it is no number
    # that would be written so.
    ("BIGINT", _WHOLE),
    ("UBIGINT", _WHOLE),
    ("DECIMAL(38, 0)", _WHOLE),
    ("DOUBLE", r"(?i)[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf(inity)?)"),
    ("BOOLEAN", r"(?i)true|false"),
    ("DATE", r"\d{4}-\d{2}-\d{2}"),
    ("TIMESTAMP", _CLOCK),
    ("TIMESTAMPTZ", _CLOCK + _ZONE),
)
_INTEGERS: Final[dict[str, str]] = {
    "int64": "BIGINT", "int32": "INTEGER", "int16": "SMALLINT", "int8": "TINYINT",
    "uint64": "UBIGINT", "uint32": "UINTEGER", "uint16": "USMALLINT", "uint8": "UTINYINT",
}  # fmt: skip
_FITTING: Final[dict[str, dict[str, str]]] = {
    # As what a found type may be read without losing anything: Arrow's name and DuckDB's, best first.
    "BIGINT": _INTEGERS
    | {"float64": "DOUBLE", "float32": "FLOAT", "decimal128": "DECIMAL(38, 0)", "string": "VARCHAR"},
    "UBIGINT": {
        "uint64": "UBIGINT",
        "float64": "DOUBLE",
        "decimal128": "DECIMAL(38, 0)",
        "string": "VARCHAR",
    },
    "DECIMAL(38, 0)": {"decimal128": "DECIMAL(38, 0)", "float64": "DOUBLE", "string": "VARCHAR"},
    "DOUBLE": {"float64": "DOUBLE", "float32": "FLOAT", "string": "VARCHAR"},
    "BOOLEAN": {"bool": "BOOLEAN", "string": "VARCHAR"},
    "DATE": {"date32": "DATE", "timestamp": "TIMESTAMP", "string": "VARCHAR"},
    "TIMESTAMP": {"timestamp": "TIMESTAMP", "string": "VARCHAR"},
    "TIMESTAMPTZ": {"timestamp_tz": "TIMESTAMPTZ", "string": "VARCHAR"},
}
_EMPTY: Final = ""
_FIRST_ROWS: Final = 100


def load(connection: duckdb.DuckDBPyConnection, source: Source) -> TableShape:
    """Reads the files once into a table, which spills into the temporary folder, and makes the view `data`.

    Empty fields are null. A column without any value takes the declared type, or else text. Raises DataUnreadable.
    """
    header, delimiter = read_header(source.files)
    seen = Counter(name.casefold() for name in header)
    internal = [f"c{place}" for place in range(len(header))]
    connection.execute(f"CREATE TABLE data_texts ({', '.join(f'{name} VARCHAR' for name in internal)})")
    for batch in read_texts(source.files, internal, delimiter):
        connection.register("texts_read", pa.Table.from_batches([batch]))
        connection.execute("INSERT INTO data_texts SELECT * FROM texts_read")
        connection.unregister("texts_read")
    declared = {column.name: column for column in source.declared or ()}
    found = _found_types(connection, internal)
    kinds = [_kind(kind, declared.get(name)) for kind, name in zip(found, header, strict=True)]
    names = [
        f"{name} (column {place})" if seen[name.casefold()] > 1 else name
        for place, name in enumerate(header, start=1)
    ]
    try:
        _convert(connection, internal, kinds, names)
    except duckdb.ConversionException:
        # A value beyond a narrower declared type: then the schema check has to say so, not the reader.
        _convert(connection, internal, [kind or "VARCHAR" for kind in found], names)
    connection.execute("DROP TABLE data_texts")
    connection.execute("CREATE VIEW data AS SELECT * FROM data_rows")
    schema = connection.sql("SELECT * FROM data_rows LIMIT 0").to_arrow_table().schema
    for place, name in enumerate(header):
        schema = schema.set(place, schema.field(place).with_name(name))
    return table_shape(schema)


def _found_types(connection: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> list[str]:
    """For each column of texts DuckDB's name of the type that all its values have; "" without any value.

    The first rows rule out most types, so that few expressions are matched on all rows.
    """
    every = {name: tuple(range(len(_PATTERNS))) for name in columns}
    first = _holding(connection, every, f"(SELECT * FROM data_texts LIMIT {_FIRST_ROWS})")
    holding = _holding(connection, first, "data_texts")
    filled = connection.execute(
        f"SELECT {', '.join(f'count({name})' for name in columns)} FROM data_texts"
    ).fetchone()
    return [
        _EMPTY if not count else _PATTERNS[places[0]][0] if places else "VARCHAR"
        for count, places in zip(filled or (), holding.values(), strict=True)
    ]


def _holding(
    connection: duckdb.DuckDBPyConnection, candidates: dict[str, tuple[int, ...]], rows: str
) -> dict[str, tuple[int, ...]]:
    """Which of each column's candidate patterns all its values match and can be cast to; all of them without values."""
    tests = [
        f"bool_and(regexp_full_match({name}, '{_PATTERNS[place][1]}') "
        f"AND TRY_CAST({name} AS {_PATTERNS[place][0]}) IS NOT NULL) FILTER (WHERE {name} IS NOT NULL)"
        for name, places in candidates.items()
        for place in places
    ]
    found = iter(connection.execute(f"SELECT {', '.join(['true', *tests])} FROM {rows}").fetchone() or ())
    next(found, None)
    return {
        name: tuple(place for place in places if next(found) is not False)
        for name, places in candidates.items()
    }


def _kind(found: str, declared: DeclaredColumn | None) -> str:
    """The DuckDB type to read a column as: what was found, unless the contract names one that loses nothing."""
    wished = declared.types if declared is not None else ()
    every = {name: sql for fitting in _FITTING.values() for name, sql in fitting.items()}
    fitting = every if found == _EMPTY else _FITTING.get(found, {})
    return next((sql for name, sql in fitting.items() if name in wished), found or "VARCHAR")


def _convert(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[str], kinds: Sequence[str], names: Sequence[str]
) -> None:
    casts = ", ".join(
        f"CAST({column} AS {kind}) AS {identifier(name)}"
        for column, kind, name in zip(columns, kinds, names, strict=True)
    )
    connection.execute(f"CREATE TABLE data_rows AS SELECT {casts} FROM data_texts")
