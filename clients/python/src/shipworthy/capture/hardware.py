"""The machine: host, processor, memory, accelerators, and the scheduler's name for the allocation."""

import os
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final

from shipworthy.capture.environment import driver_version
from shipworthy.capture.loaded import attempted
from shipworthy.capture.processes import host_name
from shipworthy.capture.texts import label
from shipworthy.values import Body, Json

MAX_TYPES: Final = 32
_GPUS: Final = Path("/proc/driver/nvidia/gpus")
# How many nodes the launch has, said by the one who placed it. The step comes before the job that holds it.
_NODE_COUNTS: Final = (
    "GROUP_WORLD_SIZE",
    "CROSS_SIZE",
    "SLURM_STEP_NUM_NODES",
    "SLURM_JOB_NUM_NODES",
    "SLURM_NNODES",
)


def capture_hardware(environ: Mapping[str, str] = os.environ) -> tuple[Body, list[str]]:
    """A `Hardware` of the service, from what this node sees of itself, and why parts of it are missing.

    The interconnect can't be seen from a process, so it is never guessed.
    """
    reasons: list[str] = []
    document: Body = {"nodes": _nodes(environ)}
    if host := label(host_name()):
        document["node_names"] = [host]
    if document["nodes"] != 1:
        reasons.append(f"the names of the other nodes are not known on {host}")
    accelerators, driver = _accelerators(reasons)
    if accelerators:
        document["accelerators"] = accelerators
    for name, value in (("cpu", _cpu()), ("driver", driver), ("allocation", allocation(environ))):
        if value and (text := label(value)):
            document[name] = text
    if count := os.cpu_count():
        document["cpus_per_node"] = count
    if memory := _memory():
        document["memory_bytes"] = memory
    return document, reasons


def allocation(environ: Mapping[str, str]) -> str | None:
    """The id of what the scheduler gave: Slurm, LSF, PBS, Ray, Kubernetes; None outside of them."""
    if job := environ.get("SLURM_JOB_ID"):
        return f"slurm:{environ.get('SLURM_CLUSTER_NAME', '')}/{job}"
    if job := environ.get("LSB_JOBID"):
        index = environ.get("LSB_JOBINDEX", "0")
        return f"lsf:{job}" if index == "0" else f"lsf:{job}[{index}]"
    if job := environ.get("PBS_JOBID"):
        return f"pbs:{job}"
    if job := environ.get("RAY_JOB_ID"):
        return f"ray:{job}"
    if "KUBERNETES_SERVICE_HOST" in environ:
        # By the downward API, under the names that its documentation uses; the host name of a pod is its
        # name.
        pod = environ.get("POD_UID") or environ.get("POD_NAME") or environ.get("HOSTNAME", "")
        return f"kubernetes:{environ.get('POD_NAMESPACE', '')}/{pod}" if pod else None
    return None


def _nodes(environ: Mapping[str, str]) -> int:
    for name in _NODE_COUNTS:
        if (text := environ.get(name, "")).isdecimal() and 0 < int(text[:7]) <= 1_000_000:
            return int(text[:7])
    return 1


def _cpu() -> str:
    with suppress(OSError), open("/proc/cpuinfo", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    import platform

    return platform.processor() or platform.machine()


def _memory() -> int | None:
    """Bytes of the node, not of the container."""
    try:
        psutil = import_module("psutil")
    except ImportError:
        pages = attempted(lambda: os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        return pages if pages is not None and pages > 0 else None
    return attempted(lambda: int(psutil.virtual_memory().total))


def _accelerators(reasons: list[str]) -> tuple[list[Json], str | None]:
    """By type, and the driver's version: from NVML (package nvidia-ml-py) or else from the driver's files."""
    try:
        pynvml = import_module("pynvml")
    except ImportError:
        found = [(model, None) for model in _models_in_proc()]
        if found:
            reasons.append("the memory of the GPUs is not known without the package nvidia-ml-py")
        return _counted(found), driver_version()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        if _GPUS.is_dir():
            reasons.append(f"the GPUs are not known: {error}")
        return _counted([(model, None) for model in _models_in_proc()]), driver_version()
    try:
        devices = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        seen = [
            (_text(pynvml.nvmlDeviceGetName(each)), int(pynvml.nvmlDeviceGetMemoryInfo(each).total))
            for each in devices
        ]
        return _counted(seen), _text(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError as error:
        reasons.append(f"the GPUs are not known: {error}")
        return [], driver_version()
    finally:
        attempted(pynvml.nvmlShutdown)


def _models_in_proc() -> list[str]:
    """One file for each GPU: Model: NVIDIA A100-SXM4-80GB"""
    models = []
    for path in sorted(_GPUS.glob("*/information")):
        try:
            match = re.search(r"^Model:\s*(\S.*?)\s*$", path.read_text(errors="replace"), re.MULTILINE)
        except OSError:
            continue
        if match is not None:
            models.append(match[1])
    return models


def _counted(found: list[tuple[str, int]] | list[tuple[str, None]]) -> list[Json]:
    accelerators: list[Json] = []
    for (model, memory), count in Counter(found).most_common(MAX_TYPES):
        one: Body = {"type": label(model) or "unknown", "count": count}
        if memory is not None:
            one["memory_bytes"] = memory
        accelerators.append(one)
    return accelerators


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
