"""Rows as a commit reads and keeps them: by primary key, with instants as instants."""

from collections.abc import Callable, Iterable
from functools import cache
from operator import itemgetter
from typing import Any

from models.bulk import Row, sql_table, wire_type
from models.columns import Table, UTCDateTime, instant
from models.questions import Question

Key = tuple[Any, ...]


def one_row(table: type[Table], key: Key) -> Question:
    """What asks for the row with this primary key, wherever in it the namespace stands."""
    query, types, names = _one_row(table)
    given = dict(zip(names, key, strict=True))
    return Question(query, types, str(given.pop("namespace", "")), more=given)


@cache
def _one_row(table: type[Table]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The SELECT, the types of its columns, and the columns of the key."""
    target = sql_table(table)
    names = tuple(column.name for column in target.primary_key)
    where = " AND ".join(f"{name} = :{name}" for name in names)
    query = f"SELECT {', '.join(target.columns.keys())} FROM {target.name} WHERE {where}"
    return query, tuple(wire_type(each.type) for each in target.columns), names


def row_of(table: type[Table], values: Iterable[Any]) -> Row:
    """A row as it was read; SQLite gives instants as text where no column type is asked."""
    row = dict(zip(sql_table(table).columns.keys(), values, strict=True))
    for name in _instants(table):
        row[name] = instant(row[name])
    return row


@cache
def _instants(table: type[Table]) -> list[str]:
    return [column.name for column in sql_table(table).columns if isinstance(column.type, UTCDateTime)]


def key_of(table: type[Table], row: Row) -> Key:
    return _key_getter(table)(row)


@cache
def _key_getter(table: type[Table]) -> Callable[[Row], Key]:
    names = [column.name for column in sql_table(table).primary_key]
    if len(names) == 1:
        return lambda row: (row[names[0]],)
    return itemgetter(*names)
