"""What each launcher tells its processes, and what in it tells two launches apart.

Variables are those the launchers set themselves:

| launcher | rank, size, local rank | launch |
|---|---|---|
| torchrun (also accelerate) | RANK, WORLD_SIZE, LOCAL_RANK | TORCHELASTIC_RUN_ID, GROUP_WORLD_SIZE |
| jsrun (LSF) | JSM_NAMESPACE_RANK, _SIZE, _LOCAL_RANK | LSB_JOBID, LSB_JOBINDEX, PMIX_NAMESPACE |
| mpirun of Open MPI | OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK | PMIX_NAMESPACE, OMPI_MCA_orte_hnp_uri |
| mpiexec of MPICH (Hydra), Intel MPI | PMI_RANK, PMI_SIZE, MPI_LOCALRANKID | the job of the scheduler |
| Ray Train | RANK, WORLD_SIZE, LOCAL_RANK | RAY_JOB_ID, MASTER_ADDR, MASTER_PORT |
| deepspeed | RANK, WORLD_SIZE, LOCAL_RANK | CROSS_SIZE, MASTER_ADDR, MASTER_PORT |
| srun (Slurm) | SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID | SLURM_JOB_ID, SLURM_STEP_ID |
| PyTorchJob (Kubeflow), env:// | RANK, WORLD_SIZE, LOCAL_RANK | MASTER_ADDR, MASTER_PORT |
| indexed Job, JobSet (Kubernetes) | JOB_COMPLETION_INDEX, WORLD_SIZE or NNODES | JOBSET_NAME |

The first that fits is taken, in this order: a launcher inside another (torchrun in a task of srun, mpirun in
a job of LSF) is the one that started the program.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

Environment: TypeAlias = Mapping[str, str]


class Reach(StrEnum):
    """How far the key of a launch tells launches apart."""

    PROGRAM = "program"
    """One launch, and it starts one program."""
    LAUNCH = "launch"
    """One job or step of a scheduler, in which programs may follow each other, as in a shell script."""
    NAME = "name"
    """A later launch may have the same: a job name, an address and a port."""


class Rank(NamedTuple):
    """This process among those of one launch. `local_rank` is its place on its node, when that is told.

    `job_key` is the same text in all ranks of a launch, and `reach` says which other launches have it too.
    """

    rank: int
    world_size: int
    launcher: str
    local_rank: int | None
    job_key: str
    reach: Reach
    marks: tuple[str, ...] = ()
    """Variables by which the launcher's own process is told from those it started."""
    on_one_node: bool = False


def find_rank(environ: Environment) -> Rank | None:
    """What the first launcher that fits tells; None when none started this process, or started it alone."""
    for detect in _DETECTORS:
        rank = detect(environ)
        if rank is not None:
            return rank if rank.world_size > 1 and 0 <= rank.rank < rank.world_size else None
    return None


def slurm_job(environ: Environment) -> tuple[str, ...]:
    """Tells a job of Slurm from all others. The number alone doesn't: each cluster counts from one, and a
    cluster that is set up anew counts again. The same after a requeue, which keeps the number."""
    job = environ.get("SLURM_JOB_ID") or environ.get("SLURM_JOBID")
    if not job:
        return ()
    names = ("CLUSTER_NAME", "JOB_UID", "SUBMIT_HOST", "SUBMIT_DIR", "JOB_NAME", "STEP_ID")
    return ("slurm", job, *(environ.get(f"SLURM_{name}", "") for name in names))


def lsf_job(environ: Environment) -> tuple[str, ...]:
    job = environ.get("LSB_JOBID")
    if not job:
        return ()
    names = ("LSB_JOBINDEX", "LSF_CLUSTER_NAME", "LSB_SUB_HOST", "LSB_SUB_USER", "LS_SUBCWD", "LSB_JOBNAME")
    return ("lsf", job, *(environ.get(name, "") for name in names))


def scheduler_job(environ: Environment) -> tuple[str, ...]:
    """Tells a job of PBS, Slurm or LSF from all others; empty without a scheduler."""
    if pbs := environ.get("PBS_JOBID"):
        # It names its server: 1234.server.example.org.
        return ("pbs", pbs)
    return slurm_job(environ) or lsf_job(environ)


def _number(environ: Environment, *names: str) -> int | None:
    for name in names:
        # Hydra and Slurm write plain digits; anything else is some other program's variable of that name.
        if (text := environ.get(name, "")).isdecimal():
            return int(text)
    return None


def _rank(
    environ: Environment,
    launcher: str,
    names: tuple[str, str, str],
    key: tuple[str, ...],
    reach: Reach,
    on_one_node: bool = False,
    marks: tuple[str, ...] = (),
) -> Rank | None:
    rank, world_size, local_rank = (_number(environ, name) for name in names)
    if rank is None or world_size is None:
        return None
    job_key = "\n".join((launcher, str(world_size), *key))
    return Rank(rank, world_size, launcher, local_rank, job_key, reach, (*names[:2], *marks), on_one_node)


_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_TORCH: Final = ("RANK", "WORLD_SIZE", "LOCAL_RANK")


def _torchrun(environ: Environment) -> Rank | None:
    run_id = environ.get("TORCHELASTIC_RUN_ID")
    if run_id is None:
        return None
    launcher = "accelerate" if any(name.startswith("ACCELERATE_") for name in environ) else "torchrun"
    # Not the restart count, since a restart is another attempt of the same run, and not the port, which a
    # restart changes. "none" is what torchrun uses when it is given no id.
    job = scheduler_job(environ)
    named = () if run_id in ("", "none") else (run_id,)
    key = (*job, *named) or _master(environ)
    reach = Reach.LAUNCH if job else Reach.NAME
    on_one_node = environ.get("GROUP_WORLD_SIZE") == "1"
    # A shell may export RANK and WORLD_SIZE itself, and then start torchrun.
    return _rank(environ, launcher, _TORCH, key, reach, on_one_node, ("TORCHELASTIC_RUN_ID",))


def _jsrun(environ: Environment) -> Rank | None:
    names = ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK")
    # The namespace counts the calls of jsrun within a job.
    key = (*lsf_job(environ), environ.get("PMIX_NAMESPACE", ""))
    return _rank(environ, "jsrun", names, key, Reach.LAUNCH)


def _open_mpi(environ: Environment) -> Rank | None:
    names = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK")
    # Built from host, process id and port, all of which come again some day.
    told = ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri")
    key = tuple(environ.get(name, "") for name in told)
    on_one_node = environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == environ.get("OMPI_COMM_WORLD_SIZE", "?")
    return _rank(environ, "openmpi", names, key, Reach.NAME, on_one_node)


def _hydra(environ: Environment) -> Rank | None:
    # srun with PMI-2 sets PMI_RANK too, but never MPI_LOCALRANKID.
    if "MPI_LOCALRANKID" not in environ:
        return None
    intel = any(name.startswith("I_MPI_") for name in environ)
    names = ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID")
    on_one_node = environ.get("MPI_LOCALNRANKS") == environ.get("PMI_SIZE", "?")
    job = scheduler_job(environ)
    # mpiexec says nothing that tells launches apart; what is left are the job and the folder it was called
    # in.
    key = job or (environ.get("PMI_PORT", ""), environ.get("USER", ""), environ.get("PWD", ""))
    reach = Reach.LAUNCH if job else Reach.NAME
    return _rank(environ, "intel-mpi" if intel else "mpich", names, key, reach, on_one_node)


def _ray(environ: Environment) -> Rank | None:
    if "RAY_JOB_ID" not in environ:
        return None
    # Ray counts jobs from one in each cluster; the port is new for each group of workers.
    key = ("ray", environ["RAY_JOB_ID"], *_master(environ))
    return _rank(environ, "ray", _TORCH, key, Reach.NAME)


def _deepspeed(environ: Environment) -> Rank | None:
    if "CROSS_SIZE" not in environ or "LOCAL_SIZE" not in environ:
        return None
    key = (*scheduler_job(environ), *_master(environ))
    reach = Reach.LAUNCH if scheduler_job(environ) else Reach.NAME
    on_one_node = environ["CROSS_SIZE"] == "1"
    return _rank(environ, "deepspeed", _TORCH, key, reach, on_one_node, ("CROSS_SIZE", "LOCAL_SIZE"))


def _slurm(environ: Environment) -> Rank | None:
    # A batch script has SLURM_PROCID=0 and the number of tasks too, but only srun makes a step.
    names = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID")
    if "SLURM_STEP_ID" not in environ:
        return None
    if "RANK" in environ and environ["RANK"] != environ.get("SLURM_PROCID"):
        return None  # A launcher of the user's own inside of the task: see _torch_variables.
    return _rank(environ, "slurm", names, slurm_job(environ), Reach.LAUNCH)


def _torch_variables(environ: Environment) -> Rank | None:
    master = _master(environ)
    if not master:
        return None
    in_cluster = "KUBERNETES_SERVICE_HOST" in environ
    key = (*scheduler_job(environ), environ.get("POD_NAMESPACE", ""), *master)
    # Every machine has such an address: the name of one launch is the name of all.
    on_one_node = not in_cluster and master[0] in _LOOPBACK
    return _rank(environ, "kubernetes" if in_cluster else "env", _TORCH, key, Reach.NAME, on_one_node)


def _kubernetes(environ: Environment) -> Rank | None:
    # An index alone is mostly one of many separate pieces of work; a size makes it a rank.
    name = environ.get("JOBSET_NAME", "")
    size = next((size for size in ("WORLD_SIZE", "NNODES") if size in environ), None)
    if size is None:
        return None
    key = ("jobset", environ.get("POD_NAMESPACE", ""), name)
    return _rank(environ, "kubernetes", ("JOB_COMPLETION_INDEX", size, "LOCAL_RANK"), key, Reach.NAME)


def _master(environ: Environment) -> tuple[str, ...]:
    address = environ.get("MASTER_ADDR")
    return (address, environ.get("MASTER_PORT", "")) if address else ()


_DETECTORS: Final[tuple[Callable[[Environment], Rank | None], ...]] = (
    _torchrun,
    _jsrun,
    _open_mpi,
    _hydra,
    _ray,
    _deepspeed,
    _slurm,
    _torch_variables,
    _kubernetes,
)
