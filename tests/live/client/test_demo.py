"""`make demo` as a newcomer runs it: once, from the repository, on a free port. MLflow's server, which costs as much as
all else together, is left out; tests/live/mlflow makes the same moves."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_demo_shows_what_it_announces_and_leaves_records_in_order() -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")}
    done = subprocess.run(
        ["make", "demo"],
        cwd=ROOT,
        env={**environ, "ONCE": "1", "DEMO_MLFLOW": "0"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for said in (
        "trained tumour-screening:1",
        "3 runs are one family",
        "aborted",
        "the log has no run_stop",
        "✓ train  file/build/demo/out/train.csv",
        "earlier runs  1",
        "in the log, checked here",
        "attempt 3 on this evaluation data; its statistics are done",
        "MAY NOT SHIP  tumour-screening:3",
        "MLflow can't be shown here: DEMO_MLFLOW=0",
        "of 13 windows on time, target 90 %: 1 miss allowed, 2 used; late: ",
        ", never ran: ",
        "; 1 excluded",
        "; 1 unknown, counted as missed",
        "BROKEN    checkpoint-age",
        "late, 31 min after the deadline",
        "All is well.",
    ):
        assert said in done.stdout, said
    kept = [line for line in done.stderr.splitlines() if "shipworthy:" in line]
    assert kept == []
