"""Reading contracts, baselines and results of checks; lists are newest first by log position."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, col

from models.contracts.tables import Baseline, BaselineApproval, Contract, ContractCheck, ContractVersion
from models.errors import NotFound
from models.lineage.queries import Document

CONTRACT_NOT_FOUND = "no contract of this name in this namespace; list them with GET /v1/contracts"
VERSION_NOT_FOUND = "no such version of a contract in this namespace; list them with GET /v1/contracts"
BASELINE_NOT_FOUND = "no baseline with this digest in this namespace; make one with POST /v1/baselines"
CHECK_NOT_FOUND = "no contract check with this id in this namespace; list them with GET /v1/contract-checks"


@dataclass(frozen=True, slots=True)
class CurrentContract:
    """`objects` are the tables of the contract, each with `name`, `checks`, `blocking` and `not_evaluated`."""

    name: str
    version: int
    digest: str
    suite_digest: str
    baseline: str | None
    objects: Sequence[dict[str, Any]]
    position: int


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    version: int
    suite_digest: str
    position: int
    document: str


@dataclass(frozen=True, slots=True)
class StoredBaseline:
    """`content` is the RFC 8785 text that the digest names."""

    position: int
    document: str
    content: str


@dataclass(frozen=True, slots=True)
class CheckLine:
    record: str
    position: int
    document: str


def find_contract(session: Session, namespace: str, name: str) -> CurrentContract | None:
    statement = select(
        col(Contract.name),
        col(Contract.version),
        col(Contract.digest),
        col(Contract.suite_digest),
        col(Contract.baseline),
        col(Contract.objects),
        col(Contract.position),
    ).where(col(Contract.namespace) == namespace, col(Contract.name) == name)
    row = session.connection().execute(statement).first()
    if row is None:
        return None
    return CurrentContract(*row[:5], json.loads(row[5]), row[6])


def get_contract(session: Session, namespace: str, name: str) -> CurrentContract:
    """Raises NotFound."""
    found = find_contract(session, namespace, name)
    if found is None:
        raise NotFound(CONTRACT_NOT_FOUND)
    return found


def list_contracts(session: Session, namespace: str, after: int | None, limit: int) -> list[Document]:
    """The current version of each contract, the last published first."""
    statement = (
        select(col(ContractVersion.position), col(ContractVersion.document))
        .join_from(
            Contract,
            ContractVersion,
            (col(ContractVersion.namespace) == col(Contract.namespace))
            & (col(ContractVersion.name) == col(Contract.name))
            & (col(ContractVersion.version) == col(Contract.version)),
        )
        .where(col(Contract.namespace) == namespace)
        .order_by(col(Contract.position).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(col(Contract.position) < after)
    return [Document(*row) for row in session.connection().execute(statement)]


def list_contract_versions(
    session: Session, namespace: str, name: str, after: int | None, limit: int
) -> list[PublishedVersion]:
    """Versions of a contract before version `after`, the latest first."""
    statement = (
        select(*_VERSION)
        .where(col(ContractVersion.namespace) == namespace, col(ContractVersion.name) == name)
        .order_by(col(ContractVersion.version).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(col(ContractVersion.version) < after)
    return [PublishedVersion(*row) for row in session.connection().execute(statement)]


def get_contract_version(
    session: Session, namespace: str, name: str, version: int | None
) -> PublishedVersion:
    """A version, the current one for None. Raises NotFound."""
    statement = (
        select(*_VERSION)
        .where(col(ContractVersion.namespace) == namespace, col(ContractVersion.name) == name)
        .order_by(col(ContractVersion.version).desc())
        .limit(1)
    )
    if version is not None:
        statement = statement.where(col(ContractVersion.version) == version)
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound(CONTRACT_NOT_FOUND if version is None else VERSION_NOT_FOUND)
    return PublishedVersion(*row)


_VERSION = (
    col(ContractVersion.version),
    col(ContractVersion.suite_digest),
    col(ContractVersion.position),
    col(ContractVersion.document),
)


def list_baselines(session: Session, namespace: str, after: int | None, limit: int) -> list[Document]:
    statement = (
        select(col(Baseline.position), col(Baseline.document))
        .where(col(Baseline.namespace) == namespace)
        .order_by(col(Baseline.position).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(col(Baseline.position) < after)
    return [Document(*row) for row in session.connection().execute(statement)]


def get_baseline(session: Session, namespace: str, digest: str) -> StoredBaseline:
    """Raises NotFound."""
    statement = select(col(Baseline.position), col(Baseline.document), col(Baseline.content)).where(
        col(Baseline.namespace) == namespace, col(Baseline.digest) == digest
    )
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound(BASELINE_NOT_FOUND)
    return StoredBaseline(*row)


def list_approvals(session: Session, namespace: str, digest: str, limit: int) -> list[Document]:
    """Approvals of a baseline, the latest first."""
    statement = (
        select(col(BaselineApproval.position), col(BaselineApproval.document))
        .where(col(BaselineApproval.namespace) == namespace, col(BaselineApproval.baseline) == digest)
        .order_by(col(BaselineApproval.position).desc())
        .limit(limit)
    )
    return [Document(*row) for row in session.connection().execute(statement)]


def list_results(
    session: Session,
    namespace: str,
    after: int | None,
    limit: int,
    *,
    contract: str | None = None,
    snapshot: str | None = None,
    outcome: str | None = None,
) -> list[CheckLine]:
    """Results of checks, newest first; `snapshot` is the manifest digest of the data."""
    statement = (
        select(*_RESULT)
        .where(col(ContractCheck.namespace) == namespace)
        .order_by(col(ContractCheck.position).desc())
        .limit(limit)
    )
    for column, value in (
        (ContractCheck.contract, contract),
        (ContractCheck.manifest, snapshot),
        (ContractCheck.outcome, outcome),
    ):
        if value is not None:
            statement = statement.where(col(column) == value)
    if after is not None:
        statement = statement.where(col(ContractCheck.position) < after)
    return [CheckLine(*row) for row in session.connection().execute(statement)]


def get_result(session: Session, namespace: str, record: str) -> CheckLine:
    """Raises NotFound."""
    statement = select(*_RESULT).where(
        col(ContractCheck.namespace) == namespace, col(ContractCheck.record) == record
    )
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound(CHECK_NOT_FOUND)
    return CheckLine(*row)


_RESULT = (col(ContractCheck.record), col(ContractCheck.position), col(ContractCheck.document))
