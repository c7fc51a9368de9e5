"""Limits that the kernel keeps, set by a check's process on itself before it sees any data."""

import os
import resource
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from api.workers.settings import WorkerSettings

_ENGINE_SHARE: Final = 0.7
"""Of its memory the check leaves this part to the engine, which then spills to disk; the rest is for Python, thread
stacks and what the engine does not count."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """`memory_bytes` is address space beyond that of the preloaded process, `processor_seconds` counts all threads,
    `disk_bytes` is the longest file that may be written."""

    memory_bytes: int
    processor_seconds: int
    threads: int
    disk_bytes: int

    @property
    def engine_bytes(self) -> int:
        return int(self.memory_bytes * _ENGINE_SHARE)


def limits_of(settings: WorkerSettings, folder: Path) -> ChildLimits:
    """A check that writes temporary files to `folder` leaves others half of that disk."""
    disk = shutil.disk_usage(folder).free // 2
    # The wall clock ends a check first; processor time is for the case that nobody is there to look at a clock.
    return ChildLimits(
        settings.memory_bytes, settings.time_seconds * settings.threads + 10, settings.threads, disk
    )


def limit_this_process(limits: ChildLimits) -> None:
    """Address space, processor time, no core file (it would hold the data), and nicer to others than the service is."""
    space = _address_bytes() + limits.memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    seconds = limits.processor_seconds
    # The soft limit is the signal that says why; the hard one ends a process that would ignore it.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What the engine spills goes into few long files.
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.disk_bytes, limits.disk_bytes))
    os.nice(5)
    # When the machine runs out of memory the check goes first, not the service.
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _address_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()
