"""Reading what registries hold by the records: targets, grants, what happened, what was released, what is protected."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, select
from sqlmodel import Session, col

from models.bulk import Row, sql_table
from models.errors import NotFound
from models.gates.asking import read
from models.gates.tables import Gate
from models.kinds.promotions import REGISTRATION
from models.promotions.rules import GRANT_NOT_FOUND
from models.promotions.tables import (
    PromotionEvent,
    PromotionGrant,
    ReleasedVersion,
    ReleaseTarget,
)

MAX_RELEASED: Final = 10_000
"""Versions that are told as released: with each 300 bytes, 3 MB."""
MAX_TARGETS: Final = 500
_VERSION: Final = (
    "SELECT coalesce((SELECT max(position) FROM gate WHERE namespace = :namespace), -1) AS gates, "
    "coalesce((SELECT max(position) FROM released_version WHERE namespace = :namespace), -1) AS released"
)
_EVENT: Final = tuple(sql_table(PromotionEvent).columns[name] for name in ("record", "position", "document"))


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """What happened at a target, as JSON text."""

    record: str
    position: int
    document: str


@dataclass(frozen=True, slots=True)
class Released:
    """What a target held at a time. `document` is that of the record which put it there."""

    target: str
    record: str
    since: datetime
    document: str


@dataclass(frozen=True, slots=True)
class ReleasedName:
    """A version that held targets; `artifact` None when it is not known."""

    registry: str
    model: str
    version: str
    artifact: str | None
    run_id: str | None
    source: str | None
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protections:
    """`targets` are those that gates stand before, `registration_models` those whose versions a gate stands before."""

    targets: tuple[str, ...]
    registration_models: tuple[str, ...]
    released: tuple[ReleasedName, ...]
    has_more: bool


def find_target_row(
    connection: Connection, namespace: str, registry: str, model: str, target: str
) -> Row | None:
    query = select(sql_table(ReleaseTarget)).where(
        col(ReleaseTarget.namespace) == namespace,
        col(ReleaseTarget.registry_name) == registry,
        col(ReleaseTarget.model) == model,
        col(ReleaseTarget.target) == target,
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else dict(row)


def get_grant(connection: Connection, namespace: str, record: str) -> Mapping[str, Any]:
    """The body of the grant, as JSON. Raises NotFound."""
    query = select(col(PromotionGrant.document)).where(
        col(PromotionGrant.namespace) == namespace, col(PromotionGrant.record) == record
    )
    document = connection.execute(query).scalar()
    if document is None:
        raise NotFound(GRANT_NOT_FOUND)
    found: dict[str, Any] = json.loads(document)
    return found


def find_event(connection: Connection, namespace: str, record: str) -> StoredEvent | None:
    query = select(*_EVENT).where(
        col(PromotionEvent.namespace) == namespace, col(PromotionEvent.record) == record
    )
    row = connection.execute(query).first()
    return None if row is None else StoredEvent(*row)


def list_events(
    session: Session, namespace: str, after: int | None, limit: int, **filters: str | None
) -> list[StoredEvent]:
    """Newest first; `filters` are columns and the values they must have, None for any."""
    columns = sql_table(PromotionEvent).columns
    statement = (
        select(*_EVENT)
        .where(col(PromotionEvent.namespace) == namespace)
        .order_by(col(PromotionEvent.position).desc())
        .limit(limit)
    )
    for name, value in filters.items():
        if value is not None:
            statement = statement.where(columns[name] == value)
    if after is not None:
        statement = statement.where(col(PromotionEvent.position) < after)
    return [StoredEvent(*row) for row in session.connection().execute(statement)]


def released_at(
    session: Session, namespace: str, registry: str, model: str, at: datetime, target: str | None = None
) -> list[Released]:
    """What each target of a model held at a time, by the target's name; those that held nothing are left out."""
    place, event = sql_table(ReleaseTarget), sql_table(PromotionEvent)
    earlier = event.alias("earlier")
    newest = (
        select(earlier.c.record)
        .where(
            earlier.c.model == place.c.model,
            earlier.c.namespace == place.c.namespace,
            earlier.c.registry_name == place.c.registry_name,
            earlier.c.target == place.c.target,
            earlier.c.moved == 1,
            earlier.c.at <= at,
        )
        .order_by(earlier.c.position.desc())
        .limit(1)
        .correlate(place)
        .scalar_subquery()
    )
    statement = (
        select(place.c.target, event.c.record, event.c.at, event.c.document)
        .join_from(place, event, (event.c.namespace == place.c.namespace) & (event.c.record == newest))
        .where(
            place.c.namespace == namespace,
            place.c.registry_name == registry,
            place.c.model == model,
            event.c.version.is_not(None),
            event.c.state != "demoted",
        )
        .order_by(place.c.target)
        .limit(MAX_TARGETS)
    )
    if target is not None:
        statement = statement.where(place.c.target == target)
    return [Released(*row) for row in session.connection().execute(statement)]


def protections_version(connection: Connection, namespace: str) -> tuple[int, int]:
    """Changes with each record that changes what is protected: log positions of the last gate and released version."""
    ((gates, released),) = read(connection, _VERSION, namespace)
    return gates, released


def protections(connection: Connection, namespace: str) -> Protections:
    gated = select(col(Gate.target), col(Gate.model)).where(col(Gate.namespace) == namespace)
    rows = connection.execute(gated).all()
    newest = (
        select(
            col(ReleasedVersion.registry_name),
            col(ReleasedVersion.model),
            col(ReleasedVersion.version),
            col(ReleasedVersion.artifact),
            col(ReleasedVersion.run_id),
            col(ReleasedVersion.source),
            col(ReleasedVersion.targets),
        )
        .where(col(ReleasedVersion.namespace) == namespace)
        .order_by(col(ReleasedVersion.position).desc())
        .limit(MAX_RELEASED + 1)
    )
    released = [
        ReleasedName(
            row.registry_name,
            row.model,
            row.version,
            row.artifact or None,
            row.run_id,
            row.source,
            tuple(json.loads(row.targets)),
        )
        for row in connection.execute(newest)
    ]
    return Protections(
        targets=tuple(sorted({row.target for row in rows} - {REGISTRATION})),
        registration_models=tuple(sorted({row.model for row in rows if row.target == REGISTRATION})),
        released=tuple(released[:MAX_RELEASED]),
        has_more=len(released) > MAX_RELEASED,
    )
