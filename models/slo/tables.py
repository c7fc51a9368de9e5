"""Projections of SLOs, and beside them what is no record: signs of life of sources, and who ticks.

`slo_month` sums windows by the local month of their deadline, so that a report costs the months it covers and not the
windows that ever closed. What windows are judged by lies in evidence_tables.py.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text, text
from sqlmodel import Field

from models.columns import Table, UTCDateTime

_NAMESPACE = String(256)
_DIGEST = String(71)
_NAME = String(128)
_RUN = String(36)
_WINDOW = String(640)
_LOOKED_AT = text("look_at IS NOT NULL")
_OF_RUN = text("run_id IS NOT NULL")
_ABOUT = text("about IS NOT NULL")
_REVISED = text("revision > 1")
_MISSED = text("status IN ('breached', 'unknown')")


class Slo(Table, table=True):
    """The current version of each SLO. Its windows are written down up to `expected_until`, None before the first;
    `first_at` is when its first version was published."""

    __tablename__ = "slo"
    __table_args__ = (Index(None, "namespace", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    name: str = Field(primary_key=True, sa_type=_NAME)
    version: int = Field(sa_type=Integer)
    document_digest: str = Field(sa_type=_DIGEST)
    digest: str = Field(sa_type=_DIGEST)
    team: str = Field(sa_type=String(256))
    objective: str = Field(sa_type=String(256))
    expected_until: datetime | None = Field(default=None, sa_type=UTCDateTime)
    first_at: datetime = Field(sa_type=UTCDateTime)
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)


class SloVersion(Table, table=True):
    """`definition` is the document's JSON text; `document` is what answers show."""

    __tablename__ = "slo_version"
    __table_args__ = (Index(None, "namespace", "published_at"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    name: str = Field(primary_key=True, sa_type=_NAME)
    version: int = Field(primary_key=True, sa_type=Integer)
    digest: str = Field(sa_type=_DIGEST)
    document_digest: str = Field(sa_type=_DIGEST)
    published_at: datetime = Field(sa_type=UTCDateTime)
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    definition: str = Field(sa_type=Text)
    document: str = Field(sa_type=Text)


class SloWindow(Table, table=True):
    """A window as its last revision left it. `look_at` is when the tick has to judge it again, None when only new
    evidence can change it; `expected` is the record that wrote it down, `record` that of its last revision."""

    __tablename__ = "slo_window"
    __table_args__ = (
        Index(None, "namespace", "slo", "deadline_at"),
        Index(None, "namespace", "interval_start"),
        Index("ix_slo_window_look_at", "look_at", postgresql_where=_LOOKED_AT, sqlite_where=_LOOKED_AT),
        Index(
            "ix_slo_window_revised",
            "namespace",
            "slo",
            "deadline_at",
            postgresql_where=_REVISED,
            sqlite_where=_REVISED,
        ),
        Index(
            "ix_slo_window_missed",
            "namespace",
            "slo",
            "deadline_at",
            postgresql_where=_MISSED,
            sqlite_where=_MISSED,
        ),
        Index("ix_slo_window_run_id", "run_id", "namespace", postgresql_where=_OF_RUN, sqlite_where=_OF_RUN),
        Index("ix_slo_window_about", "about", "namespace", postgresql_where=_ABOUT, sqlite_where=_ABOUT),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    id: str = Field(primary_key=True, sa_type=_WINDOW)
    slo: str = Field(sa_type=_NAME)
    version: int = Field(sa_type=Integer)
    opens_at: datetime = Field(sa_type=UTCDateTime)
    deadline_at: datetime = Field(sa_type=UTCDateTime)
    due_at: datetime = Field(sa_type=UTCDateTime)
    deadline_local: str = Field(sa_type=String(256))
    day: str = Field(sa_type=String(10))
    interval_start: datetime | None = Field(default=None, sa_type=UTCDateTime)
    interval_end: datetime | None = Field(default=None, sa_type=UTCDateTime)
    holidays: str | None = Field(default=None, sa_type=String(256))
    tzdata: str | None = Field(default=None, sa_type=String(256))
    run_id: str | None = Field(default=None, sa_type=_RUN)
    about: str | None = Field(default=None, sa_type=_DIGEST)
    backfilled: int = Field(sa_type=Integer)
    status: str = Field(sa_type=String(16))
    reason: str | None = Field(default=None, sa_type=String(16))
    predicted: int = Field(sa_type=Integer)
    revision: int = Field(sa_type=Integer)
    good: int = Field(sa_type=BigInteger)
    bad: int = Field(sa_type=BigInteger)
    unsure: int = Field(sa_type=BigInteger)
    look_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    expected: str = Field(sa_type=_DIGEST)
    expected_position: int = Field(sa_type=BigInteger)
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class SloWindowRevision(Table, table=True):
    """One outcome of a window; the first one has revision 1."""

    __tablename__ = "slo_window_revision"
    __table_args__ = (Index(None, "namespace", "slo", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    window_id: str = Field(primary_key=True, sa_type=_WINDOW)
    revision: int = Field(primary_key=True, sa_type=Integer)
    slo: str = Field(sa_type=_NAME)
    status: str = Field(sa_type=String(16))
    predicted: int = Field(sa_type=Integer)
    restated: int = Field(sa_type=Integer)
    good: int = Field(sa_type=BigInteger)
    bad: int = Field(sa_type=BigInteger)
    unsure: int = Field(sa_type=BigInteger)
    recorded_at: datetime = Field(sa_type=UTCDateTime)
    record: str = Field(sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class SloMonth(Table, table=True):
    """Sums of the windows of one local month; `id` is the SLO's name, a slash and the month. `pending` to `excluded`
    count windows, `good`, `bad` and `unsure` what they count for: one each, or slices. `predicted` of the pending ones
    have failed already."""

    __tablename__ = "slo_month"
    __table_args__ = (Index(None, "namespace", "slo", "month"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    id: str = Field(primary_key=True, sa_type=String(160))
    slo: str = Field(sa_type=_NAME)
    month: str = Field(sa_type=String(7))
    pending: int = Field(sa_type=BigInteger)
    predicted: int = Field(sa_type=BigInteger)
    met: int = Field(sa_type=BigInteger)
    met_in_grace: int = Field(sa_type=BigInteger)
    breached: int = Field(sa_type=BigInteger)
    unknown: int = Field(sa_type=BigInteger)
    excluded: int = Field(sa_type=BigInteger)
    good: int = Field(sa_type=BigInteger)
    bad: int = Field(sa_type=BigInteger)
    unsure: int = Field(sa_type=BigInteger)


class SloExclusion(Table, table=True):
    """What is left out: a time, or the windows in the JSON list `windows`. `owner` took it upon himself."""

    __tablename__ = "slo_exclusion"
    __table_args__ = (Index(None, "namespace", "slo", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    slo: str = Field(sa_type=_NAME)
    starts_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    ends_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    windows: str | None = Field(default=None, sa_type=Text)
    retroactive: int = Field(sa_type=Integer)
    owner: str = Field(sa_type=String(64))
    recorded_at: datetime = Field(sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class SourceLife(Table, table=True):
    """A time over which a source gave signs of life without a gap; not a record and not rebuilt. The source is taken
    to live until `alive_until`: its last heartbeat and one interval more."""

    __tablename__ = "source_life"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    source: str = Field(primary_key=True, sa_type=String(256))
    began_at: datetime = Field(primary_key=True, sa_type=UTCDateTime)
    last_seen_at: datetime = Field(sa_type=UTCDateTime)
    alive_until: datetime = Field(sa_type=UTCDateTime)
    interval_seconds: int = Field(sa_type=Integer)


class TickLease(Table, table=True):
    """Which process does a kind of work for all; not a record. `cursor` is the log position up to which evidence was
    looked at, `done_at` when a round last came to its end."""

    __tablename__ = "tick_lease"

    name: str = Field(primary_key=True, sa_type=String(64))
    holder: str = Field(sa_type=String(64))
    expires_at: datetime = Field(sa_type=UTCDateTime)
    cursor: int = Field(sa_type=BigInteger)
    done_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
