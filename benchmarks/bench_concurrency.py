"""32, 64 and 128 clients at once, three writes to one read: throughput holds, nothing hangs, memory stays small."""

import itertools
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.support.attempts import post_run
from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Client
from benchmarks.support.load import Failed, Round, explain, load
from benchmarks.support.processes import (
    load_average,
    new_database,
    postgresql,
    resident_bytes,
    shipworthy,
)
from benchmarks.support.workload import new_mark, run_body

ROUNDS: Final = 5
SECONDS: Final = 3.0
CLIENTS: Final = (32, 64, 128)
HEAVY: Final = ("great_expectations", "mlflow", "pandas", "scipy")
BUSY: Final = "503 with Retry-After"


def main() -> None:
    turn = itertools.count()

    async def mixed(client: Client) -> int:
        if next(turn) % 4:
            answer = await client.post("/v1/runs", run_body(new_mark()))
            wanted = 201
        else:
            answer = await client.get("/v1/runs?limit=50")
            wanted = 200
        if answer.status == 503 and answer.header("retry-after"):
            raise Failed(BUSY)
        if answer.status != wanted:
            raise Failed(f"answered {answer.status}: {answer.body[:200]!r}")
        return 1

    with (
        postgresql() as postgres,
        tempfile.TemporaryDirectory() as folder,
        shipworthy(Path(folder), new_database(postgres, "shipworthy")) as server,
    ):
        load(server, post_run, clients=8, seconds=2)
        rounds: dict[int, list[Round]] = {clients: [] for clients in CLIENTS}
        for number in range(1, ROUNDS + 1):
            for clients in CLIENTS:
                done = load(server, mixed, clients=clients, seconds=SECONDS)
                rounds[clients].append(done)
                explain(
                    f"round {number}, {clients} clients: {done.rate:.0f} requests/s, slowest "
                    f"{max(done.durations, default=0):.2f} s, {dict(done.failures)}, {load_average()}"
                )
        memory = resident_bytes(server.pid) / 2**20
        mapped = Path(f"/proc/{server.pid}/maps").read_text()
    errors: Counter[str] = Counter()
    for each in itertools.chain.from_iterable(rounds.values()):
        errors.update({text: count for text, count in each.failures.items() if text != BUSY})
    if errors:
        explain(f"errors that should not be: {dict(errors)}")
    loaded = [name for name in HEAVY if f"/{name}/" in mapped]
    if loaded:
        explain(f"the API process has loaded {', '.join(loaded)}")
    rate = {clients: median(each.rate for each in done) for clients, done in rounds.items()}
    finish(
        [
            Figure("concurrency_128_clients", rate[128], "requests/s", rate[128] / rate[32], 0.8),
            Figure("concurrency_64_clients", rate[64], "requests/s", rate[64] / rate[32], 0.8),
            Figure("concurrency_errors", errors.total(), "answers", errors.total(), 0, "at most"),
            Figure("resident_memory", memory, "MiB", memory / 150, 1, "at most"),
            Figure("heavy_packages", len(loaded), "packages", len(loaded), 0, "at most"),
        ]
    )


if __name__ == "__main__":
    main()
