"""Twenty contract checks queued at once with the embedded worker: what the API's health route takes meanwhile."""

import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as parquet

from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Client
from benchmarks.support.load import explain, run
from benchmarks.support.processes import (
    Server,
    load_average,
    resident_bytes,
    sqlite_database,
    start_shipworthy,
)

CHECKS: Final = 20
ROWS: Final = 1_000_000
PAUSE: Final = 0.01
"""Seconds between two health requests: about a hundred in a second."""
TARGET_MS: Final = 50.0
CONTRACT: Final = b"""\
apiVersion: v3.1.0
kind: DataContract
id: numbers
version: 1.0.0
status: active
schema:
  - name: numbers
    properties:
      - name: a
        logicalType: integer
        required: true
        unique: true
      - name: b
        logicalType: integer
        required: true
        logicalTypeOptions:
          minimum: 0
"""
_ENDED: Final = frozenset({"done", "failed", "cancelled", "dead"})


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lake").mkdir()
        numbers = pa.array(range(ROWS), pa.int64())
        parquet.write_table(pa.table({"a": numbers, "b": numbers}), folder / "lake" / "numbers.parquet")
        options = ("--open", "--root", f"lake={folder / 'lake'}")
        server = start_shipworthy(folder, sqlite_database(folder / "database"), options=options)
        try:
            idle, busy, seconds = run(_measure(server))
            memory = resident_bytes(server.pid) / 2**20
        finally:
            server.stop()
    explain(
        f"{len(idle)} health requests without checks: p99 {_p99(idle):.1f} ms; {len(busy)} with {CHECKS} checks in "
        f"{seconds:.1f} s: slowest {max(busy):.1f} ms; API process {memory:.0f} MiB; {load_average()}"
    )
    finish([Figure("contracts_queue_healthz_p99", _p99(busy), "ms", _p99(busy) / TARGET_MS, 1, "at most")])


async def _measure(server: Server) -> tuple[list[float], list[float], float]:
    """Milliseconds of health requests before the checks and while they run, and the seconds of all checks."""
    asker, prober = Client(server.port), Client(server.port)
    published = await asker.request("PUT", "/v1/contracts/numbers", CONTRACT, content_type="application/yaml")
    assert published.status == 201, published.body
    await _ended(asker, await _ask(asker))  # The worker is there from now on.
    idle = await _probe(prober, asyncio.create_task(asyncio.sleep(5)))
    began = time.perf_counter()
    busy = await _probe(prober, asyncio.create_task(_all_checks(asker)))
    seconds = time.perf_counter() - began
    asker.close()
    prober.close()
    return idle, busy, seconds


async def _all_checks(client: Client) -> None:
    for id in [await _ask(client) for _ in range(CHECKS)]:
        await _ended(client, id)


async def _ask(client: Client) -> str:
    body = {"contract": "numbers", "root": "lake", "path": "numbers.parquet"}
    answer = await client.post("/v1/contract-checks", json.dumps(body).encode())
    assert answer.status == 202, answer.body
    return str(json.loads(answer.body)["id"])


async def _ended(client: Client, id: str) -> None:
    while True:
        found = json.loads((await client.get(f"/v1/contract-checks/{id}?wait=20")).body)
        if found["state"] in _ENDED:
            assert found["result"]["outcome"] == "passed", found
            return


async def _probe(client: Client, until: "asyncio.Task[None]") -> list[float]:
    taken = []
    while not until.done():
        began = time.perf_counter()
        answer = await client.get("/healthz")
        taken.append(1000 * (time.perf_counter() - began))
        assert answer.status == 200, answer.body
        await asyncio.sleep(PAUSE)
    await until
    return taken


def _p99(milliseconds: list[float]) -> float:
    return sorted(milliseconds)[int(len(milliseconds) * 0.99)]


if __name__ == "__main__":
    main()
