"""Projections of grants, promotions and what registries were seen to hold; each can be made again from the records."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text, text
from sqlmodel import Field

from models.columns import Table, UTCDateTime

_NAMESPACE = String(256)
_DIGEST = String(71)
_NAME = String(128)
_MODEL = String(256)
_UNSETTLED = text("settled_by IS NULL")


class ReleaseTarget(Table, table=True):
    """What one target holds by the records, and what is under way there. `how` is None when it holds nothing; `record`
    made it so. `before_…` is what it held until then, and still holds when the registry did not commit."""

    __tablename__ = "release_target"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    registry_name: str = Field(primary_key=True, sa_type=_MODEL)
    model: str = Field(primary_key=True, sa_type=_MODEL)
    target: str = Field(primary_key=True, sa_type=_MODEL)
    how: str | None = Field(default=None, sa_type=String(16))
    version: str | None = Field(default=None, sa_type=_NAME)
    artifact: str | None = Field(default=None, sa_type=_DIGEST)
    decision: str | None = Field(default=None, sa_type=_DIGEST)
    record: str | None = Field(default=None, sa_type=_DIGEST)
    since: datetime | None = Field(default=None, sa_type=UTCDateTime)
    before_version: str | None = Field(default=None, sa_type=_NAME)
    before_artifact: str | None = Field(default=None, sa_type=_DIGEST)
    open_grant: str | None = Field(default=None, sa_type=_DIGEST)
    open_until: datetime | None = Field(default=None, sa_type=UTCDateTime)
    demotion: str | None = Field(default=None, sa_type=_DIGEST)
    demotion_until: datetime | None = Field(default=None, sa_type=UTCDateTime)


class PromotionGrant(Table, table=True):
    """`settled_by` is the record that confirmed it or said that it failed."""

    __tablename__ = "promotion_grant"
    __table_args__ = (
        # Nearly all are settled; those that are not are asked for by every reconciliation.
        Index(
            "ix_promotion_grant_unsettled",
            "namespace",
            "position",
            postgresql_where=_UNSETTLED,
            sqlite_where=_UNSETTLED,
        ),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    registry_name: str = Field(sa_type=_MODEL)
    model: str = Field(sa_type=_MODEL)
    target: str = Field(sa_type=_MODEL)
    expires_at: datetime = Field(sa_type=UTCDateTime)
    settled_by: str | None = Field(default=None, sa_type=_DIGEST)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class PromotionEvent(Table, table=True):
    """What happened or was refused at a target. `moved` is 1 when the target held something else from then on."""

    __tablename__ = "promotion"
    __table_args__ = (
        Index(None, "namespace", "position"),
        Index(None, "namespace", "state", "position"),
        Index(None, "model", "namespace", "position"),
        # What a target held at a time is found by walking to the newest before it.
        Index("ix_promotion_moves", "model", "namespace", "registry_name", "target", "moved", "position"),
        Index(None, "artifact", "namespace", "position"),
    )

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    state: str = Field(sa_type=String(32))
    registry_name: str = Field(sa_type=_MODEL)
    model: str = Field(sa_type=_MODEL)
    target: str = Field(sa_type=_MODEL)
    version: str | None = Field(default=None, sa_type=_NAME)
    artifact: str | None = Field(default=None, sa_type=_DIGEST)
    moved: int = Field(sa_type=Integer)
    at: datetime = Field(sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class ReleasedVersion(Table, table=True):
    """A version that held a target: nobody deletes or overwrites what stands behind it. `artifact` is "" when it is not
    known, `targets` a JSON list of names."""

    __tablename__ = "released_version"
    __table_args__ = (Index(None, "namespace", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    registry_name: str = Field(primary_key=True, sa_type=_MODEL)
    model: str = Field(primary_key=True, sa_type=_MODEL)
    version: str = Field(primary_key=True, sa_type=_NAME)
    artifact: str = Field(primary_key=True, sa_type=_DIGEST)
    run_id: str | None = Field(default=None, sa_type=_MODEL)
    source: str | None = Field(default=None, sa_type=String(2048))
    targets: str = Field(sa_type=Text)
    position: int = Field(sa_type=BigInteger)


class Reconciliation(Table, table=True):
    """A comparison of a registry with the records; `report` names the blob of what was seen and found."""

    __tablename__ = "reconciliation"
    __table_args__ = (Index(None, "namespace", "registry_name", "position"),)

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    record: str = Field(primary_key=True, sa_type=_DIGEST)
    registry_name: str = Field(sa_type=_MODEL)
    report: str = Field(sa_type=_DIGEST)
    at: datetime = Field(sa_type=UTCDateTime)
    position: int = Field(sa_type=BigInteger)
    document: str = Field(sa_type=Text)


class ReconcilerSign(Table, table=True):
    """That a registry was looked at and showed what it did at the last record; mutable, outside the log."""

    __tablename__ = "reconciler_sign"

    namespace: str = Field(primary_key=True, sa_type=_NAMESPACE)
    registry_name: str = Field(primary_key=True, sa_type=_MODEL)
    seen_at: datetime = Field(sa_type=UTCDateTime)
