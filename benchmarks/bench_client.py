"""The client's price: its import, a step with the service hanging, a million events sent, a checkpoint hashed."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.support.figures import Figure, finish
from benchmarks.support.load import explain
from benchmarks.support.processes import load_average, shipworthy, sqlite_database
from benchmarks.support.stepping import slowdowns
from tests.support.pipelines import environment
from tests.support.weather import hanging

IMPORTS: Final = 15
SHORT_PAIRS: Final = 7
PAIRS: Final = 16
FOURS: Final = 16
BLOCK_STEPS: Final = 4
"""Of about 15 ms each: blocks that are short against what else a machine does, and fours in which it does little.
Steps of real training are longer, the client's part smaller still."""
SHORT_STEPS: Final = ("2000", "2")
"""About 2 ms each, so many that the slowest hundredth are twenty."""
HASHED_BYTES: Final = 2**29
EVENTS: Final = 1_000_000

_STEPS = """
import sys, time, zlib
block = bytes(range(256)) * 4096
recorded = sys.argv[1] == "recorded"
if recorded:
    import shipworthy
    run = shipworthy.run("bench/steps", capture=False)
durations = []
for step in range(int(sys.argv[2])):
    began = time.perf_counter_ns()
    value = 0
    for _ in range(int(sys.argv[3])):
        value = zlib.crc32(block, zlib.adler32(block, value))
    if recorded:
        run.log(step=step, loss=value / 2**32, grad_norm=1.5)
    durations.append(time.perf_counter_ns() - began)
durations.sort()
print(durations[len(durations) // 2], durations[int(len(durations) * 0.99)], flush=True)
import os
os._exit(0)
"""
_LOG = """
import os, time, shipworthy
run = shipworthy.run("bench/log", capture=False)
durations = []
for step in range(30_000):
    began = time.perf_counter_ns()
    run.log(step=step, train_loss=0.25, grad_norm=1.5, learning_rate=3e-4)
    durations.append(time.perf_counter_ns() - began)
    if step % 100 == 0:
        time.sleep(0.002)
durations.sort()
print(durations[len(durations) // 2], durations[int(len(durations) * 0.99)], flush=True)
os._exit(0)
"""
_MILLION = """
import sys, shipworthy
with shipworthy.run("bench/million", capture=False) as run:
    for step in range(int(sys.argv[1])):
        if step % 100:
            run.log(step=step, train_loss=0.25, grad_norm=1.5, learning_rate=3e-4)
        else:
            run.note(f"step {step}")
"""
_SYNC = """
import sys, time
from pathlib import Path
from shipworthy.sync import sync_folder
began = time.monotonic()
report = sync_folder(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
assert (report.refused, report.kept) == (0, 0), report
# Not ru_maxrss: it takes over what the process had before exec, the size of the benchmark's own.
peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
print(report.sent, time.monotonic() - began, peak)
"""
_HASH = """
import sys, time
from pathlib import Path
from shipworthy.formats.manifest import hash_tree
began = time.process_time()
hash_tree(Path(sys.argv[1]))
print(time.process_time() - began)
"""


def main() -> None:
    explain(load_average())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [
            *_imports(folder),
            *_with_the_service_hanging(folder),
            *_hashing(folder),
            *_million(folder),
        ]
    finish(figures)


def _imports(folder: Path) -> list[Figure]:
    sources = {"": "pass"} | {
        name: f"import {name}" for name in ("httpx", "shipworthy", "shipworthy.starting")
    }
    taken: dict[str, list[float]] = {name: [] for name in sources}
    # One of each in turn, so that what else the machine does falls on all; the first round compiles.
    for _ in range(IMPORTS + 1):
        for name, source in sources.items():
            taken[name].append(_processor_seconds(source, folder))
    bare = median(taken[""][1:])
    seconds = {name: median(each[1:]) - bare for name, each in taken.items()}
    whole = seconds["shipworthy.starting"]
    return [
        Figure(
            "client_import",
            seconds["shipworthy"] * 1000,
            "ms CPU",
            seconds["shipworthy"] / seconds["httpx"],
            0.3,
            "at most",
        ),
        Figure("client_import_with_run", whole * 1000, "ms CPU", whole / seconds["httpx"], 0.3, "at most"),
    ]


def _with_the_service_hanging(folder: Path) -> list[Figure]:
    with hanging() as port:
        variables = {"SHIPWORTHY_URL": f"http://127.0.0.1:{port}"}
        logs = [_numbers(_python(_LOG, folder, variables)) for _ in range(5)]
        processor, wall = slowdowns(folder, variables, PAIRS, FOURS, BLOCK_STEPS)
        short = [_pair(folder, variables, SHORT_STEPS) for _ in range(SHORT_PAIRS)]
    explain(f"a step with the service hanging: processor time {processor}; on the wall {wall}")
    log_p99 = median(each[1] for each in logs) / 1000
    # The quietest run of each kind: what else a machine does adds to both, and never the same.
    growth = (min(recorded[1] for _, recorded in short) - min(bare[1] for bare, _ in short)) / 1e6
    return [
        Figure("client_log_p99_hanging", log_p99, "µs", log_p99 / 200, 1, "at most"),
        # The median decides; the interval that was told above says how far to trust it.
        Figure(
            "client_step_hanging",
            processor.median * 100,
            "% more CPU",
            processor.median / 0.005,
            1,
            "at most",
        ),
        Figure("client_step_wall_hanging", wall.median * 100, "% slower", wall.median / 0.005, 1, "at most"),
        Figure("client_step_p99_growth_hanging", growth, "ms", growth, 1, "at most"),
    ]


def _pair(
    folder: Path, variables: Mapping[str, str], steps: tuple[str, str]
) -> tuple[list[float], list[float]]:
    """Median and 99th percentile of a step in nanoseconds, without the client and with it, one after the other."""
    bare = _numbers(_python(_STEPS, folder, variables, "bare", *steps))
    return bare, _numbers(_python(_STEPS, folder, variables, "recorded", *steps))


def _hashing(folder: Path) -> list[Figure]:
    path = folder / "checkpoint.bin"
    with path.open("wb") as file:
        for _ in range(HASHED_BYTES // 2**22):
            file.write(os.urandom(2**22))
    ratios, speeds = [], []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["sha256sum", str(path)], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        ours = _numbers(_python(_HASH, folder, {}, str(path)))[0]
        ratios.append(theirs / ours)
        speeds.append(HASHED_BYTES / 2**20 / ours)
    path.unlink()
    return [Figure("client_hashing", median(speeds), "MiB/s CPU", median(ratios), 0.8)]


def _million(folder: Path) -> list[Figure]:
    journal = folder / "journal"
    _python(_MILLION, folder, {"SHIPWORTHY_DIR": str(journal)}, str(EVENTS))
    with shipworthy(folder / "server", sqlite_database(folder / "database")) as server:
        url = f"http://127.0.0.1:{server.port}"
        sent, seconds, kibibytes = _numbers(_python(_SYNC, folder, {}, str(journal), url, server.token or ""))
    if sent < EVENTS:
        raise SystemExit(f"only {sent:.0f} of {EVENTS} events were sent")
    return [
        Figure("client_sync_million_memory", kibibytes / 1024, "MiB", kibibytes / 1024 / 100, 1, "at most"),
        Figure("client_sync_million_rate", sent / seconds, "events/s", sent / seconds / 5000, 1),
    ]


def _processor_seconds(source: str, folder: Path) -> float:
    # Compiled modules are kept, as where packages are installed: this machine's settings may say otherwise.
    variables = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(source, folder, variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _python(source: str, folder: Path, variables: Mapping[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", source, *arguments],
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def _numbers(text: str) -> list[float]:
    return [float(each) for each in text.split()]


if __name__ == "__main__":
    main()
