"""Records as they are stored, read in log order and taken apart again. Memory is bounded by one chunk."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final, cast, get_type_hints

from sqlalchemy import Connection, and_, select, text
from sqlalchemy.exc import OperationalError

from models.bulk import sql_table
from models.columns import instant
from models.errors import LedgerDamaged
from models.kinds.registry import KINDS
from models.ledger.canonical import canonical_body
from models.ledger.entries import Entry
from models.ledger.tables import Record
from models.ledger.verified import check_bytes
from shipworthy.formats.canonical_json import parse_canonical

CHUNK_RECORDS: Final = 256
"""With 256 KiB a record at most 64 MiB of payloads are held at once."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One row of `record`; the fields are its columns."""

    position: int
    digest: str
    namespace: str
    kind: str
    subject: str
    idempotency_key: str
    content_digest: str
    level: str
    recorded_at: datetime
    payload: bytes
    leaf_hash: bytes


_COLUMNS: Final = tuple(sql_table(Record).columns[field.name] for field in fields(StoredRecord))
_TYPES: Final[Mapping[str, type]] = get_type_hints(StoredRecord)
MAX_POSITION: Final = 2**63 - 1
"""On SQLite a text and bytes in the place of a position come after every number; no record is there."""
_POSITION: Final = sql_table(Record).columns["position"]


def read_records(connection: Connection, *, salvaging: bool = False) -> Iterator[list[StoredRecord]]:
    """Every record in log order, in chunks.

    A row of SQLite with a value of another kind than its column's raises LedgerDamaged; when `salvaging` what can be
    made of it is given.
    """
    after = -1
    while True:
        place = and_(after < _POSITION, _POSITION <= MAX_POSITION)
        query = select(*_COLUMNS).where(place).order_by(_POSITION).limit(CHUNK_RECORDS)
        try:
            chunk = [_sound(StoredRecord(*row)) for row in connection.execute(query)]
        except (LedgerDamaged, OperationalError):
            if not salvaging or connection.dialect.name != "sqlite":
                raise
            chunk = _salvaged(connection, after)
        if not chunk:
            return
        yield chunk
        after = chunk[-1].position


def _sound(record: StoredRecord) -> StoredRecord:
    for field, wanted in _TYPES.items():
        if not isinstance(getattr(record, field), wanted):
            raise LedgerDamaged(
                f"the record at position {record.position} has another kind of value in {field} than was written: it "
                "was changed behind the service; run `shipworthy-server fsck`, and restore a backup"
            )
    return record


def _salvaged(connection: Connection, after: int) -> list[StoredRecord]:
    """The next chunk on SQLite with each value as its bytes, whatever kind it is kept as."""
    names = [field.name for field in fields(StoredRecord)][1:]
    columns = ", ".join(f"CAST({name} AS BLOB)" for name in names)
    rows = connection.execute(
        text(
            f"SELECT position, {columns} FROM record WHERE position > :after AND position <= :last "
            "ORDER BY position LIMIT :limit"
        ),
        {"after": after, "last": MAX_POSITION, "limit": CHUNK_RECORDS},
    )
    chunk = []
    for position, *values in rows:
        made: dict[str, Any] = {
            name: _made(_TYPES[name], value or b"") for name, value in zip(names, values, strict=True)
        }
        chunk.append(StoredRecord(position, **made))
    return chunk


def _made(wanted: type, value: bytes) -> bytes | str | datetime | None:
    if wanted is bytes:
        return value
    written = value.decode(errors="replace")
    if wanted is str:
        return written
    try:
        return instant(written)
    except LedgerDamaged:
        return datetime.min.replace(tzinfo=UTC)


def entries_about(connection: Connection, namespace: str, subject: str, as_of: int) -> Iterator[Entry]:
    """What was recorded about a subject up to a position, in log order."""
    table = sql_table(Record).columns
    query = select(*_COLUMNS).where(
        table["namespace"] == namespace, table["subject"] == subject, as_of >= _POSITION
    )
    for row in connection.execute(query.order_by(_POSITION)):
        record = StoredRecord(*row)
        check_bytes(f"record at position {record.position}", record.digest, record.payload)
        yield entry_of(record, cast(Mapping[str, Any], parse_canonical(record.payload)))


def entry_of(record: StoredRecord, envelope: Mapping[str, Any]) -> Entry:
    """The record as projections see it. ValueError, KeyError or TypeError when it is not what it must be."""
    body = envelope["body"]
    # JSON rules and not Python's: an enum or a time within a body is text.
    fact = KINDS[record.kind].body.model_validate_json(json.dumps(body))
    return Entry(
        kind=record.kind,
        namespace=record.namespace,
        digest=record.digest,
        content=record.content_digest,
        position=record.position,
        recorded_at=record.recorded_at,
        fact=fact,
        body=body,
        canonical=canonical_body(body),
        run_id=getattr(fact, "run_id", None),
        level=record.level,
        owner=envelope["actor"]["owner"],
    )
