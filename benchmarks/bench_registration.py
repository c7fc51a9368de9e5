"""Registering one complete run, against MLflow 3.17 on the same PostgreSQL, machine and client.

Five rounds, sides alternating; medians. A run that MLflow refuses halfway is no run, and neither is one of ours.
Database time is not in the processor figures of either side.
"""

import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.support import mlflow
from benchmarks.support.attempts import post_batch, post_run
from benchmarks.support.figures import Figure, finish
from benchmarks.support.http import Client
from benchmarks.support.load import Round, explain, load, run
from benchmarks.support.processes import (
    Server,
    load_average,
    mlflow_server,
    new_database,
    postgresql,
    shipworthy,
)

ROUNDS: Final = 5
OUR_SECONDS: Final = 3.0
THEIR_SECONDS: Final = 8.0
"""Longer, since a run of theirs at 64 clients takes seconds."""


def main() -> None:
    with postgresql() as postgres, tempfile.TemporaryDirectory() as folder:
        ours_urls, theirs_urls = new_database(postgres, "shipworthy"), new_database(postgres, "mlflow")
        with (
            shipworthy(Path(folder) / "shipworthy", ours_urls) as ours,
            mlflow_server(Path(folder) / "mlflow", theirs_urls.migration_url) as theirs,
        ):
            experiment = run(_prepared(theirs))
            their_run = partial(mlflow.record_run, experiment=experiment)
            load(ours, post_run, clients=8, seconds=2)
            load(theirs, their_run, clients=8, seconds=4)
            rounds: dict[str, list[Round]] = {
                name: [] for name in ("8", "their 8", "64", "their 64", "batch")
            }
            for number in range(1, ROUNDS + 1):
                rounds["8"].append(load(ours, post_run, clients=8, seconds=OUR_SECONDS))
                rounds["their 8"].append(load(theirs, their_run, clients=8, seconds=THEIR_SECONDS))
                rounds["64"].append(load(ours, post_run, clients=64, seconds=OUR_SECONDS))
                rounds["their 64"].append(load(theirs, their_run, clients=64, seconds=THEIR_SECONDS))
                rounds["batch"].append(load(ours, post_batch, clients=8, seconds=OUR_SECONDS))
                _explain(number, rounds)
    finish(_figures(rounds))


async def _prepared(server: Server) -> str:
    client = Client(server.port)
    try:
        return await mlflow.prepare(client)
    finally:
        client.close()


def _figures(rounds: dict[str, list[Round]]) -> list[Figure]:
    rate = {name: median(each.rate for each in done) for name, done in rounds.items()}
    price = {name: median(each.milliseconds_each for each in done) for name, done in rounds.items()}
    their_8, their_64 = rate["their 8"] or float("nan"), rate["their 64"] or float("nan")
    return [
        Figure("registration_8_clients", rate["8"], "runs/s", rate["8"] / their_8, 20),
        Figure("registration_64_clients", rate["64"], "runs/s", rate["64"] / their_64, 40),
        Figure(
            "registration_server_cpu", price["8"], "ms/run", price["8"] / price["their 8"], 1 / 20, "at most"
        ),
        Figure("registration_batch", rate["batch"], "runs/s", rate["batch"] / their_8, 80),
    ]


def _explain(number: int, rounds: dict[str, list[Round]]) -> None:
    for name, done in rounds.items():
        last = done[-1]
        failed = f", failed: {dict(last.failures)}" if last.failures else ""
        explain(
            f"round {number}, {name}: {last.rate:.1f} runs/s, {last.milliseconds_each:.1f} ms of server time each"
            f"{failed}"
        )
    explain(load_average())


if __name__ == "__main__":
    main()
