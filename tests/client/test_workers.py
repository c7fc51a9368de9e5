"""Workers of `multiprocessing`, forked or spawned: what they record arrives, and nothing they are handed ends them."""

import subprocess
from pathlib import Path

import pytest

from shipworthy.sync import sync_folder
from tests.support.pipelines import environment, program, token_of, told
from tests.support.service import RunningService

METHODS = ("fork", "spawn", "forkserver")


def run_file(source: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Spawned processes import the main module by its file."""
    (folder / "training.py").write_text(source)
    return subprocess.run(
        [*program("")[:1], "training.py"],
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def variables_of(service: RunningService) -> dict[str, str]:
    return {
        "SHIPWORTHY_URL": service.url,
        "SHIPWORTHY_TOKEN": token_of(service.client("recorder")),
    }


@pytest.mark.parametrize("method", METHODS)
def test_runs_that_workers_begin_are_sent_by_them(
    method: str, tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = f"""
import multiprocessing, os, shipworthy

def work(number):
    with shipworthy.run("workers/trial", capture=False) as run:
        run.log(step=number, loss=1.0)
    os.write(1, f"{{run.id}}\\n".encode())  # in one piece: three write at once

if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    with shipworthy.run("workers/parent", capture=False) as run:
        workers = [context.Process(target=work, args=(number,)) for number in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 3
"""
    done = run_file(source, tmp_path, **variables_of(sqlite_service))
    assert (done.returncode, done.stderr) == (0, "")
    client = sqlite_service.client("recorder")
    ids = done.stdout.split()
    assert [told(client, run_id).states() for run_id in ids] == [["completed"]] * 3
    assert sorted(told(client, run_id).steps()[0] for run_id in ids) == [0, 1, 2]


@pytest.mark.parametrize("method", METHODS)
def test_run_and_checkpoint_may_be_handed_to_a_worker(
    method: str, tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = f"""
import copy, multiprocessing, pathlib, time
import shipworthy
from shipworthy.process import PROCESS

def work(run, saved):
    run.log(step=2, loss=1.0)
    run.evaluation({{"auc": 0.75}}, subject=saved)
    run.finish()

def wait(saved):
    began = time.monotonic()
    assert saved.wait(20) is not None
    assert time.monotonic() - began < 10

if __name__ == "__main__":
    pathlib.Path("ckpt").write_bytes(b"weights")
    run = shipworthy.run("workers/handed", capture=False)
    assert copy.deepcopy({{"run": run}})["run"] is run
    PROCESS.hasher.submit(lambda: time.sleep(2))
    saved = run.checkpoint("ckpt", step=1)
    context = multiprocessing.get_context("{method}")
    workers = [context.Process(target=work, args=(run, saved)), context.Process(target=wait, args=(saved,))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    run.finish()
    assert shipworthy.flush(20)
    print(run.id)
"""
    done = run_file(source, tmp_path, **variables_of(sqlite_service))
    assert (done.returncode, done.stderr) == (0, "")
    found = told(sqlite_service.client("recorder"), done.stdout.strip())
    (evaluation,) = found.bodies["evaluation.completed"]
    (checkpoint,) = found.bodies["checkpoint.saved"]
    assert (evaluation["metrics"], evaluation["subject"]) == ({"auc": 0.75}, checkpoint["digest"])
    assert (found.steps(), found.states(), found.notes()) == ([2], ["completed"], [])


def test_measurements_of_a_killed_parents_checkpoint_are_kept(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = """
import os, pathlib, signal, time
import shipworthy
from shipworthy.process import PROCESS
pathlib.Path("ckpt").write_bytes(b"weights")
run = shipworthy.run("workers/killed", capture=False)
PROCESS.hasher.submit(lambda: time.sleep(60))
saved = run.checkpoint("ckpt", step=1)
if os.fork() == 0:
    run.evaluation({"auc": 0.75}, subject=saved)
    os._exit(0)
os.wait()
print(run.id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run_id = run_file(source, tmp_path).stdout.strip()
    client = sqlite_service.client("recorder")
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (report.unhashed, report.kept) == (0, 0)
    (evaluation,) = told(client, run_id).bodies["evaluation.completed"]
    assert evaluation["metrics"] == {"auc": 0.75}
