"""What reconciliations rest on: targets of a registry, grants that nobody confirmed, the last comparison."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, select
from sqlmodel import col

from models.bulk import Row, sql_table, upsert_rows
from models.promotions.findings import Place
from models.promotions.tables import PromotionGrant, ReconcilerSign, Reconciliation, ReleaseTarget

MAX_PLACES: Final = 5_000
MAX_UNCONFIRMED: Final = 500
UNCONFIRMED_TIME: Final = timedelta(days=1)
"""How long a grant that was never confirmed is shown; it can move nothing after ten seconds."""


@dataclass(frozen=True, slots=True)
class StoredReconciliation:
    """`report` names the blob of what was seen and found, `seen_at` is when the registry last looked like that."""

    record: str
    report: str
    at: datetime
    position: int
    document: str
    seen_at: datetime


def held_places(connection: Connection, namespace: str, registry: str) -> Mapping[Place, Row]:
    """The targets of a registry that hold something by the records."""
    query = (
        select(sql_table(ReleaseTarget))
        .where(
            col(ReleaseTarget.namespace) == namespace,
            col(ReleaseTarget.registry_name) == registry,
            col(ReleaseTarget.how).is_not(None),
        )
        .order_by(col(ReleaseTarget.model), col(ReleaseTarget.target))
        .limit(MAX_PLACES)
    )
    return {(row["model"], row["target"]): dict(row) for row in connection.execute(query).mappings()}


def unconfirmed_grants(connection: Connection, namespace: str, registry: str, now: datetime) -> list[Row]:
    """Grants of the last day that are over and that nobody settled, the newest first."""
    query = (
        select(sql_table(PromotionGrant))
        .where(
            col(PromotionGrant.namespace) == namespace,
            col(PromotionGrant.settled_by).is_(None),
            col(PromotionGrant.registry_name) == registry,
            col(PromotionGrant.expires_at) <= now,
            col(PromotionGrant.expires_at) > now - UNCONFIRMED_TIME,
        )
        .order_by(col(PromotionGrant.position).desc())
        .limit(MAX_UNCONFIRMED)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def find_latest(connection: Connection, namespace: str, registry: str) -> StoredReconciliation | None:
    row_at, seen = col(Reconciliation.at), col(ReconcilerSign.seen_at)
    query = (
        select(
            col(Reconciliation.record),
            col(Reconciliation.report),
            row_at,
            col(Reconciliation.position),
            col(Reconciliation.document),
            seen,
        )
        .outerjoin(
            ReconcilerSign,
            (col(ReconcilerSign.namespace) == col(Reconciliation.namespace))
            & (col(ReconcilerSign.registry_name) == col(Reconciliation.registry_name)),
        )
        .where(col(Reconciliation.namespace) == namespace, col(Reconciliation.registry_name) == registry)
        .order_by(col(Reconciliation.position).desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    record, report, at, position, document, seen_at = row
    return StoredReconciliation(
        record, report, at, position, document, at if seen_at is None else max(at, seen_at)
    )


def sign(connection: Connection, namespace: str, registry: str, now: datetime) -> None:
    """Notes that the registry looks as the last record says: no record a minute for what does not change."""
    row = {"namespace": namespace, "registry_name": registry, "seen_at": now}
    upsert_rows(connection, ReconcilerSign, [row])
