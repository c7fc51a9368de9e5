"""Where temporary files of tests may lie in memory: no commit waits for a disk, no database is copied through one."""

import shutil
from pathlib import Path
from typing import Final

_MEMORY: Final = Path("/dev/shm")
_NEEDED_BYTES: Final = 4 << 30
"""Containers often have 64 MiB there, and what does not fit ends a process without a word."""


def roomy_memory() -> Path | None:
    """A folder in memory with room for the files of all tests; None where there is none."""
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _NEEDED_BYTES:
        return _MEMORY
    return None
