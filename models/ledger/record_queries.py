"""Reading records: the canonical bytes of one, the history of a subject, and where the log keeps what."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select
from sqlmodel import Session, col

from models.errors import NotFound
from models.ledger.tables import Record
from models.ledger.verified import check_bytes


@dataclass(frozen=True, slots=True)
class RecordLine:
    """What a list shows of a record."""

    digest: str
    kind: str
    position: int
    recorded_at: datetime
    level: str


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """`payload` is the record itself: the bytes that its digest names."""

    line: RecordLine
    payload: bytes


@dataclass(frozen=True, slots=True)
class Leaf:
    """A record's place in the log and what its leaf is made from."""

    position: int
    digest: str
    kind: str
    leaf_hash: bytes


_LINE = (
    col(Record.digest),
    col(Record.kind),
    col(Record.position),
    col(Record.recorded_at),
    col(Record.level),
)
_LEAF = (col(Record.position), col(Record.digest), col(Record.kind), col(Record.leaf_hash))


def get_record(session: Session, namespace: str, digest: str) -> StoredRecord:
    """Raises NotFound, and LedgerDamaged when its bytes are not those that the digest names."""
    statement = select(*_LINE, col(Record.payload)).where(
        col(Record.namespace) == namespace, col(Record.digest) == digest
    )
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound("no record with this digest in this namespace; name the record as answers give it")
    check_bytes(f"record at position {row[2]}", digest, row[5])
    return StoredRecord(RecordLine(*row[:5]), row[5])


def list_records(
    session: Session, namespace: str, subject: str, after: int | None, limit: int
) -> list[RecordLine]:
    """Records of a subject, such as `run:<run id>`, before log position `after`, newest first."""
    statement = (
        select(*_LINE)
        .where(col(Record.namespace) == namespace, col(Record.subject) == subject)
        .order_by(col(Record.position).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(col(Record.position) < after)
    return [RecordLine(*row) for row in session.connection().execute(statement)]


def records_named(connection: Connection, namespace: str, digests: Collection[str]) -> dict[str, RecordLine]:
    """Those of these records that the namespace has, by digest."""
    statement = select(*_LINE).where(col(Record.namespace) == namespace, col(Record.digest).in_(digests))
    return {row[0]: RecordLine(*row) for row in connection.execute(statement)} if digests else {}


def get_leaf(session: Session, namespace: str, digest: str) -> Leaf:
    """The leaf of a record of this namespace. Raises NotFound."""
    statement = select(*_LEAF).where(col(Record.namespace) == namespace, col(Record.digest) == digest)
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound("no record with this digest in this namespace; name the record as answers give it")
    return Leaf(row[0], row[1], row[2], bytes(row[3]))


def get_leaf_at(session: Session, position: int) -> Leaf:
    """The leaf at a position that the log has, of any namespace: a leaf holds nothing of its tenant."""
    row = session.connection().execute(select(*_LEAF).where(col(Record.position) == position)).one()
    return Leaf(row[0], row[1], row[2], bytes(row[3]))
