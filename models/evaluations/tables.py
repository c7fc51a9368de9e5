"""Projections of attempts, their statistics, extensions and evidence; each can be made again from the records."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text, text
from sqlmodel import Field

from models.columns import Table, UTCDateTime

_NAMESPACE = String(256)
_DIGEST = String(71)
_LEVEL = String(16)
_OPEN = text("state = 'open'")


class EvaluationAttempt(Table, table=True):
    """One attempt; `record` is its id. `number` is its place among those of this namespace on this data set, `received`
    how many of its repeats have a result. `state` is open, closed or abandoned, `ended_by` the record that ended it.
    `document` is the body as it was recorded."""

    __tablename__ = "evaluation_attempt"
    __table_args__ = (
        Index(None, "namespace", "position"),
        Index(None, "namespace", "model", "position"),
        Index(None, "namespace", "state", "position"),
        Index(None, "dataset", "namespace", "position"),
        Index(None, "candidate", "namespace", "position"),
        Index("ix_evaluation_attempt_open", "expires_at", postgresql_where=_OPEN, sqlite_where=_OPEN),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    model: str = Field(sa_type=String(256))
    candidate: str = Field(sa_type=_DIGEST)
    incumbent: str | None = Field(default=None, sa_type=_DIGEST)
    dataset: str = Field(sa_type=_DIGEST)
    evaluator: str = Field(sa_type=_DIGEST)
    config: str = Field(sa_type=_DIGEST)
    protocol_digest: str = Field(sa_type=_DIGEST)
    repeats: int = Field(sa_type=Integer)
    number: int = Field(sa_type=BigInteger)
    received: int = Field(sa_type=Integer)
    state: str = Field(sa_type=String(16))
    opened_at: datetime = Field(sa_type=UTCDateTime)
    expires_at: datetime = Field(sa_type=UTCDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    ended_by: str | None = Field(default=None, sa_type=_DIGEST)
    owner: str | None = Field(default=None, sa_type=String(64))
    evidence_level: str = Field(sa_type=_LEVEL)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class AttemptCount(Table, table=True):
    """How many attempts a namespace has opened on a data set, whatever became of them."""

    __tablename__ = "attempt_count"
    __table_args__ = (Index(None, "dataset"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    dataset: str = Field(primary_key=True, sa_type=_DIGEST)
    attempts: int = Field(sa_type=BigInteger)


class AttemptExtension(Table, table=True):
    """What one person said; it counts when another one said the same of `dataset`, `extra` and `reason`."""

    __tablename__ = "attempt_extension"
    __table_args__ = (Index(None, "dataset", "namespace", "position"), Index(None, "namespace", "position"))

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    dataset: str = Field(sa_type=_DIGEST)
    extra: int = Field(sa_type=Integer)
    owner: str = Field(sa_type=String(64))
    reason: str = Field(sa_type=Text)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class Statistic(Table, table=True):
    """What a worker measured again, one row a record. `inputs_level` is the weakest level of the attempt and of every
    evaluation that it rests on, `document` the whole body."""

    __tablename__ = "statistic"
    __table_args__ = (
        Index(None, "attempt", "namespace", "position"),
        Index(None, "candidate", "namespace", "position"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    attempt: str = Field(sa_type=_DIGEST)
    candidate: str = Field(sa_type=_DIGEST)
    incumbent: str | None = Field(default=None, sa_type=_DIGEST)
    dataset: str = Field(sa_type=_DIGEST)
    protocol_digest: str = Field(sa_type=_DIGEST)
    outcome: str = Field(sa_type=String(8))
    evidence_level: str = Field(sa_type=_LEVEL)
    inputs_level: str = Field(sa_type=_LEVEL)
    position: int = Field(sa_type=BigInteger)
    recorded_at: datetime = Field(sa_type=UTCDateTime)
    document: str = Field(sa_type=Text)


class Evidence(Table, table=True):
    __tablename__ = "evidence"
    __table_args__ = (
        Index(None, "namespace", "position"),
        Index(None, "namespace", "kind", "position"),
        Index(None, "subject", "namespace", "position"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    subject: str = Field(sa_type=_DIGEST)
    kind: str = Field(sa_type=String(256))
    outcome: str = Field(sa_type=String(8))
    producer: str = Field(sa_type=String(256))
    produced_at: datetime = Field(sa_type=UTCDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    evidence_level: str = Field(sa_type=_LEVEL)
    position: int = Field(sa_type=BigInteger)
    recorded_at: datetime = Field(sa_type=UTCDateTime)
    document: str = Field(sa_type=Text)
