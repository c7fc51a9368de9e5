"""The SLO report over 200 SLOs with 100,000 closed windows against one with 1,000, and a tick over 10,000 due windows.

On PostgreSQL. Windows of days that are over are copied into the projections that reports and ticks read, five of each
SLO in the month that the report is about and all others in months before. The report is asked over one keep-alive
connection on loopback, once with little behind it and once with all. The tick judges 10,000 windows of which nothing is
known and records what became of each, with the garbage collector set as the service sets it: the time is that of the
call, the memory what the process holds more at its end than it did after a tick over a tenth of them.
SHIPWORTHY_BENCH_WINDOWS and SHIPWORTHY_BENCH_DUE set other numbers for a quick look.
"""

import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from api.cli.memory import spare_collector
from api.services import opened_services
from api.ticks.settling import WindowTick
from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Client
from benchmarks.support.load import Failed, explain, run
from benchmarks.support.processes import (
    Server,
    load_average,
    new_database,
    postgresql,
    resident_bytes,
    shipworthy,
)
from benchmarks.support.slos import (
    RECENT,
    SLOS,
    closed_window,
    copy_windows,
    due_window,
    publish_slos,
    settings_of,
)
from benchmarks.support.tails import tail_of
from tests.support.databases import DatabaseUrls

WINDOWS: Final = int(os.environ.get("SHIPWORTHY_BENCH_WINDOWS", "100000"))
FEW: Final = SLOS * RECENT
DUE: Final = int(os.environ.get("SHIPWORTHY_BENCH_DUE", "10000"))
QUESTIONS: Final = 100
ROUNDS: Final = 5
REPORT_MS: Final = 50.0
MOST_RATIO: Final = 1.3
TICK_SECONDS: Final = 5.0
MOST_GROWTH_MIB: Final = 32.0


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
    publish_slos(urls, folder)
    copy_windows(urls, (closed_window(slo, each) for slo in range(SLOS) for each in range(RECENT)))
    with shipworthy(folder, urls) as server:
        few = run(_measure(server))
        older = (WINDOWS - FEW) // SLOS
        copy_windows(
            urls, (closed_window(slo, RECENT + each) for slo in range(SLOS) for each in range(older))
        )
        many = run(_measure(server))
    return few, many


def _tick(urls: DatabaseUrls, folder: Path) -> tuple[float, float]:
    """Seconds for all due windows, and MiB that the process grew by since a tick over a tenth of them."""
    publish_slos(urls, folder)
    copy_windows(urls, (closed_window(slo, each) for slo in range(SLOS) for each in range(WINDOWS // SLOS)))
    with opened_services(settings_of(urls, folder)) as services:
        tick = WindowTick(services.database, services.ledger, services.blobs)
        tick(datetime.now(UTC))
        spare_collector()
        held, seconds, grown = 0, 0.0, 0.0
        for first, number in ((0, DUE // 10), (DUE // 10, DUE)):
            copy_windows(urls, (due_window(each % SLOS, each) for each in range(first, first + number)))
            began, processor = time.perf_counter(), time.process_time()
            settled = tick(datetime.now(UTC))
            seconds = time.perf_counter() - began
            if settled != number:
                raise Failed(f"{settled} of {number} due windows were judged")
            grown = (resident_bytes(os.getpid()) - held) / 2**20
            held = resident_bytes(os.getpid())
            processor = time.process_time() - processor
            explain(
                f"{number} due windows in {seconds:.2f} s, {processor:.2f} s of them this process' processor time; "
                f"{load_average()}"
            )
    return seconds, grown


async def _measure(server: Server) -> float:
    return await tail_of(server, Client(server.port, server.token), _ask, ROUNDS)


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
