"""Many rows in one statement: arrays on PostgreSQL, executemany on SQLite.

`write_all` gives PostgreSQL the rows of many tables in one statement: a commit writes a dozen tables, and going there
and back for each costs more than writing few rows.

Strings travel as `text` and are assigned to their column, so that a value over its length raises; a cast to
varchar(n) would cut it in silence.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, cast

import psycopg
from sqlalchemy import BigInteger, Connection, Integer, LargeBinary
from sqlalchemy import Table as SqlTable
from sqlalchemy.dialects import sqlite

from models.arrays import array
from models.columns import Table, UTCDateTime

Row = Mapping[str, Any]
NAMED: Final = re.compile(r"(?<!:):([a-z_]+)")
"""A parameter in a query of ours, and no cast of PostgreSQL's."""


def sql_table(table: type[Table]) -> SqlTable:
    return cast(SqlTable, table.__table__)  # type: ignore[attr-defined]


def insert_rows(connection: Connection, table: type[Table], rows: Collection[Row]) -> None:
    """Rows that can't be there yet; one that is raises IntegrityError (psycopg's or SQLAlchemy's)."""
    if not rows:
        return
    if connection.dialect.name == "sqlite":
        connection.execute(sql_table(table).insert(), [dict(row) for row in rows])
    else:
        _write_together(connection, [Write(table, rows)])


class How(Enum):
    """What happens to a row whose primary key is taken."""

    NEW = "it can't be; raises IntegrityError"
    MISSING = "the row that is there stays as it is"
    REPLACED = "the row takes the place of the other"


@dataclass(frozen=True, slots=True)
class Write:
    """Rows of one table and how they are written."""

    table: type[Table]
    rows: Collection[Row]
    how: How = How.NEW


def write_all(connection: Connection, writes: Sequence[Write]) -> None:
    """Rows of many tables, in few statements. Those of a table that is named twice are written in the order given."""
    if connection.dialect.name == "sqlite":
        for each in writes:
            _WRITERS[each.how](connection, each.table, each.rows)
        return
    together: dict[type[Table], Write] = {}
    for each in writes:
        if each.table in together:
            # One statement sees the rows of a table as they were before all of it.
            _write_together(connection, list(together.values()))
            together = {}
        if each.rows:
            together[each.table] = each
    if together:
        _write_together(connection, list(together.values()))


def insert_missing(connection: Connection, table: type[Table], rows: Collection[Row]) -> None:
    """Adds the rows whose primary key is not there yet; a row that is there stays as it is."""
    if not rows:
        return
    if connection.dialect.name == "sqlite":
        statement = sqlite.insert(sql_table(table)).on_conflict_do_nothing()
        connection.execute(statement, [dict(row) for row in rows])
    else:
        _write_together(connection, [Write(table, rows, How.MISSING)])


def upsert_rows(connection: Connection, table: type[Table], rows: Collection[Row]) -> None:
    """Adds rows or replaces those with the same primary key."""
    if not rows:
        return
    target = sql_table(table)
    if connection.dialect.name == "sqlite":
        keys = [column.name for column in target.primary_key]
        others = [column.name for column in target.columns if column.name not in keys]
        statement = sqlite.insert(target)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=keys, set_={name: statement.excluded[name] for name in others}
            ),
            [dict(row) for row in rows],
        )
        return
    _write_together(connection, [Write(table, rows, How.REPLACED)])


def select_among(
    connection: Connection, query: str, namespace: str, keys: Collection[str], **more: object
) -> list[Any]:
    """Rows of a query that says `:namespace` and `IN :keys`, for any number of keys in one statement; `more` are
    its other parameters."""
    given: Any = json.dumps(list(keys)) if connection.dialect.name == "sqlite" else list(keys)
    # Past SQLAlchemy's compiler: a commit asks a handful of these.
    query = as_asked(query, connection.dialect.name)
    return list(connection.exec_driver_sql(query, {"namespace": namespace, "keys": given, **more}).all())


@cache
def as_asked(query: str, dialect: str) -> str:
    """A query with `:name` and `IN :keys` as the driver takes it."""
    if dialect == "sqlite":
        return query.replace("IN :keys", "IN (SELECT value FROM json_each(:keys))")
    return NAMED.sub(r"%(\1)s", query.replace("IN :keys", "= ANY(:keys)"))


def numbered(query: str, places: dict[tuple[int, str], int], part: int = 0) -> str:
    """A query as psycopg's raw cursor takes it, `$n` for its names. `places` has the number of each name of each part
    of a statement, and knows those of this one from then on."""

    def place(found: re.Match[str]) -> str:
        return f"${places.setdefault((part, found[1]), len(places) + 1)}"

    return NAMED.sub(place, query.replace("IN :keys", "= ANY(:keys)"))


@cache
def _together(parts: tuple[tuple[type[Table], How], ...]) -> bytes:
    """INSERTs of arrays into tables that differ, as one statement; `$n` in the order of the tables' columns."""
    inserts, number = [], 0
    for table, how in parts:
        target = sql_table(table)
        names = [column.name for column in target.columns]
        arrays = [
            f"${number + place}::{wire_type(each.type)}[]" for place, each in enumerate(target.columns, 1)
        ]
        listed = ", ".join(f'"{name}"' for name in names)
        inserts.append(
            f'INSERT INTO "{target.name}" ({listed}) SELECT * FROM unnest({", ".join(arrays)}) {_conflict(target, how)}'
        )
        number += len(names)
    first = "".join(
        f"{'WITH' if place == 0 else ','} w{place} AS ({each})" for place, each in enumerate(inserts[:-1])
    )
    return f"{first} {inserts[-1]}".encode()


def _conflict(target: SqlTable, how: How) -> str:
    if how is How.NEW:
        return ""
    keys = [column.name for column in target.primary_key]
    replaced = [f'"{each.name}" = excluded."{each.name}"' for each in target.columns if each.name not in keys]
    if how is How.MISSING or not replaced:
        return "ON CONFLICT DO NOTHING"
    listed = ", ".join(f'"{name}"' for name in keys)
    return f"ON CONFLICT ({listed}) DO UPDATE SET {', '.join(replaced)}"


def wire_type(kind: object) -> str:
    if isinstance(kind, BigInteger):
        return "bigint"
    if isinstance(kind, Integer):
        return "integer"
    if isinstance(kind, LargeBinary):
        return "bytea"
    if isinstance(kind, UTCDateTime):
        return "timestamptz"
    return "text"


def _write_together(connection: Connection, writes: Sequence[Write]) -> None:
    arrays = [
        array(wire_type(column.type), [row[column.name] for row in each.rows])
        for each in writes
        for column in sql_table(each.table).columns
    ]
    statement = _together(tuple((each.table, each.how) for each in writes))
    # A raw cursor: psycopg would look for its own placeholders in a long statement each time.
    with psycopg.RawCursor(driver(connection)) as cursor:
        cursor.execute(statement, arrays)


def driver(connection: Connection) -> psycopg.Connection[Any]:
    return cast("psycopg.Connection[Any]", connection.connection.driver_connection)


_WRITERS: Final[Mapping[How, Callable[[Connection, type[Table], Collection[Row]], None]]] = {
    How.NEW: insert_rows,
    How.MISSING: insert_missing,
    How.REPLACED: upsert_rows,
}
