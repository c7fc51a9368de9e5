"""Contract checks against raw DuckDB at 10 million rows × 15 columns, and how soon a warm child has its first result.

Both compute the same statistics with the same memory limit and threads, in processes of their own; the better of
ROUNDS counts. SHIPWORTHY_BENCH_ROWS sets another size for a quick look; the targets are for 10 million.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.support.contracts import make_trips, run_engine
from benchmarks.support.figures import Figure, finish
from benchmarks.support.load import explain
from benchmarks.support.processes import load_average

ROWS: Final = int(os.environ.get("SHIPWORTHY_BENCH_ROWS", "10000000"))
FEW_ROWS: Final = 10_000
ROUNDS: Final = 2
CHILDREN: Final = 7
_MOST_BYTES: Final = 2_000_000_000
_FIRST_RESULT_SECONDS: Final = 0.5


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large, few, baseline = folder / "trips.parquet", folder / "few.parquet", folder / "baseline.json"
        make_trips(large, ROWS)
        make_trips(few, FEW_ROWS)
        _measured("baseline", few, baseline)
        raw = min(
            (_measured("raw", large, baseline) for _ in range(ROUNDS)), key=lambda each: each["seconds"]
        )
        ours = min(
            (_measured("checks", large, baseline) for _ in range(ROUNDS)), key=lambda each: each["seconds"]
        )
        explain(
            f"raw DuckDB {raw['seconds']:.2f} s, {raw['bytes'] / 1e6:.0f} MB; processor time "
            f"{ours['processor_seconds']:.1f} s against {raw['processor_seconds']:.1f} s; {load_average()}"
        )
        first = _first_result(few, json.loads(baseline.read_text()))
    ratio = ours["seconds"] / raw["seconds"]
    finish(
        [
            Figure("contracts_seconds", ours["seconds"], "s", ratio, 1.5, "at most"),
            Figure("contracts_memory", ours["bytes"] / 1e6, "MB", ours["bytes"] / _MOST_BYTES, 1, "at most"),
            Figure("contracts_first_result", first, "s", first / _FIRST_RESULT_SECONDS, 1, "at most"),
        ]
    )


def _measured(way: str, path: Path, baseline: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.support.contracts", way, str(path), str(baseline)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise SystemExit(f"{way} failed:\n{finished.stdout}{finished.stderr}")
    answer: dict[str, Any] = json.loads(finished.stdout or "{}")
    return answer


def _first_result(path: Path, baseline: dict[str, Any]) -> float:
    """Median seconds from the start of a child to its result, when the fork server has loaded all packages."""
    context = multiprocessing.get_context("forkserver")
    # This module too: a worker's child finds its code loaded, and importing it is no part of a check.
    context.set_forkserver_preload(["api.workers.preload", "benchmarks.bench_contracts"])
    _child(context, _nothing)  # starts the fork server
    taken = [_child(context, run_engine, path, baseline) for _ in range(CHILDREN)]
    return median(taken)


def _child(context: ForkServerContext, work: Callable[..., object], *arguments: object) -> float:
    receiver, sender = context.Pipe(duplex=False)
    began = time.perf_counter()
    process = context.Process(target=_answer, args=(sender, work, *arguments))
    process.start()
    outcome = receiver.recv()
    seconds = time.perf_counter() - began
    process.join()
    if outcome != "passed":
        raise SystemExit(f"a child's checks ended as {outcome}")
    return seconds


def _answer(sender: Connection, work: Callable[..., object], *arguments: object) -> None:
    answer = work(*arguments)
    sender.send(answer["outcome"] if isinstance(answer, dict) else answer)


def _nothing() -> str:
    return "passed"


if __name__ == "__main__":
    main()
