"""Lineage of a model version at 1,000 runs and at 100,000 runs with 1 million edges, on PostgreSQL.

Asked over one keep-alive connection on loopback for random versions, after a warm-up. One run in ten starts from the
artifact of an earlier run, so that what is upstream goes deeper than one step. The time is the client's, which is never
shorter than the server's; how many of its answers the server itself gave within the target is told beside it, by its
own histogram. SHIPWORTHY_BENCH_RUNS sets another size for a quick look; the targets are for 100,000.
"""

import os
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Final
from urllib.parse import quote

from benchmarks.support.figures import Figure, finish
from benchmarks.support.filling import fill
from benchmarks.support.http import Client
from benchmarks.support.load import Failed, explain, run
from benchmarks.support.processes import (
    Server,
    load_average,
    new_database,
    postgresql,
    processor_seconds,
    shipworthy,
)
from benchmarks.support.workload import MODEL

SMALL: Final = 1_000
LARGE: Final = int(os.environ.get("SHIPWORTHY_BENCH_RUNS", "100000"))
VERSIONS: Final = 500
ROUNDS: Final = 5
TARGET_MS: Final = 10.0
SEED: Final = 20260501
_ROUTE: Final = "/v1/models/{model:path}/versions/{version}/lineage"


@dataclass(frozen=True, slots=True)
class Served:
    """What the server counted of its lineage answers: how many, how many within the target, and their seconds."""

    answers: float
    in_time: float
    seconds: float


def main() -> None:
    marks: list[str] = []
    chance = random.Random(SEED)
    with postgresql() as postgres, tempfile.TemporaryDirectory() as folder:
        urls = new_database(postgres, "shipworthy")
        with shipworthy(Path(folder), urls) as server:
            fill(Path(folder) / "data", urls, marks, SMALL, SEED)
            small = run(_measure(server, marks, chance))
            fill(Path(folder) / "data", urls, marks, LARGE, SEED + 1)
            large = run(_measure(server, marks, chance))
    finish(
        [
            Figure("lineage_p99", large, "ms", large / TARGET_MS, 1, "at most"),
            Figure("lineage_p99_growth", large, "ms", large / small, 1.3, "at most"),
        ]
    )


async def _measure(server: Server, marks: list[str], chance: random.Random) -> float:
    """Median of the rounds' 99th percentiles, in milliseconds."""
    client = Client(server.port, server.token)
    try:
        tails = []
        for number in range(ROUNDS + 1):
            before, processor = await _served(client), processor_seconds(server.pid)
            taken = await _ask(client, chance.choices(marks, k=VERSIONS))
            after, processor = await _served(client), processor_seconds(server.pid) - processor
            if number:  # the first round warms up
                tails.append(quantiles(taken, n=100)[98])
                answers = after.answers - before.answers
                explain(
                    f"{len(marks)} runs: median {median(taken):.2f} ms, p99 {tails[-1]:.2f}; at the server "
                    f"{100 * (after.in_time - before.in_time) / answers:.1f} % within {TARGET_MS:.0f} ms, mean "
                    f"{1000 * (after.seconds - before.seconds) / answers:.2f} ms, {1000 * processor / answers:.2f} "
                    f"ms of its processor time each; {load_average()}"
                )
        return median(tails)
    finally:
        client.close()


async def _ask(client: Client, versions: list[str]) -> list[float]:
    """Milliseconds of each answer."""
    taken, model = [], quote(MODEL, safe="")
    for version in versions:
        began = time.perf_counter()
        answer = await client.get(f"/v1/models/{model}/versions/{version}/lineage")
        taken.append(1000 * (time.perf_counter() - began))
        if answer.status != 200:
            raise Failed(f"lineage answered {answer.status}: {answer.body[:300]!r}")
    return taken


async def _served(client: Client) -> Served:
    text = (await client.get("/metrics")).body.decode()

    def value(series: str, *labels: str) -> float:
        name = f"shipworthy_http_request_duration_seconds_{series}"
        for line in text.splitlines():
            if (
                line.startswith(f"{name}{{")
                and f'route="{_ROUTE}"' in line
                and all(each in line for each in labels)
            ):
                return float(line.rpartition(" ")[2])
        return 0.0  # Nobody has asked yet.

    return Served(value("count"), value("bucket", f'le="{TARGET_MS / 1000}"'), value("sum"))


if __name__ == "__main__":
    main()
