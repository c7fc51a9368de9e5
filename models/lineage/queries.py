"""Reading what runs read and wrote: products, data sets, ingredients, and the names of models.

Lists of facts are newest first by log position; names of data sets and models are in the order of their text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select, text, tuple_
from sqlmodel import Session, col

from models.bulk import sql_table
from models.errors import NotFound
from models.ledger.verified import check_bytes
from models.lineage.tables import (
    Artifact,
    Checkpoint,
    DataSnapshot,
    Evaluation,
    Ingredient,
    SnapshotName,
)


@dataclass(frozen=True, slots=True)
class Document:
    """A fact as JSON text and the log position of its record."""

    position: int
    document: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a run as JSON text; `key` is its place in the list, which begins with the log position."""

    position: int
    key: tuple[int | str, ...]
    document: str


@dataclass(frozen=True, slots=True)
class SnapshotLine:
    position: int
    digest: str
    grade: str
    document: str


@dataclass(frozen=True, slots=True)
class StoredIngredient:
    """`document` is the RFC 8785 text that the digest names."""

    kind: str
    document: str


FactOfRun = type[Checkpoint] | type[Artifact] | type[Evaluation]
KEYS: Final[Mapping[FactOfRun, tuple[tuple[str, type[int] | type[str]], ...]]] = {
    Checkpoint: (("position", int), ("step", int), ("digest", str)),
    Artifact: (("position", int), ("role", str), ("digest", str)),
    Evaluation: (("position", int), ("record", str)),
}
"""What orders each list: one registration's record may hold many, which the rest of the key sets apart."""


def list_facts_of_run(
    session: Session,
    table: FactOfRun,
    namespace: str,
    run_id: str,
    after: tuple[int | str, ...] | None,
    limit: int,
) -> list[Fact]:
    """A run's checkpoints, artifacts or evaluations that follow the one with key `after`, newest first."""
    key = [sql_table(table).columns[name] for name, _ in KEYS[table]]
    statement = (
        select(col(table.document), *key)
        .where(col(table.namespace) == namespace, col(table.run_id) == run_id)
        .order_by(*(column.desc() for column in key))
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(tuple_(*key) < tuple_(*after))
    return [
        Fact(position=key[0], key=tuple(key), document=document)
        for document, *key in session.connection().execute(statement)
    ]


def list_datasets(
    session: Session, namespace: str, after: tuple[str, str] | None, limit: int
) -> list[tuple[str, str]]:
    """(namespace, name) of the data sets after `after`."""
    return _distinct_pairs(
        session, "snapshot_name", "dataset_namespace", "dataset_name", namespace, after, limit
    )


def list_models(
    session: Session, namespace: str, after: tuple[str, str] | None, limit: int
) -> list[tuple[str, str]]:
    """(registry, model) of the registered models after `after`."""
    return _distinct_pairs(session, "model_version", "registry_name", "model", namespace, after, limit)


def _distinct_pairs(
    session: Session,
    table: str,
    first: str,
    second: str,
    namespace: str,
    after: tuple[str, str] | None,
    limit: int,
) -> list[tuple[str, str]]:
    """Walks the index from one pair to the next: a data set with a million snapshots costs as much as one
    with one, which SELECT DISTINCT doesn't promise."""
    place = f"WHERE namespace = :namespace AND ({first}, {second}) > "
    order = f"ORDER BY {first}, {second} LIMIT 1"
    following = ", ".join(
        f"(SELECT CAST({column} AS TEXT) FROM {table} {place} (pair.a, pair.b) {order})"
        for column in (first, second)
    )
    statement = (
        "WITH RECURSIVE pair(a, b, number) AS ("
        f"SELECT * FROM (SELECT CAST({first} AS TEXT), CAST({second} AS TEXT), 1 FROM {table} "
        f"{place} (:a, :b) {order}) AS start "
        f"UNION ALL SELECT {following}, number + 1 FROM pair WHERE number < :limit AND a IS NOT NULL) "
        "SELECT a, b FROM pair WHERE a IS NOT NULL ORDER BY number"
    )
    # Names are never empty: the empty pair is before all of them.
    given = {"namespace": namespace, "limit": limit, "a": "", "b": ""}
    if after is not None:
        given |= {"a": after[0], "b": after[1]}
    return [(row[0], row[1]) for row in session.connection().execute(text(statement), given)]


def list_snapshots(
    session: Session, namespace: str, dataset: tuple[str, str], after: tuple[int, str] | None, limit: int
) -> list[SnapshotLine]:
    """Snapshots of a data set, newest first; one record may hold several, which the digest sets apart."""
    statement = (
        select(
            col(SnapshotName.position),
            col(SnapshotName.digest),
            col(DataSnapshot.grade),
            col(DataSnapshot.document),
        )
        .join(
            DataSnapshot,
            (col(DataSnapshot.namespace) == col(SnapshotName.namespace))
            & (col(DataSnapshot.digest) == col(SnapshotName.digest)),
        )
        .where(
            col(SnapshotName.namespace) == namespace,
            col(SnapshotName.dataset_namespace) == dataset[0],
            col(SnapshotName.dataset_name) == dataset[1],
        )
        .order_by(col(SnapshotName.position).desc(), col(SnapshotName.digest).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(
            tuple_(col(SnapshotName.position), col(SnapshotName.digest)) < tuple_(*after)
        )
    return [SnapshotLine(*row) for row in session.connection().execute(statement)]


def get_snapshot(session: Session, namespace: str, digest: str) -> SnapshotLine:
    """Raises NotFound."""
    statement = select(
        col(DataSnapshot.position),
        col(DataSnapshot.digest),
        col(DataSnapshot.grade),
        col(DataSnapshot.document),
    ).where(col(DataSnapshot.namespace) == namespace, col(DataSnapshot.digest) == digest)
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound("no snapshot with this digest in this namespace; list data sets with GET /v1/datasets")
    return SnapshotLine(*row)


def get_ingredient(session: Session, namespace: str, digest: str) -> StoredIngredient:
    """Raises NotFound."""
    statement = select(col(Ingredient.kind), col(Ingredient.document)).where(
        col(Ingredient.namespace) == namespace, col(Ingredient.digest) == digest
    )
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound("no ingredient with this digest in this namespace; runs name theirs")
    check_bytes("ingredient", digest, row[1].encode())
    return StoredIngredient(*row)
