"""The SLO report over 200 SLOs with 100,000 closed windows against one with 1,000, and a tick over 10,000 due windows.

On PostgreSQL. Windows of days that are over are copied into the projections that reports and ticks read, five of each
SLO in the month that the report is about and all others in months before. The report is asked over one keep-alive
connection on loopback, once with little behind it and once with all. The tick judges 10,000 windows of which nothing is
known and appends a record for each: the time is that of the call, the memory what the process holds more at its end
than it did after a tick over a tenth of them. SHIPWORTHY_BENCH_WINDOWS and SHIPWORTHY_BENCH_DUE set other numbers for a
quick look.
"""

import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from sqlalchemy import Connection, text

from api.services import opened_services
from api.settings import Settings
from api.slo_documents import read_definition
from api.ticks.settling import WindowTick
from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Client
from benchmarks.support.load import Failed, explain, run
from benchmarks.support.processes import (
    Server,
    load_average,
    new_database,
    postgresql,
    processor_seconds,
    resident_bytes,
    shipworthy,
)
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
WINDOWS: Final = int(os.environ.get("SHIPWORTHY_BENCH_WINDOWS", "100000"))
FEW: Final = 1_000
DUE: Final = int(os.environ.get("SHIPWORTHY_BENCH_DUE", "10000"))
QUESTIONS: Final = 100
ROUNDS: Final = 5
REPORT_MS: Final = 50.0
MOST_RATIO: Final = 1.3
TICK_SECONDS: Final = 5.0
MOST_GROWTH_MIB: Final = 32.0
NAMESPACE: Final = "default"
CHUNK: Final = 5_000
SUMS: Final = tuple(field.name for field in fields(Sums))


def main() -> None:
    with postgresql() as postgres, tempfile.TemporaryDirectory() as folder:
        few, many = _reports(new_database(postgres, "reports"), Path(folder) / "reports")
        seconds, growth = _tick(new_database(postgres, "ticks"), Path(folder) / "ticks")
    finish(
        [
            Figure("slo_report_p99", many, "ms", many / REPORT_MS, 1, "at most"),
            Figure("slo_report_many_to_few", many, "ms", many / few, MOST_RATIO, "at most"),
            Figure("slo_tick", seconds, "s", seconds / TICK_SECONDS, 1, "at most"),
            Figure("slo_tick_memory", growth, "MiB", growth / MOST_GROWTH_MIB, 1, "at most"),
        ]
    )


def _reports(urls: DatabaseUrls, folder: Path) -> tuple[float, float]:
    """99th percentiles in milliseconds with few and with many closed windows."""
    _publish(urls, folder)
    _copy(urls, (_closed(slo, each) for slo in range(SLOS) for each in range(FEW // SLOS)))
    with shipworthy(folder, urls) as server:
        few = run(_measure(server))
        older = (WINDOWS - FEW) // SLOS
        _copy(urls, (_closed(slo, FEW // SLOS + each) for slo in range(SLOS) for each in range(older)))
        many = run(_measure(server))
    return few, many


def _tick(urls: DatabaseUrls, folder: Path) -> tuple[float, float]:
    """Seconds for all due windows, and MiB that the process grew by since a tick over a tenth of them."""
    _publish(urls, folder)
    _copy(urls, (_closed(slo, each) for slo in range(SLOS) for each in range(WINDOWS // SLOS)))
    with opened_services(_settings(urls, folder)) as services:
        tick = WindowTick(services.database, services.ledger, services.blobs)
        tick(datetime.now(UTC))
        held = 0
        seconds = 0.0
        for first, number in ((0, DUE // 10), (DUE // 10, DUE)):
            _copy(urls, (_due(each % SLOS, each) for each in range(first, first + number)))
            began = time.perf_counter()
            settled = tick(datetime.now(UTC))
            seconds = time.perf_counter() - began
            if settled != number:
                raise Failed(f"{settled} of {number} due windows were judged")
            grown = (resident_bytes(os.getpid()) - held) / 2**20
            held = resident_bytes(os.getpid())
            explain(f"{number} due windows in {seconds:.2f} s; {load_average()}")
    return seconds, grown


def _settings(urls: DatabaseUrls, folder: Path) -> Settings:
    return Settings(data=folder / "data", database_url=urls.service_url, migration_url=urls.migration_url)


def _publish(urls: DatabaseUrls, folder: Path) -> None:
    actor = replace(SYSTEM, namespace=NAMESPACE)
    kind = KINDS["slo.published"]
    (folder / "data").mkdir(parents=True)
    with opened_services(_settings(urls, folder)) as services:
        waiting = []
        for number in range(SLOS):
            body = read_definition(make_slo(_name(number)), "application/json").body(1)
            draft = make_draft(kind, actor, body, kind.body.model_validate(body))
            waiting.append(services.ledger.append(Item((draft,))))
        for future in waiting:
            future.result()


def _name(slo: int) -> str:
    return f"slo-{slo:03}"


def _copy(urls: DatabaseUrls, windows: Iterator[Row]) -> None:
    """Into the projections, with the sums of the months that they fall into."""
    database = Database(urls.service_url)
    began, number = time.perf_counter(), 0
    months: Counter[tuple[str, str, str]] = Counter()
    try:
        with database.connection() as connection:
            while chunk := list(islice(windows, CHUNK)):
                insert_rows(connection, SloWindow, chunk)
                months.update((row["slo"], row["day"][:7], row["status"]) for row in chunk)
                number += len(chunk)
            _add_months(connection, months)
    finally:
        database.dispose()
    owner = Database(urls.migration_url)
    with owner.connection() as connection:
        connection.execute(text("ANALYZE"))
    owner.dispose()
    explain(f"{number} windows copied in {time.perf_counter() - began:.0f} s")


def _add_months(connection: Connection, months: Mapping[tuple[str, str, str], int]) -> None:
    for (slo, month, status), count in months.items():
        row = dict.fromkeys(SUMS, 0) | {
            "namespace": NAMESPACE,
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


def _closed(slo: int, number: int) -> Row:
    """Window `number`, counted back from now: a few minutes apart in this month, then one a day."""
    now = datetime.now(UTC)
    if number < FEW // SLOS:
        deadline = now - timedelta(minutes=1 + number)
    else:
        month = now.replace(day=1, hour=12, minute=0, second=0, microsecond=0)
        deadline = month - timedelta(days=1 + number)
    return _row(slo, f"closed-{number}", deadline, status="met", revision=1, good=1)


def _due(slo: int, number: int) -> Row:
    deadline = datetime.now(UTC) - timedelta(seconds=30)
    return _row(slo, f"due-{number}", deadline, status="pending", look_at=deadline)


def _row(slo: int, id: str, deadline: datetime, **changes: object) -> Row:
    row: dict[str, Any] = {
        "namespace": NAMESPACE,
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


async def _measure(server: Server) -> float:
    """Median of the rounds' 99th percentiles, in milliseconds."""
    client = Client(server.port, server.token)
    try:
        tails = []
        for number in range(ROUNDS + 1):
            processor = processor_seconds(server.pid)
            taken = await _ask(client)
            processor = processor_seconds(server.pid) - processor
            if number:  # the first round warms up
                tails.append(quantiles(taken, n=100)[98])
                explain(
                    f"median {median(taken):.2f} ms, p99 {tails[-1]:.2f} ms; {1000 * processor / QUESTIONS:.2f} ms of "
                    f"the server's processor time each; {load_average()}"
                )
        return median(tails)
    finally:
        client.close()


async def _ask(client: Client) -> list[float]:
    taken = []
    for _ in range(QUESTIONS):
        began = time.perf_counter()
        answer = await client.request("GET", "/v1/slo-report")
        taken.append(1000 * (time.perf_counter() - began))
        if answer.status != 200 or answer.body.count(b'"sentence"') != SLOS:
            raise Failed(f"the report answered {answer.status}: {answer.body[:300]!r}")
    return taken


if __name__ == "__main__":
    main()
