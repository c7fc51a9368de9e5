"""The machine as the system, a driver, and a scheduler tell it."""

import os
import socket
import sys
from types import ModuleType

import pytest

from models.kinds.ingredients import Accelerator, Hardware
from shipworthy.capture.hardware import allocation, capture_hardware
from tests.client.capture.launches import slurm, torchrun


class NVMLError(Exception):
    """The name nvidia-ml-py gives its errors."""


class Nvml(ModuleType):
    """What nvidia-ml-py answers on a node with three GPUs of two types; or on one whose driver fails."""

    NVMLError = NVMLError

    def __init__(self, broken: bool = False) -> None:
        super().__init__("pynvml")
        self.broken = broken
        self.is_open = False

    def nvmlInit(self) -> None:
        if self.broken:
            raise NVMLError("Driver/library version mismatch")
        self.is_open = True

    def nvmlShutdown(self) -> None:
        self.is_open = False

    def nvmlDeviceGetCount(self) -> int:
        return 3

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetName(self, handle: int) -> str | bytes:
        # Older versions answer bytes.
        return b"NVIDIA H100 80GB HBM3" if handle else "NVIDIA A2"

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> "Nvml.Memory":
        return Nvml.Memory(85_520_809_984 if handle else 16_101_933_056)

    def nvmlSystemGetDriverVersion(self) -> str:
        return "570.86.15"

    class Memory:
        def __init__(self, total: int) -> None:
            self.total = total


def capture(environ: dict[str, str]) -> tuple[Hardware, list[str]]:
    document, reasons = capture_hardware(environ)
    return Hardware.model_validate(document), reasons


@pytest.mark.parametrize("has_psutil", [True, False])
def test_machine_is_described_with_and_without_psutil(
    has_psutil: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_psutil:
        monkeypatch.setitem(sys.modules, "psutil", None)
    hardware, reasons = capture({})
    assert hardware.node_names == [socket.gethostname()]
    assert hardware.cpus_per_node == os.cpu_count()
    assert hardware.cpu
    assert hardware.memory_bytes == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert (hardware.nodes, hardware.interconnect, hardware.allocation) == (1, None, None)
    assert reasons == []


def test_gpus_are_counted_by_type(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = Nvml()
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    hardware, _ = capture({})
    assert hardware.accelerators == [
        Accelerator(type="NVIDIA H100 80GB HBM3", count=2, memory_bytes=85_520_809_984),
        Accelerator(type="NVIDIA A2", count=1, memory_bytes=16_101_933_056),
    ]
    assert hardware.driver == "570.86.15"
    assert not nvml.is_open


def test_driver_that_fails_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(broken=True))
    hardware, _ = capture({})
    assert hardware.accelerators == []
    assert hardware.cpu


def test_nodes_are_those_of_the_launch() -> None:
    hardware, reasons = capture(slurm(0, SLURM_STEP_NUM_NODES="2", SLURM_JOB_NUM_NODES="16"))
    assert hardware.nodes == 2
    assert reasons == [f"the names of the other nodes are not known on {socket.gethostname()}"]
    assert capture(torchrun(0, nodes=4))[0].nodes == 4


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (slurm(0), "slurm:alps/481516"),
        ({"LSB_JOBID": "7", "LSB_JOBINDEX": "0"}, "lsf:7"),
        ({"LSB_JOBID": "7", "LSB_JOBINDEX": "3"}, "lsf:7[3]"),
        ({"PBS_JOBID": "1234.server"}, "pbs:1234.server"),
        ({"RAY_JOB_ID": "02000000"}, "ray:02000000"),
        (
            {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "HOSTNAME": "train-0", "POD_NAMESPACE": "research"},
            "kubernetes:research/train-0",
        ),
        ({"HOSTNAME": "laptop"}, None),
    ],
)
def test_allocation_is_named_by_its_scheduler(environ: dict[str, str], expected: str | None) -> None:
    assert allocation(environ) == expected
