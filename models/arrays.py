"""Columns of rows as PostgreSQL's binary arrays: one parameter a column, whatever the number of rows.

Written here because psycopg dumps arrays element by element in Python; as text, each would be searched for characters
to escape, and PostgreSQL would undo that. Format: array_send in PostgreSQL's src/backend/utils/adt/arrayfuncs.c.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from struct import Struct
from typing import Any, Final

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

_HEADER: Final = Struct(">iiIii")
"""Dimensions, whether there are nulls, element type, length, lower bound."""
_NULL: Final = b"\xff\xff\xff\xff"
_LENGTH: Final = Struct(">i").pack
_INTEGER: Final = Struct(">ii").pack
_BIGINT: Final = Struct(">iq").pack
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Array(bytes):
    """An array in binary form; `element` and `oid` are PostgreSQL's numbers of its types (pg_type.dat)."""

    element: int
    oid: int


class _Texts(Array):
    element, oid = 25, 1009


class _Integers(Array):
    element, oid = 23, 1007


class _Bigints(Array):
    element, oid = 20, 1016


class _Bytes(Array):
    element, oid = 17, 1001


class _Instants(Array):
    element, oid = 1184, 1185


def _texts(values: Iterable[Any]) -> list[bytes]:
    parts = []
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            encoded = value.encode()
            parts += (_LENGTH(len(encoded)), encoded)
    return parts


def _bytes(values: Iterable[Any]) -> list[bytes]:
    return [
        part for value in values for part in ((_NULL,) if value is None else (_LENGTH(len(value)), value))
    ]


def _integers(values: Iterable[Any]) -> list[bytes]:
    return [_NULL if value is None else _INTEGER(4, value) for value in values]


def _bigints(values: Iterable[Any]) -> list[bytes]:
    return [_NULL if value is None else _BIGINT(8, value) for value in values]


def _instants(values: Iterable[Any]) -> list[bytes]:
    return [_NULL if value is None else _BIGINT(8, (value - _EPOCH) // _MICROSECOND) for value in values]


_KINDS: Final[dict[str, tuple[type[Array], Callable[[Iterable[Any]], list[bytes]]]]] = {
    "text": (_Texts, _texts),
    "integer": (_Integers, _integers),
    "bigint": (_Bigints, _bigints),
    "bytea": (_Bytes, _bytes),
    "timestamptz": (_Instants, _instants),
}


def array(wire_type: str, values: Sequence[Any]) -> Array:
    """Values of one column, None for null; aware instants. Raises struct.error for a number that no column holds."""
    kind, encode = _KINDS[wire_type]
    header = _HEADER.pack(1, None in values, kind.element, len(values), 1)
    return kind(b"".join((header, *encode(values))))


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Array) -> Buffer | None:
        return bytes(obj)


for _kind, _ in _KINDS.values():
    psycopg.adapters.register_dumper(
        _kind, type(f"{_kind.__name__}Dumper", (_ArrayDumper,), {"oid": _kind.oid})
    )
