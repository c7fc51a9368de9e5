"""Programs that record themselves, under `exec`: one run, not two."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.client.capture.launches import torchrun
from tests.client.cli.conftest import COMMAND, Done, spawn
from tests.support.pipelines import told


def python(source: str) -> list[str]:
    Path("train.py").write_text(source)
    return ["--", sys.executable, "train.py"]


def runs(client: httpx.Client) -> list[dict[str, Any]]:
    found = client.get("/v1/runs").json()["items"]
    return [client.get(f"/v1/runs/{each['run_id']}").json() for each in found]


TRAIN = """
import pathlib, shipworthy
pathlib.Path("in.csv").write_text("1,2")
pathlib.Path("model.bin").write_bytes(b"weights")
with shipworthy.run("fraud/train", config={"lr": 0.1, "api_key": "hunter2hunter2"}, data={"train": "in.csv"}) as run:
    run.log(step=7, loss=1.0)
    run.artifact("model.bin")
"""


def test_run_within_exec_is_the_run_of_exec(recorder: httpx.Client) -> None:
    assert spawn("exec", "--job", "fraud/nightly", *python(TRAIN)).err == ""
    (run,) = runs(recorder)
    assert run["identity"]["job"] == {"namespace": "fraud", "name": "nightly"}
    assert (run["state"], run["conflicts"]) == ("completed", [])
    assert [each["role"] for each in run["inputs"]] == ["train"]
    assert [each["role"] for each in run["artifacts"]] == ["model"]
    assert list(run["attempts"]) == ["1"]
    found = told(recorder, run["run_id"])
    assert found.steps() == [7]
    assert found.states() == ["completed"]
    (said,) = [note for note in found.notes() if note.startswith("The program says of itself: ")]
    assert '"lr":0.1' in said
    assert '"name":"train"' in said
    assert "hunter2" not in said


def test_program_that_fails_ends_the_run_of_exec_once(sqlite_recorder: httpx.Client) -> None:
    failing = "import shipworthy\nwith shipworthy.run('a/b') as run:\n    run.log(step=1, x=1)\n    1 / 0\n"
    assert spawn("exec", *python(failing)).code == 1
    (run,) = runs(sqlite_recorder)
    assert (run["state"], told(sqlite_recorder, run["run_id"]).states()) == ("failed", ["failed"])


def test_further_runs_are_children_of_the_run_of_exec(sqlite_recorder: httpx.Client) -> None:
    """Steps of three trainings in one run could be told apart by nobody."""
    source = """
import subprocess, sys, shipworthy
for number in range(2):
    with shipworthy.run("sweep/one", tags={"number": number}, capture=False) as run:
        run.log(step=number, loss=1.0)
if sys.argv[1:] != ["again"]:
    subprocess.run([sys.executable, "train.py", "again"], check=True)
"""
    assert spawn("exec", "--job", "sweep/all", *python(source)).err == ""
    found = {run["run_id"]: run for run in runs(sqlite_recorder)}
    (outer,) = [name for name, run in found.items() if run["identity"]["job"]["name"] == "all"]
    children = [run for name, run in found.items() if name != outer]
    assert len(children) == 3
    assert {run["identity"]["parent_run_id"] for run in children} == {outer}
    assert {run["state"] for run in children} == {"completed"}
    assert told(sqlite_recorder, outer).steps() == [0]


def test_run_resumed_within_exec_is_that_run(sqlite_recorder: httpx.Client) -> None:
    source = """
import pathlib, shipworthy
pathlib.Path("ckpt.pt").write_bytes(b"weights")
with shipworthy.run("fraud/train", capture=False, resume_from="ckpt.pt") as run:
    print(run.id, run.attempt)
"""
    Path("first.py").write_text(
        "import pathlib, shipworthy\n"
        "pathlib.Path('ckpt.pt').write_bytes(b'weights')\n"
        "with shipworthy.run('fraud/train', capture=False) as run:\n"
        "    run.checkpoint('ckpt.pt', step=1, wait=True)\n"
        "print(run.id)\n"
    )
    first = spawn("exec", "--", sys.executable, "first.py").out.strip()
    assert spawn("exec", *python(source)).out.split() == [first, "2"]


@pytest.mark.parametrize("start", ["exec", "each"])
def test_ranks_under_exec_are_members_of_its_run(start: str, sqlite_recorder: httpx.Client) -> None:
    """`exec torchrun train.py`, and `torchrun exec train.py` where each rank has its own."""
    train = """
import sys, shipworthy
with shipworthy.run("fraud/train", capture=False) as run:
    run.note(f"from {run.member}")
"""
    launcher = f"""
import os, subprocess, sys
launches = {[torchrun(rank) for rank in range(3)]!r}
command = [*sys.argv[1:], sys.executable, "train.py"]
started = [subprocess.Popen(command, env=os.environ | each) for each in launches]
sys.exit(any([each.wait() for each in started]))
"""
    Path("launcher.py").write_text(launcher)
    Path("train.py").write_text(train)
    if start == "exec":
        done = spawn("exec", "--", sys.executable, "launcher.py")
    else:
        ran = subprocess.run(
            [sys.executable, "launcher.py", str(COMMAND), "exec", "--"],
            capture_output=True,
            text=True,
            check=False,
        )
        done = Done(ran.returncode, ran.stdout, ran.stderr)
    assert (done.code, done.err) == (0, "")
    (run,) = runs(sqlite_recorder)
    found = told(sqlite_recorder, run["run_id"])
    assert sorted(note for note in found.notes() if note.startswith("from")) == [
        "from rank-0",
        "from rank-1",
        "from rank-2",
    ]
    assert found.states() == ["completed"]
