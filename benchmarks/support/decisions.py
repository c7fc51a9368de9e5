"""Decisions by the hundred thousand, copied into the projections that a lookup reads: each a pass in force."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import text

from benchmarks.support.load import explain
from models.bulk import Row, insert_rows
from models.database import Database
from models.gates.tables import DecisionInput, Gate, GateDecision
from tests.support.databases import DatabaseUrls
from tests.support.facts import digest

NAMESPACE: Final = "default"
MODEL: Final = "fraud-classifier"
TO: Final = "champion"
INPUTS: Final = 8
"""Records that each decision rests on."""
CHUNK: Final = 5_000
_FIRST_INPUT: Final = 10**12
_BASE: Final = 10**9


def copy_decisions(urls: DatabaseUrls, number: int, per_artifact: int = 1) -> None:
    """Decision n is about artifact `digest(n // per_artifact)`."""
    database = Database(urls.service_url)
    began = time.perf_counter()
    try:
        with database.connection() as connection:
            insert_rows(connection, Gate, [_gate()])
            for start in range(0, number, CHUNK):
                numbers = range(start, min(start + CHUNK, number))
                decisions = [_decision(each, digest(each // per_artifact)) for each in numbers]
                insert_rows(connection, GateDecision, decisions)
                insert_rows(connection, DecisionInput, [row for each in numbers for row in _inputs(each)])
    finally:
        database.dispose()
    owner = Database(urls.migration_url)
    with owner.connection() as connection:
        connection.execute(text("ANALYZE"))
    owner.dispose()
    explain(f"{number} decisions copied in {time.perf_counter() - began:.0f} s")


def _gate() -> Row:
    return {
        "namespace": NAMESPACE,
        "name": "gate",
        "version": 1,
        "digest": digest(1),
        "document_digest": digest(2),
        "model": MODEL,
        "target": TO,
        "owner": None,
        "record": digest(3),
        "position": 0,
    }


def _decision(number: int, artifact: str) -> Row:
    record = digest(_BASE + number)
    predicate = {
        "decision": record,
        "verdict": "passed",
        "sentence": "Passed.",
        "incumbent": {"artifact": None, "how": "none", "record": None, "target": TO},
        "gate": {"name": "gate", "version": 1, "digest": digest(1)},
        "unblocks": [],
        "reviews": [],
        "waivers": [],
        "criteria": [{"id": f"criterion-{each}", "sentence": "measured " * 20} for each in range(12)],
    }
    return {
        "namespace": NAMESPACE,
        "record": record,
        "type": "gate",
        "mode": "enforce",
        "verdict": "passed",
        "model": MODEL,
        "version": None,
        "target": TO,
        "artifact": artifact,
        "gate": "gate",
        "gate_version": 1,
        "valid_until": datetime.now(UTC) + timedelta(days=7),
        "position": number,
        "summary": "{}",
        "document": json.dumps(predicate),
    }


def _inputs(number: int) -> Iterator[Row]:
    for each in range(INPUTS):
        yield {
            "decision": digest(_BASE + number),
            "namespace": NAMESPACE,
            "record": digest(_FIRST_INPUT + number * INPUTS + each),
            "key_id": f"key{number % 50}",
            "position": number,
        }
