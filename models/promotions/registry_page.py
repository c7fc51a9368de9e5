"""What pages show of registries: what each protected name holds by the records, and the last comparison of each."""

from typing import Final

from sqlalchemy import Connection, func, select
from sqlmodel import col

from models.bulk import Row, sql_table
from models.gates.tables import Gate
from models.promotions.reconciliations import StoredReconciliation
from models.promotions.tables import ReconcilerSign, Reconciliation, ReleaseTarget

MAX_REGISTRIES: Final = 50


def has_gate(connection: Connection, namespace: str) -> bool:
    """Whether a gate stands before any name."""
    query = select(col(Gate.name)).where(col(Gate.namespace) == namespace).limit(1)
    return connection.execute(query).first() is not None


def list_held(connection: Connection, namespace: str, limit: int) -> list[Row]:
    """Targets that hold something, in the order of their names."""
    place = sql_table(ReleaseTarget)
    query = (
        select(place)
        .where(col(ReleaseTarget.namespace) == namespace, col(ReleaseTarget.how).is_not(None))
        .order_by(col(ReleaseTarget.model), col(ReleaseTarget.target), col(ReleaseTarget.registry_name))
        .limit(limit)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def latest_of_each(connection: Connection, namespace: str) -> dict[str, StoredReconciliation]:
    """The last comparison of each registry of the namespace, in the order of their names."""
    newest = (
        select(
            col(Reconciliation.registry_name).label("name"),
            func.max(col(Reconciliation.position)).label("position"),
        )
        .where(col(Reconciliation.namespace) == namespace)
        .group_by(col(Reconciliation.registry_name))
        .order_by(col(Reconciliation.registry_name))
        .limit(MAX_REGISTRIES)
        .subquery()
    )
    row, signed = sql_table(Reconciliation).columns, sql_table(ReconcilerSign).columns
    query = (
        select(newest.c.name, row.record, row.report, row.at, row.position, row.document, signed.seen_at)
        .join_from(
            newest,
            sql_table(Reconciliation),
            (row.namespace == namespace)
            & (row.registry_name == newest.c.name)
            & (row.position == newest.c.position),
        )
        .outerjoin(
            sql_table(ReconcilerSign),
            (signed.namespace == namespace) & (signed.registry_name == newest.c.name),
        )
        .order_by(newest.c.name)
    )
    return {
        name: StoredReconciliation(
            record, report, at, position, document, at if seen_at is None else max(at, seen_at)
        )
        for name, record, report, at, position, document, seen_at in connection.execute(query)
    }
