"""Rank and size as each launcher tells them, alone and inside of another one."""

import pytest

from shipworthy.capture.ranks import detect_rank
from tests.client.capture.launches import (
    Variables,
    deepspeed,
    hydra,
    job_set,
    jsrun,
    open_mpi,
    pytorch_job,
    ray,
    slurm,
    torchrun,
    without,
)

CASES: list[tuple[str, Variables, int | None]] = [
    ("torchrun", torchrun(5), 5),
    ("accelerate", torchrun(5, ACCELERATE_MIXED_PRECISION="bf16"), 5),
    ("slurm", slurm(5), 1),
    ("openmpi", open_mpi(5), 5),
    ("mpich", hydra(5), 5),
    ("intel-mpi", hydra(5, I_MPI_MPIRUN="mpirun"), 5),
    ("jsrun", jsrun(5), 1),
    ("deepspeed", deepspeed(5), 5),
    ("ray", ray(5), 1),
    ("kubernetes", pytorch_job(5), None),
    ("kubernetes", job_set(5), None),
    ("env", without(torchrun(5), "TORCHELASTIC_RUN_ID"), 5),
]


@pytest.mark.parametrize(("launcher", "environ", "local_rank"), CASES)
def test_rank_is_what_the_launcher_tells(launcher: str, environ: Variables, local_rank: int | None) -> None:
    rank = detect_rank(environ)
    assert rank is not None
    assert (rank.launcher, rank.rank, rank.world_size, rank.local_rank) == (launcher, 5, 8, local_rank)


# The outer launcher starts one process on each node, the inner one the program.
_TASK = slurm(1, SLURM_STEP_NUM_TASKS="2", SLURM_NTASKS="2", SLURM_LOCALID="0")


@pytest.mark.parametrize(
    ("launcher", "environ"),
    [
        ("torchrun", _TASK | torchrun(5, nodes=2)),
        ("openmpi", _TASK | open_mpi(5, nodes=2)),
        ("mpich", _TASK | hydra(5, nodes=2)),
        ("env", _TASK | without(torchrun(5, nodes=2), "TORCHELASTIC_RUN_ID")),
        ("torchrun", pytorch_job(1) | torchrun(5, nodes=2)),
        ("torchrun", job_set(1) | torchrun(5, nodes=2)),
        ("deepspeed", _TASK | deepspeed(5, nodes=2)),
    ],
)
def test_inner_launcher_tells_the_rank(launcher: str, environ: Variables) -> None:
    rank = detect_rank(environ)
    assert rank is not None
    assert (rank.launcher, rank.rank, rank.world_size) == (launcher, 5, 8)


def test_slurm_is_found_beneath_variables_that_repeat_it() -> None:
    # Many scripts export RANK=$SLURM_PROCID; srun --mpi=pmi2 sets PMI_RANK.
    environ = slurm(5) | {
        "RANK": "5",
        "WORLD_SIZE": "8",
        "MASTER_ADDR": "node-1",
        "PMI_RANK": "5",
        "PMI_SIZE": "8",
    }
    rank = detect_rank(environ)
    assert rank is not None
    assert (rank.launcher, rank.rank) == ("slurm", 5)


@pytest.mark.parametrize(
    "environ",
    [
        {},
        # A batch script of Slurm is no task of srun, though it has a rank and a number of tasks.
        without(slurm(0), "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"),
        slurm(0, SLURM_STEP_NUM_TASKS="1"),
        torchrun(0) | {"WORLD_SIZE": "1"},
        # One of a thousand separate pieces of work, not one rank of a thousand.
        {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "JOB_COMPLETION_INDEX": "17"},
        # Left over in a shell.
        {"RANK": "0", "WORLD_SIZE": "8"},
        {"LOCAL_RANK": "0"},
        {"RANK": "zero", "WORLD_SIZE": "8", "MASTER_ADDR": "node-1"},
        {"RANK": "9", "WORLD_SIZE": "8", "MASTER_ADDR": "node-1"},
    ],
)
def test_single_process_has_no_rank(environ: Variables) -> None:
    assert detect_rank(environ) is None
