"""Projections that windows are bound to and judged by: when runs ran, which time data is of, which reports are kept.

`run_timing` is what binding asks of runs that say when, for which data, or after which run they ran; other runs have no
row.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, text
from sqlmodel import Field

from models.columns import Table, UTCDateTime

_NAMESPACE = String(256)
_DIGEST = String(71)
_RUN = String(36)
_CONTINUES = text("continues IS NOT NULL")
_OF_INTERVAL = text("interval_end IS NOT NULL")
_QUEUED = text("queued_at IS NOT NULL")


class RunTiming(Table, table=True):
    """`continues` is the run that this one resumed from or is a child of."""

    __tablename__ = "run_timing"
    __table_args__ = (
        Index(
            "ix_run_timing_interval",
            "namespace",
            "interval_end",
            postgresql_where=_OF_INTERVAL,
            sqlite_where=_OF_INTERVAL,
        ),
        Index(
            "ix_run_timing_continues",
            "continues",
            "namespace",
            postgresql_where=_CONTINUES,
            sqlite_where=_CONTINUES,
        ),
        Index(
            "ix_run_timing_queued", "namespace", "queued_at", postgresql_where=_QUEUED, sqlite_where=_QUEUED
        ),
    )

    run_id: str = Field(primary_key=True, sa_type=_RUN)
    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    job_namespace: str = Field(sa_type=String(256))
    job_name: str = Field(sa_type=String(512))
    team: str | None = Field(default=None, sa_type=String(256))
    priority: str | None = Field(default=None, sa_type=String(256))
    state: str = Field(sa_type=String(16))
    queued_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    started_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    interval_start: datetime | None = Field(default=None, sa_type=UTCDateTime)
    interval_end: datetime | None = Field(default=None, sa_type=UTCDateTime)
    continues: str | None = Field(default=None, sa_type=_RUN)
    position: int = Field(sa_type=BigInteger)


class RunEnd(Table, table=True):
    """An end that was reported of one attempt of a run; `record` is the one that says so."""

    __tablename__ = "run_end"

    run_id: str = Field(primary_key=True, sa_type=_RUN)
    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    attempt: int = Field(primary_key=True, sa_type=Integer)
    ended_at: datetime = Field(primary_key=True, sa_type=UTCDateTime)
    state: str = Field(primary_key=True, sa_type=String(16))
    record: str = Field(sa_type=_DIGEST)
    recorded_at: datetime = Field(sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)


class SnapshotInterval(Table, table=True):
    """Which time a snapshot's data was extracted for."""

    __tablename__ = "snapshot_interval"
    __table_args__ = (Index(None, "namespace", "interval_end"), Index(None, "position"))

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    digest: str = Field(primary_key=True, sa_type=_DIGEST)
    dataset_namespace: str = Field(sa_type=String(256))
    dataset_name: str = Field(sa_type=String(512))
    interval_start: datetime = Field(sa_type=UTCDateTime)
    interval_end: datetime = Field(sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)


class EvaluationReport(Table, table=True):
    """A report of an evaluation that somebody promised to keep."""

    __tablename__ = "evaluation_report"
    __table_args__ = (Index(None, "namespace", "retain_until"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    digest: str = Field(sa_type=_DIGEST)
    retain_until: datetime = Field(sa_type=UTCDateTime)
    recorded_at: datetime = Field(sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)
