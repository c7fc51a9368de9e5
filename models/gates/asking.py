"""What a decision is asked about, and the small reads that gathering its facts is made of."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row
from sqlalchemy import Connection

from models.bulk import driver, numbered, select_among
from models.columns import UTCDateTime
from models.fields import instant_text
from models.gates.queries import CurrentGate

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Protocol:
    """How the policy wants models to be measured, as far as it says so: snapshot, evaluator's image and configuration;
    `incumbent` is the target whose present model is compared with."""

    dataset: str | None
    evaluator: str | None
    config: str | None
    incumbent: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """May this artifact take this place? `now` decides which keys are in force; `flags` are the caller's."""

    namespace: str
    model: str
    target: str
    artifact: str
    version: str | None
    registry: str
    gate: CurrentGate
    protocol: Protocol
    flags: tuple[str, ...]
    now: datetime


def read(connection: Connection, query: str, namespace: str, **given: object) -> list[Any]:
    """Rows of a query that says `:namespace`, as named tuples."""
    if connection.dialect.name == "sqlite":
        return select_among(connection, query, namespace, (), **given)
    statement, names = _numbered(query)
    values = given | {"namespace": namespace}
    # Past SQLAlchemy and psycopg's own placeholders: it would look for them in a long statement each time.
    with psycopg.RawCursor(driver(connection), row_factory=namedtuple_row) as cursor:
        return cursor.execute(statement, [values[name] for name in names]).fetchall()


@cache
def _numbered(query: str) -> tuple[bytes, tuple[str, ...]]:
    """The query with `$1`, `$2` … for its names, and these in order."""
    places = dict[tuple[int, str], int]()
    return numbered(query, places).encode(), tuple(name for _, name in places)


def time_text(connection: Connection, value: object) -> str | None:
    """A stored instant, as the driver gives it, in the text of facts."""
    return instant_text(UTCDateTime().process_result_value(value, connection.dialect))


def effects(connection: Connection, namespace: str, records: Iterable[str]) -> dict[str, set[str]]:
    """`revoked` and `contested` by record, for those of which something was said."""
    wanted: Collection[str] = sorted(set(records))
    found: dict[str, set[str]] = {}
    if wanted:
        query = "SELECT revoked, effect FROM revocation WHERE namespace = :namespace AND revoked IN :keys"
        for record, effect in select_among(connection, query, namespace, wanted):
            found.setdefault(record, set()).add(effect)
    return found
