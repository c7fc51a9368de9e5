"""The ledger's tables. Rows are only ever added; `disclosure` alone may lose rows (erasure).

`record.position` is the leaf index in the log. `tree_node` keeps the hashes of perfect subtrees of 256, 65,536 …
leaves: with the leaf hashes beside the records a proof reads at most 256 hashes per eight levels.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text, UniqueConstraint
from sqlmodel import Field

from models.columns import Bytes, Table, UTCDateTime


class Record(Table, table=True):
    __tablename__ = "record"
    __table_args__ = (
        UniqueConstraint("digest"),
        UniqueConstraint("idempotency_key", "namespace"),
        Index(None, "subject", "namespace", "position"),
    )

    position: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs={"autoincrement": False})
    digest: str = Field(sa_type=String(71))
    namespace: str = Field(sa_type=String(256))
    kind: str = Field(sa_type=String(64))
    subject: str = Field(sa_type=String(800))
    idempotency_key: str = Field(sa_type=String(700))
    content_digest: str = Field(sa_type=String(71))
    level: str = Field(sa_type=String(16))
    recorded_at: datetime = Field(sa_type=UTCDateTime)
    payload: bytes = Field(sa_type=Bytes)
    leaf_hash: bytes = Field(sa_type=Bytes(32))


class TreeNode(Table, table=True):
    __tablename__ = "tree_node"

    level: int = Field(primary_key=True, sa_type=Integer)
    index: int = Field(primary_key=True, sa_type=BigInteger)
    hash: bytes = Field(sa_type=Bytes(32))


class TreeHead(Table, table=True):
    """One row a commit: the signed checkpoint and the hashes from which the next one is made."""

    __tablename__ = "tree_head"

    id: int = Field(primary_key=True, sa_type=BigInteger, sa_column_kwargs={"autoincrement": False})
    origin: str = Field(sa_type=String(256))
    size: int = Field(sa_type=BigInteger)
    frontier: bytes = Field(sa_type=Bytes)
    note: str = Field(sa_type=Text)
    committed_at: datetime = Field(sa_type=UTCDateTime)


class Disclosure(Table, table=True):
    """Salt and value behind a `$redactable` digest."""

    __tablename__ = "disclosure"

    digest: str = Field(primary_key=True, sa_type=String(71))
    namespace: str = Field(sa_type=String(256))
    salt: bytes = Field(sa_type=Bytes(16))
    value: str = Field(sa_type=Text)
