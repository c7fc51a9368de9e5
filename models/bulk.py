"""Many rows in one statement: COPY and array inserts on PostgreSQL, executemany on SQLite.

Within `one_round_trip` PostgreSQL gets the statements one after another without waiting for each answer: a commit
has a dozen of them, and waiting costs more than writing few rows.

Strings travel as `text` and are assigned to their column, so that a value over its length raises; a cast to
varchar(n) would cut it in silence.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, cast

import psycopg
from sqlalchemy import BigInteger, Connection, Integer, LargeBinary
from sqlalchemy import Table as SqlTable
from sqlalchemy.dialects import sqlite

from models.columns import Table, UTCDateTime

Row = Mapping[str, Any]
_NAMED: Final = re.compile(r"(?<!:):([a-z_]+)")


def sql_table(table: type[Table]) -> SqlTable:
    return cast(SqlTable, table.__table__)  # type: ignore[attr-defined]


def insert_rows(connection: Connection, table: type[Table], rows: Collection[Row]) -> None:
    """Rows that can't be there yet; one that is raises IntegrityError (psycopg's or SQLAlchemy's)."""
    if not rows:
        return
    target = sql_table(table)
    if connection.dialect.name == "sqlite":
        connection.execute(target.insert(), [dict(row) for row in rows])
        return
    names = [column.name for column in target.columns]
    listed = ", ".join(f'"{name}"' for name in names)
    with (
        _driver(connection).cursor() as cursor,
        cursor.copy(f'COPY "{target.name}" ({listed}) FROM STDIN (FORMAT BINARY)'.encode()) as copy,
    ):
        copy.set_types([_wire_type(column.type) for column in target.columns])
        for row in rows:
            copy.write_row([row[name] for name in names])


@contextmanager
def one_round_trip(connection: Connection) -> Iterator[None]:
    """What is inserted or replaced inside is sent together; an error of any of it is raised at the end at the
    latest. No COPY and no query fits inside."""
    if connection.dialect.name == "sqlite":
        yield
    else:
        with _driver(connection).pipeline():
            yield


def insert_new(connection: Connection, table: type[Table], rows: Collection[Row]) -> None:
    """`insert_rows` for few rows, by a statement that fits into `one_round_trip`."""
    if connection.dialect.name == "sqlite":
        insert_rows(connection, table, rows)
    elif rows:
        _unnest(connection, table, rows)


def insert_missing(connection: Connection, table: type[Table], rows: Collection[Row]) -> None:
    """Adds the rows whose primary key is not there yet; a row that is there stays as it is."""
    if not rows:
        return
    if connection.dialect.name == "sqlite":
        statement = sqlite.insert(sql_table(table)).on_conflict_do_nothing()
        connection.execute(statement, [dict(row) for row in rows])
    else:
        _unnest(connection, table, rows, "ON CONFLICT DO NOTHING")


def upsert_rows(connection: Connection, table: type[Table], rows: Collection[Row]) -> None:
    """Adds rows or replaces those with the same primary key."""
    if not rows:
        return
    target = sql_table(table)
    keys = [column.name for column in target.primary_key]
    others = [column.name for column in target.columns if column.name not in keys]
    if connection.dialect.name == "sqlite":
        statement = sqlite.insert(target)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=keys, set_={name: statement.excluded[name] for name in others}
            ),
            [dict(row) for row in rows],
        )
        return
    replaced = ", ".join(f'"{name}" = excluded."{name}"' for name in others)
    _unnest(connection, table, rows, f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {replaced}")


def select_among(
    connection: Connection, query: str, namespace: str, keys: Collection[str], **more: object
) -> list[Any]:
    """Rows of a query that says `:namespace` and `IN :keys`, for any number of keys in one statement; `more` are
    its other parameters."""
    given: Any = json.dumps(list(keys)) if connection.dialect.name == "sqlite" else list(keys)
    # Past SQLAlchemy's compiler: a commit asks a handful of these.
    query = _among(query, connection.dialect.name)
    return list(connection.exec_driver_sql(query, {"namespace": namespace, "keys": given, **more}))


@cache
def _among(query: str, dialect: str) -> str:
    """The query as the driver takes it."""
    if dialect == "sqlite":
        return query.replace("IN :keys", "IN (SELECT value FROM json_each(:keys))")
    return _NAMED.sub(r"%(\1)s", query.replace("IN :keys", "= ANY(:keys)"))


@cache
def _unnest_statement(table: type[Table], conflict: str) -> bytes:
    target = sql_table(table)
    listed = ", ".join(f'"{name}"' for name in (column.name for column in target.columns))
    arrays = ", ".join(f"%s::{_wire_type(column.type)}[]" for column in target.columns)
    return (f'INSERT INTO "{target.name}" ({listed}) SELECT * FROM unnest({arrays}) {conflict}').encode()


def _wire_type(kind: object) -> str:
    if isinstance(kind, BigInteger):
        return "bigint"
    if isinstance(kind, Integer):
        return "integer"
    if isinstance(kind, LargeBinary):
        return "bytea"
    if isinstance(kind, UTCDateTime):
        return "timestamptz"
    return "text"


def _unnest(connection: Connection, table: type[Table], rows: Collection[Row], conflict: str = "") -> None:
    arrays = [_array(column.type, [row[column.name] for row in rows]) for column in sql_table(table).columns]
    with _driver(connection).cursor() as cursor:
        cursor.execute(_unnest_statement(table, conflict), arrays)


def _array(kind: object, values: list[Any]) -> str:
    """PostgreSQL's text form of an array. Written here because psycopg dumps arrays element by element in Python,
    which cost more than all else in a commit."""
    if isinstance(kind, BigInteger | Integer):
        texts = ["NULL" if value is None else str(value) for value in values]
    elif isinstance(kind, LargeBinary):
        # The backslash of bytea's hex form is itself escaped within an array.
        texts = ["NULL" if value is None else f'"\\\\x{value.hex()}"' for value in values]
    elif isinstance(kind, UTCDateTime):
        texts = ["NULL" if value is None else f'"{value.isoformat()}"' for value in values]
    else:
        texts = ["NULL" if value is None else _quoted(value) for value in values]
    return "{" + ",".join(texts) + "}"


def _quoted(text: str) -> str:
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    return '"' + text.replace('"', '\\"') + '"'


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    return cast("psycopg.Connection[Any]", connection.connection.driver_connection)
