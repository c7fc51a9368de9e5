"""What a run of this process has written into its journals."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import shipworthy
from tests.support.pipelines import environment, program

# The hasher is kept busy, so that promises are all that the journal has when the process is killed.
PROMISING = """
    import os, pathlib, sys, time, shipworthy
    from shipworthy.process import PROCESS
    pathlib.Path("model.bin").write_bytes(b"weights")
    pathlib.Path("gone.bin").write_bytes(b"weights")
    run = shipworthy.run("sync/promises", capture=False, data={"train": "model.bin"})
    PROCESS.hasher.wait(20)
    PROCESS.hasher.submit(lambda: time.sleep(600))
    run.checkpoint("gone.bin", step=1)
    model = run.artifact("model.bin")
    run.evaluation({"auc": 0.9}, subject=model)
    run.model_version("promised", "1", model)
    print(run.id, flush=True)
    time.sleep(600)
"""


def killed(folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    with subprocess.Popen(
        program(PROMISING), cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        process.send_signal(signal.SIGKILL)
    return run_id


def lines(run: shipworthy.Run) -> list[dict[str, Any]]:
    assert shipworthy.flush(20)
    assert run.folder is not None
    return [
        json.loads(line)
        for path in sorted(run.folder.glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]


def bodies(run: shipworthy.Run, kind: str) -> list[dict[str, Any]]:
    return [each["body"] for each in lines(run) if each.get("kind") == kind]


def events(run: shipworthy.Run) -> list[dict[str, Any]]:
    return bodies(run, "run.event")


def merged_registration(run: shipworthy.Run) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for body in bodies(run, "run.registered"):
        merged |= body
    return merged
