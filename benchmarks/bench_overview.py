"""The overview page at 100,000 runs, on PostgreSQL.

Of the runs two hundred are lost and two hundred live; beside them stand 200 SLOs with a thousand closed windows. A
person who is signed in asks for `/` over one keep-alive connection on loopback, after a warm-up. The time is the
client's. SHIPWORTHY_BENCH_RUNS sets another size for a quick look; the target is for 100,000.
"""

import json
import os
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import httpx

from benchmarks.support.figures import Figure, finish
from benchmarks.support.filling import fill
from benchmarks.support.http import Client
from benchmarks.support.load import Failed, run
from benchmarks.support.processes import (
    Server,
    new_database,
    postgresql,
    shipworthy,
)
from benchmarks.support.slos import RECENT, SLOS, closed_window, copy_windows, publish_slos
from benchmarks.support.tails import tail_of
from models.fields import instant_text
from tests.support.bodies import make_event, make_start
from tests.web.scenes import sign_in

RUNS: Final = int(os.environ.get("SHIPWORTHY_BENCH_RUNS", "100000"))
OPEN: Final = 200
QUESTIONS: Final = 100
ROUNDS: Final = 5
TARGET_MS: Final = 100.0
SEED: Final = 20261130


def main() -> None:
    with postgresql() as postgres, tempfile.TemporaryDirectory() as folder:
        urls = new_database(postgres, "shipworthy")
        with shipworthy(Path(folder), urls) as server:
            fill(Path(folder) / "data", urls, [], RUNS, SEED)
            run(_record_open(server))
            # Last: each run would be looked at as evidence while the others are recorded.
            publish_slos(urls, Path(folder))
            copy_windows(urls, (closed_window(slo, each) for slo in range(SLOS) for each in range(RECENT)))
            slowest = run(_measure(server))
    finish([Figure("overview_p99", slowest, "ms", slowest / TARGET_MS, 1, "at most")])


async def _record_open(server: Server) -> None:
    """Runs that have not ended: every other one fell silent an hour ago."""
    began = instant_text(datetime.now(UTC) - timedelta(hours=1))
    client = Client(server.port, server.token)
    try:
        for number in range(2 * OPEN):
            body = make_start(
                started_at=began,
                heartbeat={"limit_seconds": 60 if number % 2 else 86_400},
                events=[make_event(at=began, step=400)],
            )
            answer = await client.post("/v1/runs", json.dumps(body).encode())
            if answer.status != 201:
                raise Failed(f"a run was answered {answer.status}: {answer.body[:300]!r}")
    finally:
        client.close()


async def _measure(server: Server) -> float:
    return await tail_of(server, Client(server.port, cookie=_session(server)), _ask, ROUNDS)


def _session(server: Server) -> str:
    """The cookie of a person who signed in with the first recorder's key."""
    assert server.token is not None
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60) as browser:
        answer = sign_in(browser, server.token)
        if answer.status_code != 303:
            raise Failed(f"the sign-in was answered {answer.status_code}")
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


async def _ask(client: Client) -> list[float]:
    taken = []
    for _ in range(QUESTIONS):
        began = time.perf_counter()
        answer = await client.get("/")
        taken.append(1000 * (time.perf_counter() - began))
        if answer.status != 200 or b"All lost runs" not in answer.body:
            raise Failed(f"the overview answered {answer.status}: {answer.body[:300]!r}")
    return taken


if __name__ == "__main__":
    main()
