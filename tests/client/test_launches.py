"""Eight processes under each launcher's variables: one run in the service, and the ranks are its members."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from shipworthy.sync import sync_folder
from tests.client.capture.launches import (
    RANKS,
    Variables,
    deepspeed,
    hydra,
    job_set,
    jsrun,
    of_all,
    open_mpi,
    pytorch_job,
    ray,
    slurm,
    torchrun,
)
from tests.support.pipelines import environment, program, token_of, told
from tests.support.service import RunningService

# Starts the ranks as a launcher does: all at once, itself without their variables.
LAUNCHER = """
    import json, os, sys
    started = []
    for rank, variables in enumerate(json.load(sys.stdin)):
        started.append(os.fork())
        if started[-1] == 0:
            os.environ.update(variables)
            import shipworthy
            with shipworthy.run("launch/eight", capture=False) as run:
                run.log(step=rank, loss=1.0)
                run.note(f"from {rank}")
            sys.stdout.write(f"{run.id} {run.member}\\n")
            sys.stdout.flush()
            os._exit(0)
    sys.exit(any(os.waitpid(child, 0)[1] for child in started))
"""


def launched(ranks: list[Variables], folder: Path) -> set[tuple[str, ...]]:
    """Run id and member, as each process says."""
    finished = subprocess.run(
        program(LAUNCHER),
        input=json.dumps(ranks),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return {tuple(line.split()) for line in finished.stdout.splitlines()}


@pytest.mark.parametrize(
    "ranks",
    [
        pytest.param(of_all(torchrun), id="torchrun"),
        pytest.param(of_all(torchrun, nodes=2), id="torchrun-two-nodes"),
        pytest.param(of_all(slurm), id="slurm"),
        pytest.param(of_all(open_mpi), id="open-mpi"),
        pytest.param(of_all(hydra), id="mpich"),
        pytest.param(of_all(hydra, nodes=2, SLURM_JOB_ID="7"), id="mpich-under-slurm"),
        pytest.param(of_all(jsrun), id="lsf-jsrun"),
        pytest.param(of_all(deepspeed), id="deepspeed"),
        pytest.param(of_all(ray), id="ray"),
        pytest.param(of_all(pytorch_job), id="pytorch-job"),
        pytest.param(of_all(job_set), id="job-set"),
    ],
)
def test_eight_processes_of_a_launcher_are_members_of_one_run(
    ranks: list[Variables], tmp_path: Path, sqlite_service: RunningService
) -> None:
    said = launched(ranks, tmp_path)
    (run_id,) = {each[0] for each in said}
    assert {each[1] for each in said} == {f"rank-{rank}" for rank in range(RANKS)}
    client = sqlite_service.client("recorder")
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (report.refused, report.kept, report.unregistered) == (0, 0, 0)
    found = told(client, run_id)
    assert sorted(found.steps()) == list(range(RANKS))
    assert len(found.bodies["run.registered"]) == 1
    assert found.states() == ["completed"]
    signed = {each["text"]: each.get("process") for each in found.bodies["run.event"] if "text" in each}
    assert [signed[f"from {rank}"] for rank in range(1, RANKS)] == [f"rank-{n}" for n in range(1, RANKS)]
    assert client.get(f"/v1/runs/{run_id}").json()["state"] == "completed"


def test_launches_at_the_address_that_every_machine_has_share_nothing(tmp_path: Path) -> None:
    """Two people try `localhost:29500`, each in a folder of their own."""
    loopback = {"MASTER_ADDR": "localhost", "MASTER_PORT": "29500", "WORLD_SIZE": str(RANKS)}
    ranks = [loopback | {"RANK": str(rank)} for rank in range(RANKS)]
    folders = [tmp_path / "ada", tmp_path / "mila"]
    for folder in folders:
        folder.mkdir()
    first, second = ({each[0] for each in launched(ranks, folder)} for folder in folders)
    assert (len(first), len(second)) == (1, 1)
    assert first != second


RANK = """
    import shipworthy
    with shipworthy.run("launch/uneven", capture=False) as run:
        run.note(f"from {run.member}")
"""


def test_rank_that_ends_before_the_first_has_registered_the_run_waits_for_it(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    """Short ranks overtake the first one; what they say must not stay behind on each such machine."""
    client = sqlite_service.client("recorder")
    address = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    started = []
    for rank, seconds in ((1, 2.0), (0, 0.0)):
        variables = environment(**address, **torchrun(rank))
        started.append(
            subprocess.Popen(program(RANK), cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True)
        )
        time.sleep(seconds)
    assert [each.communicate(timeout=60)[1] for each in started] == ["", ""]
    (run,) = client.get("/v1/runs").json()["items"]
    assert sorted(told(client, run["run_id"]).notes()) == ["from rank-0", "from rank-1"]
