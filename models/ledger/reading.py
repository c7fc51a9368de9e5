"""Records as they are stored, read in log order and taken apart again. Memory is bounded by one chunk."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import Connection, select

from models.bulk import sql_table
from models.kinds.registry import KINDS
from models.ledger.canonical import canonical_body
from models.ledger.entries import Entry
from models.ledger.tables import Record
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
_POSITION: Final = sql_table(Record).columns["position"]


def read_records(connection: Connection) -> Iterator[list[StoredRecord]]:
    """Every record in log order, in chunks."""
    after = -1
    while True:
        query = select(*_COLUMNS).where(after < _POSITION).order_by(_POSITION).limit(CHUNK_RECORDS)
        chunk = [StoredRecord(*row) for row in connection.execute(query)]
        if not chunk:
            return
        yield chunk
        after = chunk[-1].position


def entries_about(connection: Connection, namespace: str, subject: str, as_of: int) -> Iterator[Entry]:
    """What was recorded about a subject up to a position, in log order."""
    table = sql_table(Record).columns
    query = select(*_COLUMNS).where(
        table["namespace"] == namespace, table["subject"] == subject, as_of >= _POSITION
    )
    for row in connection.execute(query.order_by(_POSITION)):
        record = StoredRecord(*row)
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
