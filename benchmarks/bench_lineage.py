"""Lineage of a model version at 1,000 runs and at 100,000 runs with 1 million edges, on PostgreSQL.

Asked over one keep-alive connection on loopback for random versions, after a warm-up. One run in ten starts from the
artifact of an earlier run, so that what is upstream goes deeper than one step. SHIPWORTHY_BENCH_RUNS sets another
size for a quick look; the targets are for 100,000.
"""

import os
import random
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Final
from urllib.parse import quote

from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Client
from benchmarks.support.load import Failed, explain, run
from benchmarks.support.processes import Server, load_average, new_database, postgresql, shipworthy
from benchmarks.support.workload import BASE_MODEL, MODEL, artifact_of, batch_line, new_mark

SMALL: Final = 1_000
LARGE: Final = int(os.environ.get("SHIPWORTHY_BENCH_RUNS", "100000"))
BATCH: Final = 500
"""Runs a request: below 16 MiB."""
VERSIONS: Final = 500
ROUNDS: Final = 5
CHAINED: Final = 0.1


def main() -> None:
    marks: list[str] = []
    chance = random.Random(20260501)
    with (
        postgresql() as postgres,
        tempfile.TemporaryDirectory() as folder,
        shipworthy(Path(folder), new_database(postgres, "shipworthy")) as server,
    ):
        run(_fill(server, marks, SMALL, chance))
        small = run(_measure(server, marks, chance))
        run(_fill(server, marks, LARGE, chance))
        large = run(_measure(server, marks, chance))
    finish(
        [
            Figure("lineage_p99", large, "ms", large / 10, 1, "at most"),
            Figure("lineage_p99_growth", large, "ms", large / small, 1.3, "at most"),
        ]
    )


async def _fill(server: Server, marks: list[str], until: int, chance: random.Random) -> None:
    """Records complete runs by `records:batch` until there are so many."""
    client = Client(server.port, server.token)
    began, before = time.perf_counter(), len(marks)
    try:
        while len(marks) < until:
            new = [new_mark() for _ in range(min(BATCH, until - len(marks)))]
            lines = b"\n".join(batch_line(mark, _base_model(marks, chance)) for mark in new)
            answer = await client.request(
                "POST", "/v1/records:batch", lines, content_type="application/x-ndjson"
            )
            if answer.status != 200 or answer.body.count(b'"status":201') != len(new):
                raise Failed(f"records:batch answered {answer.status}: {answer.body[:300]!r}")
            marks += new
            if len(marks) % 10_000 == 0:
                explain(
                    f"{len(marks)} runs, {(len(marks) - before) / (time.perf_counter() - began):.0f} a second"
                )
    finally:
        client.close()


def _base_model(marks: list[str], chance: random.Random) -> str:
    return artifact_of(chance.choice(marks)) if marks and chance.random() < CHAINED else BASE_MODEL


async def _measure(server: Server, marks: list[str], chance: random.Random) -> float:
    """Median of the rounds' 99th percentiles, in milliseconds."""
    client = Client(server.port, server.token)
    model = quote(MODEL, safe="")
    try:
        tails = []
        for number in range(ROUNDS + 1):
            taken = []
            for mark in chance.choices(marks, k=VERSIONS):
                began = time.perf_counter()
                answer = await client.get(f"/v1/models/{model}/versions/{mark}/lineage")
                taken.append(1000 * (time.perf_counter() - began))
                if answer.status != 200:
                    raise Failed(f"lineage answered {answer.status}: {answer.body[:300]!r}")
            if number:  # the first round warms up
                tails.append(quantiles(taken, n=100)[98])
                explain(
                    f"{len(marks)} runs: median {median(taken):.2f} ms, p99 {tails[-1]:.2f}; {load_average()}"
                )
        return median(tails)
    finally:
        client.close()


if __name__ == "__main__":
    main()
