"""The current versions of SLOs. A version never changes: what a process has read of one, it does not read again."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from models.bulk import as_asked
from models.columns import instant
from models.slo.definitions import MAX_SLOS, Current, current_of
from models.slo.remembered import Remembered

_KNOWN: Final = Remembered[tuple[str, datetime | None], Current](MAX_SLOS)
"""By the record of the version and up to when its windows are written down: all else follows from the record."""


def current_slos(
    connection: Connection, namespace: str | None = None, team: str | None = None, name: str | None = None
) -> list[Current]:
    """The current version of every SLO, of all namespaces for None, by namespace and name. Two statements when a
    version is among them that this process has not seen yet, else one."""
    asked = {"namespace": namespace, "team": team, "name": name}
    given = {column: value for column, value in asked.items() if value is not None}
    where = " AND ".join(f"{column} = :{column}" for column in given)
    query = (
        f"SELECT record, expected_until FROM slo{' WHERE ' if where else ''}{where} ORDER BY namespace, name"
    )
    if namespace is not None:
        query += f" LIMIT {MAX_SLOS}"
    # Past SQLAlchemy's compiler: each report asks it, and each round of the tick several times.
    rows = connection.exec_driver_sql(as_asked(query, connection.dialect.name), given).all()
    keys = [(record, instant(until)) for record, until in rows]
    found = {key: _KNOWN.get(key) for key in keys}
    new = {record for (record, _), known in found.items() if known is None}
    for each in current_of(connection, new) if new else ():
        key = (each.record, each.expected_until)
        found[key] = _KNOWN.keep(key, each)
    return [each for each in map(found.get, keys) if each is not None]
