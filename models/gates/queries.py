"""Reading gates and decisions; lists are newest first by log position."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, exists, select
from sqlmodel import Session, col

from models.among import among
from models.bulk import sql_table
from models.errors import NotFound
from models.gates.rules import DECISION_NOT_FOUND, GATE_NOT_FOUND
from models.gates.tables import DecisionInput, Gate, GateDecision, GateVersion
from models.lineage.queries import Document

VERSION_NOT_FOUND: Final = "no such version of a gate in this namespace; list them with GET /v1/gates"
MAX_LISTED: Final = 500


@dataclass(frozen=True, slots=True)
class CurrentGate:
    """The latest version of a gate and where it stands; `owner` published it."""

    name: str
    version: int
    digest: str
    document_digest: str
    model: str
    target: str
    owner: str | None
    record: str


@dataclass(frozen=True, slots=True)
class PublishedGate:
    """One version; `digest` names the blob of its bytes."""

    version: int
    digest: str
    position: int
    document: str


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """`document` is the predicate as it was signed, with `decision` in front."""

    record: str
    type: str
    verdict: str
    model: str
    target: str
    artifact: str
    gate: str | None
    gate_version: int | None
    valid_until: datetime | None
    position: int
    document: str


_GATE: Final = tuple(
    sql_table(Gate).columns[name]
    for name in ("name", "version", "digest", "document_digest", "model", "target", "owner", "record")
)
_VERSION: Final = (
    col(GateVersion.version),
    col(GateVersion.digest),
    col(GateVersion.position),
    col(GateVersion.document),
)
DECISION_COLUMNS: Final = tuple(
    sql_table(GateDecision).columns[name]
    for name in (
        "record",
        "type",
        "verdict",
        "model",
        "target",
        "artifact",
        "gate",
        "gate_version",
        "valid_until",
        "position",
        "document",
    )
)


def find_gate(connection: Connection, namespace: str, name: str) -> CurrentGate | None:
    query = select(*_GATE).where(col(Gate.namespace) == namespace, col(Gate.name) == name)
    row = connection.execute(query).first()
    return None if row is None else CurrentGate(*row)


def get_gate(connection: Connection, namespace: str, name: str) -> CurrentGate:
    """Raises NotFound."""
    found = find_gate(connection, namespace, name)
    if found is None:
        raise NotFound(GATE_NOT_FOUND)
    return found


def find_gate_at(connection: Connection, namespace: str, model: str, target: str) -> CurrentGate | None:
    """The one gate that stands before a target of a model."""
    query = select(*_GATE).where(
        col(Gate.namespace) == namespace, col(Gate.model) == model, col(Gate.target) == target
    )
    row = connection.execute(query).first()
    return None if row is None else CurrentGate(*row)


def gates_of_model(connection: Connection, namespace: str, model: str) -> list[CurrentGate]:
    """Every gate that stands before a target of the model, by the target's name; a target has one at most."""
    query = (
        select(*_GATE)
        .where(col(Gate.namespace) == namespace, col(Gate.model) == model)
        .order_by(col(Gate.target))
        .limit(MAX_LISTED)
    )
    return [CurrentGate(*row) for row in connection.execute(query)]


def list_gates(session: Session, namespace: str, after: int | None, limit: int) -> list[Document]:
    """The current version of each gate, the last published first."""
    statement = (
        select(col(GateVersion.position), col(GateVersion.document))
        .join_from(
            Gate,
            GateVersion,
            (col(GateVersion.namespace) == col(Gate.namespace))
            & (col(GateVersion.name) == col(Gate.name))
            & (col(GateVersion.version) == col(Gate.version)),
        )
        .where(col(Gate.namespace) == namespace)
        .order_by(col(Gate.position).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(col(Gate.position) < after)
    return [Document(*row) for row in session.connection().execute(statement)]


def get_gate_version(connection: Connection, namespace: str, name: str, version: int | None) -> PublishedGate:
    """A version, the current one for None. Raises NotFound."""
    statement = (
        select(*_VERSION)
        .where(col(GateVersion.namespace) == namespace, col(GateVersion.name) == name)
        .order_by(col(GateVersion.version).desc())
        .limit(1)
    )
    if version is not None:
        statement = statement.where(col(GateVersion.version) == version)
    row = connection.execute(statement).first()
    if row is None:
        raise NotFound(GATE_NOT_FOUND if version is None else VERSION_NOT_FOUND)
    return PublishedGate(*row)


def list_gate_versions(
    session: Session, namespace: str, name: str, after: int | None, limit: int
) -> list[PublishedGate]:
    """Versions of a gate before version `after`, the latest first."""
    statement = (
        select(*_VERSION)
        .where(col(GateVersion.namespace) == namespace, col(GateVersion.name) == name)
        .order_by(col(GateVersion.version).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(col(GateVersion.version) < after)
    return [PublishedGate(*row) for row in session.connection().execute(statement)]


def get_decision(session: Session, namespace: str, decision: str) -> StoredDecision:
    """Raises NotFound."""
    query = select(*DECISION_COLUMNS).where(
        col(GateDecision.namespace) == namespace, col(GateDecision.record) == decision
    )
    row = session.connection().execute(query).first()
    if row is None:
        raise NotFound(DECISION_NOT_FOUND)
    return StoredDecision(*row)


def decision_on(session: Session, namespace: str, record: str) -> StoredDecision | None:
    """The last decision that read a record."""
    query = (
        select(*DECISION_COLUMNS)
        .join(
            DecisionInput,
            (col(DecisionInput.decision) == sql_table(GateDecision).columns["record"])
            & (col(DecisionInput.namespace) == sql_table(GateDecision).columns["namespace"]),
        )
        .where(col(DecisionInput.record) == record, col(DecisionInput.namespace) == namespace)
        .order_by(sql_table(GateDecision).columns["position"].desc())
        .limit(1)
    )
    row = session.connection().execute(query).first()
    return None if row is None else StoredDecision(*row)


def latest_decision(
    connection: Connection, namespace: str, model: str, target: str, artifact: str
) -> StoredDecision | None:
    """The newest enforced decision about exactly this; trial runs of a policy are passed over."""
    query = (
        select(*DECISION_COLUMNS)
        .where(
            col(GateDecision.artifact) == artifact,
            col(GateDecision.namespace) == namespace,
            col(GateDecision.mode) == "enforce",
            col(GateDecision.model) == model,
            col(GateDecision.target) == target,
        )
        .order_by(col(GateDecision.position).desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return None if row is None else StoredDecision(*row)


def superseded_among(session: Session, namespace: str, rows: Sequence[StoredDecision]) -> frozenset[str]:
    """Records of the enforced ones whose place a later decision about the same artifact and target has taken."""
    later, here = sql_table(GateDecision).alias("later"), sql_table(GateDecision).columns
    query = select(here.record).where(
        here.namespace == namespace,
        among(here.record, [row.record for row in rows]),
        here.mode == "enforce",
        exists().where(
            *(later.c[name] == here[name] for name in ("namespace", "artifact", "mode", "model", "target")),
            later.c.position > here.position,
        ),
    )
    return frozenset(session.connection().execute(query).scalars()) if rows else frozenset()


def list_decisions(
    session: Session, namespace: str, after: int | None, limit: int, **filters: str | None
) -> list[StoredDecision]:
    """Newest first; `filters` are columns and the values they must have, None for any."""
    columns = sql_table(GateDecision).columns
    statement = (
        select(*DECISION_COLUMNS)
        .where(col(GateDecision.namespace) == namespace)
        .order_by(col(GateDecision.position).desc())
        .limit(limit)
    )
    for name, value in filters.items():
        if value is not None:
            statement = statement.where(columns[name] == value)
    if after is not None:
        statement = statement.where(col(GateDecision.position) < after)
    return [StoredDecision(*row) for row in session.connection().execute(statement)]
