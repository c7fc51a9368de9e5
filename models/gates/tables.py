"""Projections of gates, decisions, reviews and waivers; each can be made again from the records."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text
from sqlmodel import Field

from models.columns import Table, UTCDateTime

_NAMESPACE = String(256)
_DIGEST = String(71)
_NAME = String(128)
_MODEL = String(256)
_PERSON = String(64)


class Gate(Table, table=True):
    """The current version of each gate. One gate at most stands before a model's target."""

    __tablename__ = "gate"
    __table_args__ = (Index(None, "namespace", "position"), Index(None, "model", "namespace", "target"))

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    name: str = Field(primary_key=True, sa_type=_NAME)
    version: int = Field(sa_type=Integer)
    digest: str = Field(sa_type=_DIGEST)
    document_digest: str = Field(sa_type=_DIGEST)
    model: str = Field(sa_type=_MODEL)
    target: str = Field(sa_type=_MODEL)
    owner: str | None = Field(default=None, sa_type=_PERSON)
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)


class GateVersion(Table, table=True):
    """`owner` is the pseudonym of the person who published it."""

    __tablename__ = "gate_version"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    name: str = Field(primary_key=True, sa_type=_NAME)
    version: int = Field(primary_key=True, sa_type=Integer)
    digest: str = Field(sa_type=_DIGEST)
    document_digest: str = Field(sa_type=_DIGEST)
    owner: str | None = Field(default=None, sa_type=_PERSON)
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class GateDecision(Table, table=True):
    """A decision; `document` is its predicate, as it was signed, with the record's digest in front, `summary` what a
    lineage shows of it."""

    __tablename__ = "gate_decision"
    __table_args__ = (
        # Finding the one in force walks to the newest of exactly one artifact and target.
        Index(None, "artifact", "namespace", "mode", "model", "target", "position"),
        Index(None, "namespace", "position"),
        Index(None, "namespace", "model", "position"),
        Index(None, "namespace", "gate", "position"),
        Index(None, "namespace", "verdict", "position"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    type: str = Field(sa_type=String(16))
    mode: str = Field(sa_type=String(16))
    verdict: str = Field(sa_type=String(16))
    model: str = Field(sa_type=_MODEL)
    version: str | None = Field(default=None, sa_type=_NAME)
    target: str = Field(sa_type=_MODEL)
    artifact: str = Field(sa_type=_DIGEST)
    gate: str | None = Field(default=None, sa_type=_NAME)
    gate_version: int | None = Field(default=None, sa_type=Integer)
    valid_until: datetime | None = Field(default=None, sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)
    summary: str = Field(sa_type=Text)
    document: str = Field(sa_type=Text)


class DecisionInput(Table, table=True):
    """A record that a decision read, and the key that made it."""

    __tablename__ = "decision_input"
    __table_args__ = (Index(None, "record", "namespace"),)

    decision: str = Field(primary_key=True, sa_type=_DIGEST)
    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    key_id: str = Field(sa_type=String(64))
    position: int = Field(sa_type=BigInteger)


class Review(Table, table=True):
    """`owner` is the reviewer's pseudonym, `at` when the log took it."""

    __tablename__ = "review"
    __table_args__ = (
        Index(None, "artifact", "namespace", "position"),
        Index(None, "decision", "namespace", "position"),
        Index(None, "namespace", "position"),
        Index(None, "namespace", "action", "position"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    action: str = Field(sa_type=String(16))
    decision: str = Field(sa_type=_DIGEST)
    gate: str = Field(sa_type=_NAME)
    policy_version: int = Field(sa_type=Integer)
    model: str = Field(sa_type=_MODEL)
    artifact: str = Field(sa_type=_DIGEST)
    target: str = Field(sa_type=_MODEL)
    owner: str | None = Field(default=None, sa_type=_PERSON)
    at: datetime = Field(sa_type=UTCDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class Waiver(Table, table=True):
    __tablename__ = "waiver"
    __table_args__ = (
        Index(None, "artifact", "namespace", "position"),
        Index(None, "namespace", "position"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    gate: str = Field(sa_type=_NAME)
    policy_version: int = Field(sa_type=Integer)
    criterion: str = Field(sa_type=_NAME)
    model: str = Field(sa_type=_MODEL)
    artifact: str = Field(sa_type=_DIGEST)
    target: str = Field(sa_type=_MODEL)
    owner: str = Field(sa_type=_PERSON)
    at: datetime = Field(sa_type=UTCDateTime)
    expires_at: datetime = Field(sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class BreakGlass(Table, table=True):
    """One person's wish to pass by a gate."""

    __tablename__ = "break_glass"
    __table_args__ = (Index(None, "artifact", "namespace", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    model: str = Field(sa_type=_MODEL)
    version: str | None = Field(default=None, sa_type=_NAME)
    artifact: str = Field(sa_type=_DIGEST)
    target: str = Field(sa_type=_MODEL)
    owner: str = Field(sa_type=_PERSON)
    expires_at: datetime = Field(sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)
