"""Work that workers claim over HTTP: mutable rows, not records. What comes of it is a record."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text, UniqueConstraint, text
from sqlmodel import Field

from models.columns import Table, UTCDateTime

_OPEN = text("state IN ('queued', 'running')")


class Work(Table, table=True):
    """One piece of work. Of a lease only the SHA-256 of its token is kept.

    `content_digest` is that of the request as it was sent, `result_digest` that of the result; `request` is JSON.
    """

    __tablename__ = "work"
    __table_args__ = (
        UniqueConstraint("namespace", "idempotency_key"),
        Index(None, "namespace", "kind", "state", "created_at", "id"),
        # What waits is little: a claim must not walk all that was ever done.
        Index("ix_work_open", "namespace", "created_at", "id", postgresql_where=_OPEN, sqlite_where=_OPEN),
    )

    namespace: str = Field(primary_key=True, sa_type=String(256))
    id: str = Field(primary_key=True, sa_type=String(36))
    kind: str = Field(sa_type=String(32))
    state: str = Field(sa_type=String(16))
    root: str = Field(sa_type=String(256))
    request: str = Field(sa_type=Text)
    content_digest: str = Field(sa_type=String(71))
    idempotency_key: str | None = Field(default=None, sa_type=String(256))
    requested_by: str | None = Field(default=None, sa_type=String(64))
    created_at: datetime = Field(sa_type=UTCDateTime)
    available_at: datetime = Field(sa_type=UTCDateTime)
    attempt: int = Field(sa_type=Integer)
    lease: str | None = Field(default=None, sa_type=String(71))
    lease_expires_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    worker: str | None = Field(default=None, sa_type=String(64))
    progress_done: int | None = Field(default=None, sa_type=BigInteger)
    progress_total: int | None = Field(default=None, sa_type=BigInteger)
    progress_text: str | None = Field(default=None, sa_type=String(256))
    reason: str | None = Field(default=None, sa_type=Text)
    result_digest: str | None = Field(default=None, sa_type=String(71))
    record: str | None = Field(default=None, sa_type=String(71))
    finished_at: datetime | None = Field(default=None, sa_type=UTCDateTime)


class WorkerRoot(Table, table=True):
    """A root that a worker of the namespace reads, and when one last asked for work on it."""

    __tablename__ = "worker_root"

    namespace: str = Field(primary_key=True, sa_type=String(256))
    root: str = Field(primary_key=True, sa_type=String(256))
    seen_at: datetime = Field(sa_type=UTCDateTime)
