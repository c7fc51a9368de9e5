"""Projections of contracts, baselines and results of checks; each can be made again from the records."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text
from sqlmodel import Field

from models.columns import Table, UTCDateTime

_NAMESPACE = String(256)
_DIGEST = String(71)
_NAME = String(128)
_RUN = String(36)


class Contract(Table, table=True):
    """The current version of each contract; `objects` is a JSON list of its tables and how many rules each has."""

    __tablename__ = "contract"
    __table_args__ = (Index(None, "namespace", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    name: str = Field(primary_key=True, sa_type=_NAME)
    version: int = Field(sa_type=Integer)
    digest: str = Field(sa_type=_DIGEST)
    suite_digest: str = Field(sa_type=_DIGEST)
    baseline: str | None = Field(default=None, sa_type=_DIGEST)
    objects: str = Field(sa_type=Text)
    position: int = Field(sa_type=BigInteger)


class ContractVersion(Table, table=True):
    __tablename__ = "contract_version"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    name: str = Field(primary_key=True, sa_type=_NAME)
    version: int = Field(primary_key=True, sa_type=Integer)
    digest: str = Field(sa_type=_DIGEST)
    suite_digest: str = Field(sa_type=_DIGEST)
    baseline: str | None = Field(default=None, sa_type=_DIGEST)
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class Baseline(Table, table=True):
    """`owner` is the pseudonym of the person who asked for it, whom an approver must not be. `content` is the RFC 8785
    text that the digest names, `document` what lists show: all but the columns' figures."""

    __tablename__ = "baseline"
    __table_args__ = (Index(None, "namespace", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    manifest: str = Field(sa_type=_DIGEST)
    owner: str | None = Field(default=None, sa_type=String(256))
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)
    content: str = Field(sa_type=Text)


class BaselineApproval(Table, table=True):
    __tablename__ = "baseline_approval"
    __table_args__ = (Index(None, "baseline", "namespace", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    baseline: str = Field(sa_type=_DIGEST)
    owner: str = Field(sa_type=String(64))
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class ContractCheck(Table, table=True):
    """A result. `parameters` is the SHA-256 of its parameters as RFC 8785 JSON, `document` its summary: all of the
    record's body but the single checks."""

    __tablename__ = "contract_check"
    __table_args__ = (
        Index(None, "namespace", "position"),
        Index(None, "namespace", "contract", "position"),
        Index(None, "namespace", "outcome", "position"),
        Index(None, "manifest", "namespace", "position"),
        Index(None, "transformation", "namespace"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    contract: str = Field(sa_type=_NAME)
    version: int = Field(sa_type=Integer)
    object: str = Field(sa_type=String(256))
    manifest: str = Field(sa_type=_DIGEST)
    transformation: str | None = Field(default=None, sa_type=_DIGEST)
    parameters: str = Field(sa_type=_DIGEST)
    as_of: datetime = Field(sa_type=UTCDateTime)
    run_id: str | None = Field(default=None, sa_type=_RUN)
    outcome: str = Field(sa_type=String(16))
    evidence_level: str = Field(sa_type=String(16))
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)
