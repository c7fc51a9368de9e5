"""Live projections against a replay of the records, row by row.

The replay goes into a private SQLite database on disk that is gone with its connection: the live database is
not written to and memory does not grow with the log. Both sides are read in the order of the primary key.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, StaticPool, String, create_engine, select
from sqlalchemy import Table as SqlTable
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from models.bulk import sql_table
from models.columns import Table
from models.ledger.rebuild import PROJECTIONS
from shipworthy.formats.canonical_json import parse_canonical
from shipworthy.formats.jcs import canonicalize

_FETCH_ROWS: Final = 500
Row = Mapping[str, Any]


@cache
def _definitions() -> str:
    """The projection tables and their indexes, as a script for SQLite."""
    dialect = sqlite.dialect()
    tables = [sql_table(table) for table in PROJECTIONS]
    statements: list[ExecutableDDLElement] = [
        *(CreateTable(table) for table in tables),
        *(CreateIndex(index) for table in tables for index in table.indexes),
    ]
    return ";\n".join(str(statement.compile(dialect=dialect)) for statement in statements)


@contextmanager
def scratch_database() -> Iterator[Connection]:
    """Empty projection tables in a temporary database, for `replay`."""

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect("", check_same_thread=False)
        connection.execute("PRAGMA journal_mode=OFF")
        connection.executescript(_definitions())
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=StaticPool)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def differences(model: type[Table], live: Connection, replayed: Connection) -> Iterator[str | None]:
    """A sentence for each row that is missing, different or without a record; None for each that is right.

    JSON documents are compared as values: live ones keep the order and number format in which they were sent,
    replayed ones those of the canonical record.
    """
    table = sql_table(model)
    key = [column.name for column in table.primary_key]
    found, wanted = _rows(live, table), _rows(replayed, table)
    have, want = next(found, None), next(wanted, None)
    while have is not None or want is not None:
        place_have, place_want = _place(have, key), _place(want, key)
        if have is not None and (place_want is None or (place_have is not None and place_have < place_want)):
            yield f"{table.name} {_named(have, key)} is in the table, but no record makes it"
            have = next(found, None)
        elif want is not None and (
            place_have is None or (place_want is not None and place_want < place_have)
        ):
            yield f"{table.name} {_named(want, key)} is made by the records, but missing from the table"
            want = next(wanted, None)
        elif have is not None and want is not None:
            yield _difference(table, key, have, want)
            have, want = next(found, None), next(wanted, None)


def _rows(connection: Connection, table: SqlTable) -> Iterator[Row]:
    # Byte order on both sides: PostgreSQL would otherwise sort by the database's language.
    collation = "C" if connection.dialect.name == "postgresql" else "BINARY"
    order = [
        column.collate(collation) if isinstance(column.type, String) else column
        for column in table.primary_key
    ]
    streaming = connection.execution_options(yield_per=_FETCH_ROWS)
    with streaming.execute(select(table).order_by(*order)) as result:
        for row in result.mappings():
            yield dict(row)


def _place(row: Row | None, key: list[str]) -> tuple[Any, ...] | None:
    return None if row is None else tuple(row[name] for name in key)


def _named(row: Row, key: list[str]) -> str:
    return "(" + ", ".join(str(row[name]) for name in key) + ")"


def _difference(table: SqlTable, key: list[str], have: Row, want: Row) -> str | None:
    for name in (column.name for column in table.columns):
        if have[name] != want[name] and not (name == "document" and _same_value(have[name], want[name])):
            return (
                f"{table.name} {_named(want, key)} differs in {name}: the records say {_short(want[name])}, "
                f"the table {_short(have[name])}"
            )
    return None


def _same_value(have: str, want: str) -> bool:
    try:
        return canonicalize(parse_canonical(have)) == canonicalize(parse_canonical(want))
    except (ValueError, RecursionError):
        return False


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
