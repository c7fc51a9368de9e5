"""What SQLite keeps in each cell: it takes a text where a column is for bytes, and the other way round.

PostgreSQL keeps in a column what the column is for, so there is nothing to look at.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import BigInteger, Boolean, Connection, Float, Integer, LargeBinary, String, text
from sqlalchemy import Table as SqlTable

from models.columns import UTCDateTime

_CLASSES: Final[Sequence[tuple[tuple[type, ...], tuple[str, ...]]]] = (
    ((LargeBinary,), ("blob",)),
    ((String, UTCDateTime), ("text",)),
    ((Boolean, Integer, BigInteger), ("integer",)),
    ((Float,), ("real", "integer")),
)


def wrong_storage(connection: Connection, table: SqlTable) -> Iterator[str]:
    """A sentence for each cell of a table that holds another kind of value than its column is for."""
    if connection.dialect.name != "sqlite":
        return
    allowed = {
        column.name: (*classes, *(("null",) if column.nullable else ()))
        for column in table.columns
        for kinds, classes in _CLASSES
        if isinstance(column.type, kinds)
    }
    found = ", ".join(f'typeof("{name}")' for name in allowed)
    key = " || ', ' || ".join(f'quote("{column.name}")' for column in table.primary_key)
    wrong = " OR ".join(
        f'typeof("{name}") NOT IN ({", ".join(map(repr, classes))})' for name, classes in allowed.items()
    )
    rows = connection.execute(text(f'SELECT {key}, {found} FROM "{table.name}" WHERE {wrong}'))
    for place, *kinds in rows:
        for (name, classes), kind in zip(allowed.items(), kinds, strict=True):
            if kind not in classes:
                yield f"{table.name} ({place}) keeps {name} as {kind}, not as {classes[0]}"
