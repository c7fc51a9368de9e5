"""Published definitions as the judging code takes them. A version never changes, so each is read once a process."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection, Row, select
from sqlmodel import Session, col

from gates.slo.definition import Definition
from gates.slo.loading import load_slo
from gates.slo.zones import opening, zone
from models.among import among
from models.errors import NotFound
from models.lineage.queries import Document
from models.slo.rules import SLO_NOT_FOUND
from models.slo.tables import Slo, SloVersion

VERSION_NOT_FOUND: Final = (
    "no such version of an SLO in this namespace; list them with GET /v1/slos/{name}/versions"
)
MAX_SLOS: Final = 5_000
"""Of one namespace, as far as reports and ticks look."""


@dataclass(frozen=True, slots=True)
class Published:
    """A version of an SLO; all of it follows from its record. `first_at` is when the SLO's first version was
    published."""

    namespace: str
    name: str
    version: int
    published_at: datetime
    first_at: datetime
    record: str
    definition: Definition

    @property
    def since(self) -> datetime:
        """From when on it counts: the first date of a definition that reaches back, else its first publication."""
        starts = self.definition.starts
        if starts is None:
            return self.first_at
        midnight = opening(datetime.combine(starts, time()), zone(self.definition.time_zone))
        return midnight if self.definition.backfilled else max(midnight, self.first_at)


@dataclass(frozen=True, slots=True)
class Current(Published):
    """The current version; the SLO's windows are written down up to `expected_until`, None before the first."""

    expected_until: datetime | None


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    """`digest` names the blob of its bytes, `document` is what answers show."""

    version: int
    digest: str
    document_digest: str
    position: int
    document: str


_COLUMNS: Final = (
    col(SloVersion.namespace),
    col(SloVersion.name),
    col(SloVersion.version),
    col(SloVersion.published_at),
    col(Slo.first_at),
    col(SloVersion.record),
    col(SloVersion.digest),
    col(SloVersion.document_digest),
    col(SloVersion.definition),
)
_VERSION: Final = (
    col(SloVersion.version),
    col(SloVersion.digest),
    col(SloVersion.document_digest),
    col(SloVersion.position),
    col(SloVersion.document),
)
_OF_SLO: Final = (col(SloVersion.namespace) == col(Slo.namespace)) & (col(SloVersion.name) == col(Slo.name))


@lru_cache(maxsize=MAX_SLOS)
def _parsed(record: str, digest: str, document_digest: str, text: str) -> Definition:
    definition = load_slo(text.encode(), "json")
    return replace(definition, digest=digest, document_digest=document_digest)


def _published(row: Row[str, str, int, datetime, datetime, str, str, str, str]) -> Published:
    return Published(*row[:6], _definition(row))


def _definition(row: Row[*tuple[Any, ...]]) -> Definition:
    return _parsed(row.record, row.digest, row.document_digest, row.definition)


def current_of(connection: Connection, records: Collection[str]) -> list[Current]:
    """Of these records those that are current versions."""
    query = (
        select(*_COLUMNS, col(Slo.expected_until))
        .join_from(Slo, SloVersion, _OF_SLO & (col(SloVersion.version) == col(Slo.version)))
        .where(among(col(Slo.record), records))
    )
    return [Current(*row[:6], _definition(row), row.expected_until) for row in connection.execute(query)]


def slo_at(connection: Connection, namespace: str, name: str, version: int) -> Published:
    """One version, for windows that it expected. Raises NotFound."""
    query = (
        select(*_COLUMNS)
        .join_from(Slo, SloVersion, _OF_SLO)
        .where(col(Slo.namespace) == namespace, col(Slo.name) == name, col(SloVersion.version) == version)
    )
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(VERSION_NOT_FOUND)
    return _published(row)


def slos_as_of(
    connection: Connection, namespace: str, as_of: datetime, team: str | None = None
) -> list[Published]:
    """The version of every SLO that was the current one at a time, by name."""
    query = (
        select(*_COLUMNS)
        .join_from(Slo, SloVersion, _OF_SLO)
        .where(col(SloVersion.namespace) == namespace, col(SloVersion.published_at) <= as_of)
        .order_by(col(SloVersion.name), col(SloVersion.version))
    )
    found = {row.name: row for row in connection.execute(query)}
    published = [_published(row) for row in found.values()]
    return [each for each in published if team is None or each.definition.team == team]


def versions_of(
    connection: Connection, namespace: str, names: Collection[str], limit: int
) -> list[Published]:
    """All versions of these SLOs, by name, the first one first; of more than `limit` the last published."""
    query = (
        select(*_COLUMNS)
        .join_from(Slo, SloVersion, _OF_SLO)
        .where(col(SloVersion.namespace) == namespace, col(SloVersion.name).in_(list(names)))
        .order_by(col(SloVersion.published_at).desc(), col(SloVersion.name), col(SloVersion.version).desc())
        .limit(limit)
    )
    found = [_published(row) for row in connection.execute(query)]
    return sorted(found, key=lambda each: (each.name, each.version))


def find_slo(connection: Connection, namespace: str, name: str) -> PublishedVersion | None:
    """The current version."""
    found = _versions(connection, namespace, name, None, 1)
    return found[0] if found else None


def get_slo_version(
    connection: Connection, namespace: str, name: str, version: int | None
) -> PublishedVersion:
    """A version, the current one for None. Raises NotFound."""
    if version is None:
        found = find_slo(connection, namespace, name)
        if found is None:
            raise NotFound(SLO_NOT_FOUND)
        return found
    listed = _versions(connection, namespace, name, version + 1, 1)
    if not listed or listed[0].version != version:
        raise NotFound(VERSION_NOT_FOUND)
    return listed[0]


def list_slo_versions(
    session: Session, namespace: str, name: str, after: int | None, limit: int
) -> list[PublishedVersion]:
    """Versions of an SLO before version `after`, the latest first."""
    return _versions(session.connection(), namespace, name, after, limit)


def _versions(
    connection: Connection, namespace: str, name: str, after: int | None, limit: int
) -> list[PublishedVersion]:
    query = (
        select(*_VERSION)
        .where(col(SloVersion.namespace) == namespace, col(SloVersion.name) == name)
        .order_by(col(SloVersion.version).desc())
        .limit(limit)
    )
    if after is not None:
        query = query.where(col(SloVersion.version) < after)
    return [PublishedVersion(*row) for row in connection.execute(query)]


def list_slos(
    session: Session, namespace: str, after: int | None, limit: int, team: str | None = None
) -> list[Document]:
    """The current version of each SLO, the last published first."""
    query = (
        select(col(SloVersion.position), col(SloVersion.document))
        .join_from(Slo, SloVersion, _OF_SLO & (col(SloVersion.version) == col(Slo.version)))
        .where(col(Slo.namespace) == namespace)
        .order_by(col(Slo.position).desc())
        .limit(limit)
    )
    if team is not None:
        query = query.where(col(Slo.team) == team)
    if after is not None:
        query = query.where(col(Slo.position) < after)
    return [Document(*row) for row in session.connection().execute(query)]
