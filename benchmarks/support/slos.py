"""Many SLOs and what became of their windows, in a database without waiting for the days.

Definitions are published through the ledger. Windows of days that are over are copied into the projections that reports
and ticks read: only what is asked about them is measured, not how they came.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, text

from api.services import opened_services
from api.settings import Settings
from api.slo_documents import read_definition
from benchmarks.support.load import explain
from models.actor import SYSTEM
from models.bulk import Row, insert_rows
from models.database import Database
from models.fields import instant_text
from models.kinds.registry import KINDS
from models.ledger.drafts import Item, make_draft
from models.slo.sums import Sums
from models.slo.tables import SloWindow
from shipworthy.formats.times import format_instant
from tests.support.databases import DatabaseUrls
from tests.support.facts import digest, run_id
from tests.support.slos import make_slo

SLOS: Final = 200
RECENT: Final = 5
"""Windows of each SLO that lie in the last minutes."""
_NAMESPACE: Final = "default"
_CHUNK: Final = 5_000
_SUMS: Final = tuple(field.name for field in fields(Sums))


def settings_of(urls: DatabaseUrls, folder: Path) -> Settings:
    return Settings(data=folder / "data", database_url=urls.service_url, migration_url=urls.migration_url)


def publish_slos(urls: DatabaseUrls, folder: Path) -> None:
    """All of them, in the namespace of the keys that a first start shows."""
    actor = replace(SYSTEM, namespace=_NAMESPACE)
    kind = KINDS["slo.published"]
    (folder / "data").mkdir(parents=True, exist_ok=True)
    with opened_services(settings_of(urls, folder)) as services:
        waiting = []
        for number in range(SLOS):
            body = read_definition(make_slo(_name(number)), "application/json").body(1)
            draft = make_draft(kind, actor, body, kind.body.model_validate(body))
            waiting.append(services.ledger.append(Item((draft,))))
        for future in waiting:
            future.result()


def _name(slo: int) -> str:
    return f"slo-{slo:03}"


def copy_windows(urls: DatabaseUrls, windows: Iterator[Row]) -> None:
    """Into the projections, with the sums of the months that they fall into."""
    database = Database(urls.service_url)
    began, number = time.perf_counter(), 0
    months: Counter[tuple[str, str, str]] = Counter()
    try:
        with database.connection() as connection:
            while chunk := list(islice(windows, _CHUNK)):
                insert_rows(connection, SloWindow, chunk)
                months.update((row["slo"], row["day"][:7], row["status"]) for row in chunk)
                number += len(chunk)
            _add_months(connection, months)
    finally:
        database.dispose()
    owner = Database(urls.migration_url)
    # Now, or PostgreSQL would clean up after so many rows by itself while something is measured.
    with owner.one_statement() as connection:
        connection.execute(text("VACUUM ANALYZE"))
    owner.dispose()
    explain(f"{number} windows copied in {time.perf_counter() - began:.0f} s")


def _add_months(connection: Connection, months: Mapping[tuple[str, str, str], int]) -> None:
    for (slo, month, status), count in months.items():
        row = dict.fromkeys(_SUMS, 0) | {
            "namespace": _NAMESPACE,
            "id": f"{slo}/{month}",
            "slo": slo,
            "month": month,
        }
        row |= {status: count, "good": count if status == "met" else 0}
        names = (status, "good")
        added = ", ".join(f"{name} = slo_month.{name} + excluded.{name}" for name in names)
        columns = ", ".join(row)
        values = ", ".join(f":{name}" for name in row)
        connection.execute(
            text(
                f"INSERT INTO slo_month ({columns}) VALUES ({values}) ON CONFLICT (namespace, id) DO UPDATE SET {added}"
            ),
            row,
        )


def closed_window(slo: int, number: int) -> Row:
    """Window `number`, counted back from now: a few minutes apart in this month, then one a day."""
    now = datetime.now(UTC)
    if number < RECENT:
        deadline = now - timedelta(minutes=1 + number)
    else:
        month = now.replace(day=1, hour=12, minute=0, second=0, microsecond=0)
        deadline = month - timedelta(days=1 + number)
    return _row(slo, f"closed-{number}", deadline, status="met", revision=1, good=1)


def due_window(slo: int, number: int) -> Row:
    deadline = datetime.now(UTC) - timedelta(seconds=30)
    return _row(slo, f"due-{number}", deadline, status="pending", look_at=deadline)


def _row(slo: int, id: str, deadline: datetime, **changes: object) -> Row:
    row: dict[str, Any] = {
        "namespace": _NAMESPACE,
        "id": f"{_name(slo)}/{id}",
        "slo": _name(slo),
        "version": 1,
        "opens_at": deadline - timedelta(hours=12),
        "deadline_at": deadline,
        "due_at": deadline,
        "deadline_local": deadline.isoformat(timespec="seconds"),
        "day": deadline.date().isoformat(),
        "interval_start": deadline - timedelta(hours=36),
        "interval_end": deadline - timedelta(hours=12),
        "holidays": "0.109",
        "tzdata": "2026f",
        "run_id": None,
        "about": None,
        "backfilled": 0,
        "status": "pending",
        "reason": None,
        "predicted": 0,
        "revision": 0,
        "good": 0,
        "bad": 0,
        "unsure": 0,
        "look_at": None,
        "expected": digest(1),
        "expected_position": 0,
        "record": digest(1),
        "position": 0,
    }
    row |= changes
    shown = {
        "id": row["id"],
        "opens_at": format_instant(row["opens_at"]),
        "deadline_utc": format_instant(deadline),
        "deadline_local": row["deadline_local"],
        "status": row["status"],
        "reason": None,
        "revision": row["revision"],
        "lateness_s": 0.0,
        "evidence": [digest(2)],
        "run_ids": [run_id(1)],
        "cause": None,
        "layer": None,
        "predicted": False,
        "restated": False,
        "judged_at": instant_text(deadline),
        "backfilled": False,
        "version": 1,
    }
    return row | {"document": json.dumps(shown, separators=(",", ":"))}
