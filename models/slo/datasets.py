"""Which snapshots are of a data set that a definition names, by its name or by namespace/name."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, or_, select
from sqlmodel import col

from models.lineage.tables import RunLink, SnapshotName


def _is_of(dataset: str) -> ColumnElement[bool]:
    name = col(SnapshotName.dataset_name)
    return or_(name == dataset, col(SnapshotName.dataset_namespace) + "/" + name == dataset)


def snapshots_of(
    connection: Connection, namespace: str, dataset: str, digests: Collection[str]
) -> frozenset[str]:
    """Those of these snapshots that are of the data set."""
    query = select(col(SnapshotName.digest)).where(
        col(SnapshotName.namespace) == namespace, col(SnapshotName.digest).in_(list(digests)), _is_of(dataset)
    )
    return frozenset(connection.execute(query).scalars()) if digests else frozenset()


def runs_reading(
    connection: Connection, namespace: str, dataset: str, run_ids: Collection[str]
) -> frozenset[str]:
    """Those of these runs that read a snapshot of the data set."""
    query = (
        select(col(RunLink.run_id))
        .join(
            SnapshotName,
            (col(SnapshotName.digest) == col(RunLink.digest))
            & (col(SnapshotName.namespace) == col(RunLink.namespace)),
        )
        .where(
            col(RunLink.run_id).in_(list(run_ids)),
            col(RunLink.namespace) == namespace,
            col(RunLink.direction) == "in",
            _is_of(dataset),
        )
    )
    return frozenset(connection.execute(query).scalars()) if run_ids else frozenset()
