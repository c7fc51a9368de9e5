"""Variables as the launchers set them, for eight ranks, and processes that are really started with them.

Names and forms: torch/distributed/elastic/agent/server/local_elastic_agent.py, srun(1), docs.open-mpi.org "Environment
variables set for MPI applications", MPICH's Hydra, the JSM of LSF, DeepSpeed's launcher/launch.py, Ray Train,
Kubeflow's training operator pkg/controller.v1/pytorch/envvar.go.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

RANKS: Final = 8
Variables: TypeAlias = dict[str, str]
SOURCE: Final = Path(__file__).parents[3] / "clients" / "python" / "src"

_CHILD = """
import sys
from pathlib import Path
from shipworthy.capture.ranks import detect_rank, shared_run_id

def report(folder):
    rank = detect_rank()
    sys.stdout.write(f"{rank.rank} {shared_run_id(rank, Path(folder) if folder else None)}\\n")
    sys.stdout.flush()
"""
# Starts the ranks as a launcher does: all at once, itself without their variables. Forked, as multiprocessing does
# it, or executed behind a prefix.
_LAUNCHER = (
    _CHILD
    + """
import json, os, subprocess
child, folder, prefix, ranks = json.load(sys.stdin)
program = [*prefix, sys.executable, "-S", "-c", child + "report(sys.argv[1])", folder]
started = []
for variables in ranks:
    if prefix:
        started.append(subprocess.Popen(program, env=os.environ | variables).pid)
        continue
    started.append(os.fork())
    if started[-1] == 0:
        os.environ.update(variables)
        report(folder)
        os._exit(0)
sys.exit(any(os.waitpid(pid, 0)[1] for pid in started))
"""
)


def launch(
    ranks: list[Variables],
    folder: Path | None,
    prefix: tuple[str, ...] = (),
    exported: Mapping[str, str] = MappingProxyType({}),
) -> dict[int, str]:
    """Run id by rank, as each of the processes says. `exported` are variables of the launcher itself."""
    job = [_CHILD, str(folder or ""), prefix, ranks]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), **exported}
    command = [sys.executable, "-S", "-c", _LAUNCHER]
    finished = subprocess.run(
        command, input=json.dumps(job), env=environ, capture_output=True, text=True, check=True, timeout=60
    )
    return {int(line.split()[0]): line.split()[1] for line in finished.stdout.splitlines()}


def torchrun(rank: int, nodes: int = 1, **others: str) -> Variables:
    local = RANKS // nodes
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(RANKS),
        "LOCAL_RANK": str(rank % local),
        "LOCAL_WORLD_SIZE": str(local),
        "GROUP_RANK": str(rank // local),
        "GROUP_WORLD_SIZE": str(nodes),
        "ROLE_RANK": str(rank),
        "ROLE_WORLD_SIZE": str(RANKS),
        "ROLE_NAME": "default",
        "MASTER_ADDR": "node-1",
        "MASTER_PORT": "29500",
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "3",
        "TORCHELASTIC_RUN_ID": "none",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    } | others


def slurm(rank: int, step: str = "0", **others: str) -> Variables:
    return {
        "SLURM_CLUSTER_NAME": "alps",
        "SLURM_JOB_ID": "481516",
        "SLURM_JOB_UID": "2342",
        "SLURM_JOB_NAME": "pretrain",
        "SLURM_SUBMIT_HOST": "login-2",
        "SLURM_SUBMIT_DIR": "/users/mila/pretrain",
        "SLURM_STEP_ID": step,
        "SLURM_STEP_NUM_TASKS": str(RANKS),
        "SLURM_STEP_NUM_NODES": "2",
        "SLURM_NTASKS": str(RANKS),
        "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(rank % 4),
        "SLURM_NODEID": str(rank // 4),
    } | others


def open_mpi(rank: int, nodes: int = 1, namespace: str = "prterun-node-1-3141@1") -> Variables:
    return {
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(RANKS),
        "OMPI_COMM_WORLD_LOCAL_RANK": str(rank % (RANKS // nodes)),
        "OMPI_COMM_WORLD_LOCAL_SIZE": str(RANKS // nodes),
        "OMPI_COMM_WORLD_NODE_RANK": str(rank),
        "OMPI_UNIVERSE_SIZE": str(RANKS),
        "PMIX_NAMESPACE": namespace,
        "PMIX_RANK": str(rank),
    }


def hydra(rank: int, nodes: int = 1, **others: str) -> Variables:
    return {
        "PMI_RANK": str(rank),
        "PMI_SIZE": str(RANKS),
        "PMI_FD": "9",
        "MPI_LOCALRANKID": str(rank % (RANKS // nodes)),
        "MPI_LOCALNRANKS": str(RANKS // nodes),
    } | others


def jsrun(rank: int, namespace: str = "1") -> Variables:
    # Spectrum MPI sets Open MPI's variables too.
    return open_mpi(rank, nodes=2, namespace=namespace) | {
        "LSB_JOBID": "90210",
        "LSB_JOBINDEX": "0",
        "LSB_JOBNAME": "pretrain",
        "LSB_SUB_HOST": "login1",
        "LS_SUBCWD": "/users/mila/pretrain",
        "JSM_NAMESPACE_RANK": str(rank),
        "JSM_NAMESPACE_SIZE": str(RANKS),
        "JSM_NAMESPACE_LOCAL_RANK": str(rank % 4),
        "JSM_NAMESPACE_LOCAL_SIZE": "4",
    }


def deepspeed(rank: int, nodes: int = 1) -> Variables:
    local = RANKS // nodes
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank % local),
        "WORLD_SIZE": str(RANKS),
        "LOCAL_SIZE": str(local),
        "CROSS_RANK": str(rank // local),
        "CROSS_SIZE": str(nodes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
    }


def ray(rank: int, port: str = "43211") -> Variables:
    return {
        "RAY_JOB_ID": "02000000",
        "RANK": str(rank),
        "LOCAL_RANK": str(rank % 4),
        "WORLD_SIZE": str(RANKS),
        "LOCAL_WORLD_SIZE": "4",
        "NODE_RANK": str(rank // 4),
        "MASTER_ADDR": "10.0.0.4",
        "MASTER_PORT": port,
    }


def pytorch_job(rank: int) -> Variables:
    return {
        "KUBERNETES_SERVICE_HOST": "10.96.0.1",
        "PYTHONUNBUFFERED": "0",
        "MASTER_ADDR": "pretrain-master-0",
        "MASTER_PORT": "23456",
        "WORLD_SIZE": str(RANKS),
        "RANK": str(rank),
    }


def job_set(rank: int) -> Variables:
    return {
        "KUBERNETES_SERVICE_HOST": "10.96.0.1",
        "JOBSET_NAME": "pretrain",
        "JOB_COMPLETION_INDEX": str(rank),
        "NNODES": str(RANKS),
        "POD_NAMESPACE": "research",
    }


def of_all(make: Callable[..., Variables], *arguments: object, **others: object) -> list[Variables]:
    return [make(rank, *arguments, **others) for rank in range(RANKS)]


def without(variables: Mapping[str, str], *names: str) -> Variables:
    return {name: value for name, value in variables.items() if name not in names}
