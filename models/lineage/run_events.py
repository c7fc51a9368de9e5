"""What a run reported of itself over time, from its records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import select
from sqlmodel import Session, col

from models.ledger.tables import Record
from shipworthy.formats.times import parse_instant


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event as it was sent, and the record that holds it; a registration may hold many."""

    at: datetime
    record: str
    body: Mapping[str, Any]


def newest_events(session: Session, namespace: str, run_id: str, limit: int) -> list[RunEvent]:
    """Of the newest `limit` records that may hold events; the latest event first."""
    statement = (
        select(col(Record.digest), col(Record.payload))
        .where(
            col(Record.subject) == f"run:{run_id}",
            col(Record.namespace) == namespace,
            col(Record.kind).in_(("run.event", "run.registered")),
        )
        .order_by(col(Record.position).desc())
        .limit(limit)
    )
    found = [
        RunEvent(parse_instant(event["at"]), digest, event)
        for digest, payload in session.connection().execute(statement)
        for event in _events(orjson.loads(bytes(payload)))
    ]
    return sorted(found, key=lambda event: event.at, reverse=True)


def _events(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    body: Mapping[str, Any] = record["body"]
    if record["kind"] == "run.event":
        yield body
    yield from body.get("events", ())
