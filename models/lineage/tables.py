"""Projections: what queries read. Every row can be dropped and made again from the records (`db rebuild`).

`document` columns hold JSON text that answers pass through unchanged. `position` is the log position of the record
that made the row, by which an answer "as of" a time leaves it out.

Rows of a run are keyed by run first. Keyed by namespace first, PostgreSQL took that key to look digests up with as long
as it had no statistics, and read a whole namespace for each lineage.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text, text
from sqlmodel import Field

from models.columns import Table, UTCDateTime

_NAMESPACE = String(256)
_DIGEST = String(71)
_RUN = String(36)
_NAME = String(512)
_OPEN = text("state NOT IN ('completed', 'failed', 'aborted')")
_ATTEMPTED = text("attempt IS NOT NULL")


class Run(Table, table=True):
    """One row a run: the fold over its facts, with the columns that lists filter by."""

    __tablename__ = "run"
    __table_args__ = (
        Index(None, "namespace", "position"),
        Index(None, "namespace", "job_namespace", "job_name", "position"),
        Index(None, "recipe_digest", "namespace"),
        Index(None, "family_digest", "namespace"),
        # Runs under way are few: lists of them must not walk all that ever ended.
        Index("ix_run_open", "namespace", "position", postgresql_where=_OPEN, sqlite_where=_OPEN),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    run_id: str = Field(primary_key=True, sa_type=_RUN)
    position: int = Field(sa_type=BigInteger)
    job_namespace: str = Field(sa_type=String(256))
    job_name: str = Field(sa_type=_NAME)
    team: str | None = Field(default=None, sa_type=String(256))
    owner: str | None = Field(default=None, sa_type=String(64))
    state: str = Field(sa_type=String(16))
    started_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    last_event_at: datetime = Field(sa_type=UTCDateTime)
    heartbeat_seconds: int | None = Field(default=None, sa_type=Integer)
    last_step: int | None = Field(default=None, sa_type=BigInteger)
    recipe_digest: str | None = Field(default=None, sa_type=_DIGEST)
    family_digest: str | None = Field(default=None, sa_type=_DIGEST)
    document: str = Field(sa_type=Text)


class RunLink(Table, table=True):
    """An edge of the lineage graph: a run reads ("in") or wrote ("out") something with a digest."""

    __tablename__ = "run_link"
    __table_args__ = (Index(None, "digest", "namespace", "direction"),)

    run_id: str = Field(primary_key=True, sa_type=_RUN)
    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    direction: str = Field(primary_key=True, sa_type=String(3))
    kind: str = Field(primary_key=True, sa_type=String(16))
    role: str = Field(primary_key=True, sa_type=String(256))
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)


class Ingredient(Table, table=True):
    """Code, environment, config, hardware, seeds and transformations, shared by digest."""

    __tablename__ = "ingredient"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    kind: str = Field(sa_type=String(16))
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class DataSnapshot(Table, table=True):
    """What is known of the data with this digest. `position` is that of the first record about it, `changed` of the
    last that said something new; `dataset_name` is one of its names."""

    __tablename__ = "snapshot"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    dataset_name: str = Field(sa_type=_NAME)
    grade: str = Field(sa_type=String(16))
    position: int = Field(sa_type=BigInteger)
    changed: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class SnapshotBefore(Table, table=True):
    """What was known of a snapshot from `position` on, before the record at `until` said more."""

    __tablename__ = "snapshot_before"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    until: int = Field(primary_key=True, sa_type=BigInteger)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class SnapshotName(Table, table=True):
    """A data set that a snapshot is of: the same bytes may be known under several names."""

    __tablename__ = "snapshot_name"
    __table_args__ = (
        Index(None, "digest", "namespace"),
        Index(None, "namespace", "dataset_namespace", "dataset_name", "position"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    dataset_namespace: str = Field(primary_key=True, sa_type=String(256))
    dataset_name: str = Field(primary_key=True, sa_type=_NAME)
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)


class Checkpoint(Table, table=True):
    __tablename__ = "checkpoint"
    __table_args__ = (Index(None, "digest", "namespace"), Index(None, "run_id", "namespace", "step"))

    run_id: str = Field(primary_key=True, sa_type=_RUN)
    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    step: int = Field(sa_type=BigInteger)
    trained_until: datetime = Field(sa_type=UTCDateTime)
    level: str = Field(sa_type=String(16))
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class CheckpointVerification(Table, table=True):
    __tablename__ = "checkpoint_verification"
    __table_args__ = (Index(None, "checkpoint", "namespace"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    checkpoint: str = Field(sa_type=_DIGEST)
    level: str = Field(sa_type=String(16))
    outcome: str = Field(sa_type=String(8))
    checked_at: datetime = Field(sa_type=UTCDateTime)
    evidence_level: str = Field(sa_type=String(16))
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class Artifact(Table, table=True):
    __tablename__ = "artifact"
    __table_args__ = (Index(None, "digest", "namespace"),)

    run_id: str = Field(primary_key=True, sa_type=_RUN)
    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    role: str = Field(primary_key=True, sa_type=String(256))
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class Evaluation(Table, table=True):
    """Measurements of the thing with digest `subject`, or of a run's training state when it has none; `digest` is
    that of the evaluation's content. Without `attempt` nobody declared them before they were known."""

    __tablename__ = "evaluation"
    __table_args__ = (
        Index(None, "subject", "namespace", "position"),
        Index(None, "run_id", "namespace", "position"),
        Index(
            "ix_evaluation_attempt",
            "attempt",
            "namespace",
            "repeat",
            postgresql_where=_ATTEMPTED,
            sqlite_where=_ATTEMPTED,
        ),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    digest: str = Field(sa_type=_DIGEST)
    subject: str | None = Field(default=None, sa_type=_DIGEST)
    run_id: str | None = Field(default=None, sa_type=_RUN)
    dataset: str | None = Field(default=None, sa_type=_DIGEST)
    attempt: str | None = Field(default=None, sa_type=_DIGEST)
    repeat: int = Field(sa_type=BigInteger)
    evidence_level: str = Field(sa_type=String(16))
    position: int = Field(sa_type=BigInteger)
    recorded_at: datetime = Field(sa_type=UTCDateTime)
    document: str = Field(sa_type=Text)


class ModelVersion(Table, table=True):
    __tablename__ = "model_version"
    __table_args__ = (
        Index(None, "artifact", "namespace"),
        Index(None, "run_id", "namespace"),
        Index(None, "namespace", "model", "position"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    registry_name: str = Field(primary_key=True, sa_type=String(256))
    model: str = Field(primary_key=True, sa_type=String(256))
    version: str = Field(primary_key=True, sa_type=String(128))
    artifact: str = Field(sa_type=_DIGEST)
    run_id: str = Field(sa_type=_RUN)
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class LineageManifest(Table, table=True):
    """The sealed lineage of a model version; a later fact that changes it makes revision n + 1."""

    __tablename__ = "lineage_manifest"
    __table_args__ = (Index(None, "digest", "namespace"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    registry_name: str = Field(primary_key=True, sa_type=String(256))
    model: str = Field(primary_key=True, sa_type=String(256))
    version: str = Field(primary_key=True, sa_type=String(128))
    revision: int = Field(primary_key=True, sa_type=Integer)
    digest: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class Revocation(Table, table=True):
    __tablename__ = "revocation"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    revoked: str = Field(sa_type=_DIGEST, index=True)
    effect: str = Field(sa_type=String(16))
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class RunProgress(Table, table=True):
    """Heartbeat and step, one mutable row per run and process; not a record and not rebuilt."""

    __tablename__ = "run_progress"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    run_id: str = Field(primary_key=True, sa_type=_RUN)
    process: str = Field(primary_key=True, sa_type=String(256))
    step: int | None = Field(default=None, sa_type=BigInteger)
    phase: str | None = Field(default=None, sa_type=String(256))
    received_at: datetime = Field(sa_type=UTCDateTime)
