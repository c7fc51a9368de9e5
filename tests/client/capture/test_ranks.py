"""Eight processes under each launcher's variables are one run, and the next eight are another."""

import os
import time
from pathlib import Path

import pytest

from shipworthy.capture.claims import CLAIMS_FOLDER
from shipworthy.capture.ranks import OPEN_SECONDS, detect_rank, shared_run_id
from shipworthy.identity import is_run_id
from tests.client.capture.launches import (
    RANKS,
    Variables,
    deepspeed,
    hydra,
    job_set,
    jsrun,
    launch,
    of_all,
    open_mpi,
    pytorch_job,
    ray,
    slurm,
    torchrun,
)


def one_id(ids: dict[int, str]) -> str:
    assert sorted(ids) == list(range(RANKS))
    found = set(ids.values())
    assert len(found) == 1, ids
    assert is_run_id(min(found))
    return found.pop()


def id_of(environ: Variables, folder: Path | None, ordinal: int = 0) -> str:
    return shared_run_id(detect_rank(environ), folder, environ, ordinal)


# Both launches of a pair say exactly the same where the launcher does so.
PAIRS: list[tuple[str, list[Variables], list[Variables]]] = [
    ("torchrun on one node", of_all(torchrun), of_all(torchrun)),
    ("torchrun on two nodes", of_all(torchrun, nodes=2), of_all(torchrun, nodes=2)),
    ("srun, step after step", of_all(slurm), of_all(slurm, step="1")),
    ("a script under srun", of_all(slurm), of_all(slurm)),
    ("mpirun on one node", of_all(open_mpi), of_all(open_mpi)),
    (
        "mpirun on two nodes",
        of_all(open_mpi, nodes=2),
        of_all(open_mpi, nodes=2, namespace="prterun-node-1-99@1"),
    ),
    ("mpiexec on one node", of_all(hydra), of_all(hydra)),
    ("mpiexec in a job", of_all(hydra, nodes=2, LSB_JOBID="7"), of_all(hydra, nodes=2, LSB_JOBID="7")),
    ("jsrun", of_all(jsrun), of_all(jsrun, namespace="2")),
    ("deepspeed", of_all(deepspeed), of_all(deepspeed)),
    ("ray", of_all(ray), of_all(ray, port="40007")),
    ("PyTorchJob", of_all(pytorch_job), of_all(pytorch_job)),
    ("JobSet", of_all(job_set), of_all(job_set)),
]


# A shell that stays between the launcher and the program.
WRAPPED = ("/bin/sh", "-c", '"$@"; exit $?', "wrapper")


@pytest.mark.parametrize(("first", "second"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS])
def test_eight_processes_are_one_run_and_a_second_launch_is_another(
    first: list[Variables], second: list[Variables], tmp_path: Path
) -> None:
    ids = [one_id(launch(ranks, tmp_path)) for ranks in (first, second)]
    assert ids[0] != ids[1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (of_all(torchrun), of_all(torchrun)),
        (of_all(open_mpi), of_all(open_mpi)),
        (of_all(slurm), of_all(slurm, SLURM_JOB_ID="481517")),
        (of_all(jsrun), of_all(jsrun, namespace="2")),
    ],
    ids=["torchrun", "mpirun", "srun", "jsrun"],
)
def test_ranks_agree_without_a_folder(first: list[Variables], second: list[Variables]) -> None:
    assert one_id(launch(first, None)) != one_id(launch(second, None))


def test_shell_script_between_launcher_and_program_changes_nothing(tmp_path: Path) -> None:
    one_id(launch(of_all(torchrun), tmp_path, WRAPPED))


def test_variables_exported_before_torchrun_do_not_part_rank_zero(tmp_path: Path) -> None:
    one_id(launch(of_all(torchrun), tmp_path, WRAPPED, exported={"RANK": "0", "WORLD_SIZE": "8"}))


def test_nodes_without_a_common_folder_agree_under_a_scheduler(tmp_path: Path) -> None:
    ids = {id_of(slurm(rank), tmp_path / f"node-{rank // 4}") for rank in range(RANKS)}
    assert len(ids) == 1


def test_requeue_is_the_same_run_on_any_node(tmp_path: Path) -> None:
    first = id_of(slurm(3), tmp_path / "node-0")
    assert id_of(slurm(3, SLURM_RESTART_COUNT="1"), tmp_path / "node-0") == first
    assert id_of(slurm(3, SLURM_RESTART_COUNT="2"), tmp_path / "node-7") == first


def test_restart_by_torchrun_is_the_same_run_at_any_port_and_time(tmp_path: Path) -> None:
    # Two launches of one name; the second is restarted after longer than a launch takes new ranks.
    first = {id_of(torchrun(rank, nodes=2), tmp_path) for rank in range(RANKS)}
    second = {id_of(torchrun(rank, nodes=2), tmp_path) for rank in range(RANKS)}
    long_ago = time.time() - 2 * OPEN_SECONDS
    for file in (tmp_path / CLAIMS_FOLDER).rglob("opened-*"):
        os.utime(file, (long_ago, long_ago))
    restarted = {
        id_of(torchrun(rank, nodes=2, TORCHELASTIC_RESTART_COUNT="1"), tmp_path) for rank in range(RANKS)
    }
    assert len(first) == len(second) == 1
    assert first != second
    assert restarted == second


def test_launch_that_died_early_takes_no_rank_of_tomorrows(tmp_path: Path) -> None:
    yesterday = id_of(torchrun(0, nodes=2), tmp_path)  # only rank 0 came that far
    long_ago = time.time() - 2 * OPEN_SECONDS
    for file in (tmp_path / CLAIMS_FOLDER).rglob("opened-*"):
        os.utime(file, (long_ago, long_ago))
    today = {id_of(torchrun(rank, nodes=2), tmp_path) for rank in reversed(range(RANKS))}
    assert len(today) == 1
    assert yesterday not in today


def test_given_id_wins_over_every_launcher(tmp_path: Path) -> None:
    given = "01970000-0000-7000-8000-000000000001"
    assert id_of(torchrun(2, SHIPWORTHY_RUN_ID=given), tmp_path) == given
    assert id_of({"SHIPWORTHY_RUN_ID": given.upper()}, tmp_path) == given
    # A second run of the same process must not write into the first.
    later = {id_of(torchrun(rank, SHIPWORTHY_RUN_ID=given), tmp_path, ordinal=1) for rank in range(RANKS)}
    assert len(later) == 1
    assert given not in later


def test_given_launch_ties_pods_together_and_survives_their_restarts(tmp_path: Path) -> None:
    uid = "f3e1c5f2-6a39-4d4e-9d0e-3c2b1a0f9e8d"
    pods = {
        id_of(pytorch_job(rank) | {"SHIPWORTHY_LAUNCH": uid}, tmp_path / str(rank)) for rank in range(RANKS)
    }
    assert len(pods) == 1
    assert id_of(pytorch_job(4) | {"SHIPWORTHY_LAUNCH": uid}, tmp_path / "4") in pods
    assert id_of(pytorch_job(4) | {"SHIPWORTHY_LAUNCH": uid[::-1]}, tmp_path / "4") not in pods


def test_second_run_of_the_ranks_is_another_and_one_for_all(tmp_path: Path) -> None:
    first = {id_of(slurm(rank), tmp_path, ordinal=0) for rank in range(RANKS)}
    second = {id_of(slurm(rank), tmp_path, ordinal=1) for rank in range(RANKS)}
    assert (len(first), len(second)) == (1, 1)
    assert first != second


def test_lone_process_begins_a_new_run_each_time(tmp_path: Path) -> None:
    assert len({id_of({}, tmp_path) for _ in range(3)}) == 3
    assert not (tmp_path / CLAIMS_FOLDER).exists()


def test_folder_that_takes_nothing_is_no_error(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    assert len({id_of(torchrun(rank, nodes=2), occupied) for rank in range(RANKS)}) == 1


def test_claims_are_the_owners_alone(tmp_path: Path) -> None:
    id_of(slurm(0), tmp_path)
    (claim,) = (tmp_path / CLAIMS_FOLDER).rglob("rank-0")
    assert claim.stat().st_mode & 0o777 == 0o600
    assert claim.parent.stat().st_mode & 0o777 == 0o700
