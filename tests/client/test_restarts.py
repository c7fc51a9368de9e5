"""A scheduler takes the machine away and starts the script again: the same run, its next attempt."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.client.capture.launches import Variables, pytorch_job, slurm
from tests.support.pipelines import environment, program, run_program, token_of, told
from tests.support.service import RunningService

TRAINING = """
    import pathlib, shipworthy, sys
    checkpoint = pathlib.Path("checkpoints/latest.pt")
    resumed = checkpoint if "--resume" in sys.argv and checkpoint.exists() else None
    with shipworthy.run(
        "restarts/train", config={"lr": 0.1}, capture=False, resume_from=resumed, on_sigterm="preempted"
    ) as run:
        run.log(step=run.attempt, loss=1.0)
        if "--resume" in sys.argv:
            checkpoint.parent.mkdir(exist_ok=True)
            checkpoint.write_text(f"weights of {run.attempt} {run.member}")
            run.checkpoint(checkpoint, step=run.attempt, wait=True)
        assert shipworthy.flush(30)
        print(run.id, run.attempt, flush=True)
        if sys.argv[1] == "wait":
            sys.stdin.readline()
"""
BATCH: Variables = {
    "SLURM_JOB_ID": "4711",
    "SLURM_CLUSTER_NAME": "alps",
    "SLURM_JOB_NAME": "train",
    "SLURM_PROCID": "0",
    "SLURM_NTASKS": "1",
}


class Scheduler:
    """Starts the training in one folder, with the service that records it."""

    def __init__(self, folder: Path, client: httpx.Client, url: str) -> None:
        self._folder = folder
        self.service = {"SHIPWORTHY_URL": url, "SHIPWORTHY_TOKEN": token_of(client)}
        self.client = client

    def run(self, variables: Variables, *arguments: str) -> list[str]:
        """Run id and attempt of a training that ends by itself."""
        done = subprocess.run(
            [*program(TRAINING), "go", *arguments],
            cwd=self._folder,
            env=environment(**(self.service | variables)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    def stop(self, by: signal.Signals, variables: Variables, *arguments: str) -> list[str]:
        """The same of one that a signal ends while it waits."""
        with subprocess.Popen(
            [*program(TRAINING), "wait", *arguments],
            cwd=self._folder,
            env=environment(**(self.service | variables)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            said = process.stdout.readline().split()
            process.send_signal(by)
            assert process.wait(30) == -by
        return said

    def attempts(self, run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/v1/runs/{run_id}").json()["attempts"]
        return found


@pytest.fixture
def scheduler(tmp_path: Path, sqlite_service: RunningService) -> Scheduler:
    return Scheduler(tmp_path, sqlite_service.client("recorder"), sqlite_service.url)


def requeued(variables: Variables, count: int) -> Variables:
    return variables | {"SLURM_RESTART_COUNT": str(count)}


def test_killed_and_requeued_script_is_the_next_attempt_of_its_run(scheduler: Scheduler) -> None:
    # The same command both times: with another one it would be another program of the same job.
    run_id, attempt = scheduler.stop(signal.SIGKILL, BATCH)
    assert attempt == "1"
    assert scheduler.stop(signal.SIGKILL, requeued(BATCH, 1)) == [run_id, "2"]
    assert list(scheduler.attempts(run_id)) == ["1", "2"]
    found = told(scheduler.client, run_id)
    assert sorted(found.steps()) == [1, 2]
    starts = [each["attempt"] for each in found.bodies["run.event"] if each["type"] == "attempt.started"]
    assert starts == [1, 2]


def test_preempted_and_requeued_script_says_both(scheduler: Scheduler, tmp_path: Path) -> None:
    run_id, _ = scheduler.stop(signal.SIGTERM, BATCH)
    assert scheduler.stop(signal.SIGTERM, requeued(BATCH, 1)) == [run_id, "2"]
    # What the signal handler wrote lies in the journal: the process ended before it was sent.
    run_program("import sys; from shipworthy.cli.sync import sync; sync([])", tmp_path, scheduler.service)
    attempts = scheduler.attempts(run_id)
    assert [attempts[name]["state"] for name in ("1", "2")] == ["preempted", "preempted"]


def test_ranks_of_a_requeued_step_go_on_with_their_run(scheduler: Scheduler) -> None:
    run_id, _ = scheduler.stop(signal.SIGKILL, slurm(0))
    assert scheduler.run(requeued(slurm(0), 1)) == [run_id, "2"]
    assert scheduler.client.get(f"/v1/runs/{run_id}").json()["state"] == "completed"


def test_programs_of_one_job_and_other_jobs_are_other_runs(scheduler: Scheduler) -> None:
    said = [
        scheduler.run(BATCH),
        scheduler.run(BATCH),
        scheduler.run(BATCH, "--other"),
        scheduler.run(BATCH | {"SLURM_JOB_ID": "4712"}),
        scheduler.run(requeued(BATCH | {"SLURM_JOB_ID": "4713"}, 1)),
    ]
    assert len({run_id for run_id, _ in said}) == 5
    assert {attempt for _, attempt in said} == {"1"}
    assert [scheduler.run(requeued(BATCH, 1))[0] for _ in range(2)] == [said[0][0], said[1][0]]


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_script_resumed_from_a_checkpoint_is_the_next_attempt(
    by: signal.Signals, scheduler: Scheduler
) -> None:
    run_id, attempt = scheduler.stop(by, {}, "--resume")
    assert attempt == "1"
    assert scheduler.run({}, "--resume") == [run_id, "2"]
    assert scheduler.run({}, "--resume") == [run_id, "3"]
    assert list(scheduler.attempts(run_id)) == ["1", "2", "3"]


def test_requeue_and_checkpoint_count_one_attempt_together(scheduler: Scheduler) -> None:
    run_id, _ = scheduler.stop(signal.SIGKILL, BATCH, "--resume")
    assert scheduler.run(requeued(BATCH, 1), "--resume") == [run_id, "2"]
    assert scheduler.run(requeued(BATCH, 2), "--resume") == [run_id, "3"]


def test_later_launch_of_the_same_name_raises_the_attempt(scheduler: Scheduler) -> None:
    """A PyTorchJob made anew has the name, address and port of the former one, and no restart count."""
    run_id, _ = scheduler.stop(signal.SIGKILL, pytorch_job(0), "--resume")
    assert scheduler.run(pytorch_job(0), "--resume") == [run_id, "2"]


def test_restart_by_torchrun_within_a_resumed_launch_is_one_attempt_more(scheduler: Scheduler) -> None:
    launch = {"TORCHELASTIC_RUN_ID": "x", "RANK": "0", "WORLD_SIZE": "2", "SHIPWORTHY_LAUNCH": "second"}
    run_id, _ = scheduler.run({}, "--resume")
    assert scheduler.run(launch | {"TORCHELASTIC_RESTART_COUNT": "0"}, "--resume") == [run_id, "2"]
    assert scheduler.run(launch | {"TORCHELASTIC_RESTART_COUNT": "1"}, "--resume") == [run_id, "3"]


def test_ranks_of_one_attempt_agree_on_its_number(scheduler: Scheduler) -> None:
    run_id, _ = scheduler.run({}, "--resume")
    launch = {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "3", "SHIPWORTHY_LAUNCH": "third"}
    said = [scheduler.run(launch | {"RANK": rank}, "--resume") for rank in ("0", "1", "2")]
    assert said == [[run_id, "2"]] * 3


def test_notes_of_other_users_and_broken_ones_begin_a_new_run(scheduler: Scheduler, tmp_path: Path) -> None:
    run_id, _ = scheduler.run(BATCH)
    for note in (tmp_path / ".shipworthy" / "launches").glob("*/0-*"):
        note.write_text(json.dumps({"run_id": run_id}))
    other, attempt = scheduler.run(requeued(BATCH, 1))
    assert other != run_id
    assert attempt == "1"
