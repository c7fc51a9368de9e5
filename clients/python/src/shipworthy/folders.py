"""Where the journals of a run lie: the folder that was asked for, or the next best."""

import os
import time
from pathlib import Path

from shipworthy.notices import warn_once


def make_folder(wanted: Path, run_id: str) -> Path | None:
    """The folder of a run's journals: below `wanted`, else in the system's temporary folder, else None."""
    import tempfile

    try:
        return _writable(wanted / run_id)
    except OSError as error:
        why = error.strerror or str(error)
    owner = os.getuid() if hasattr(os, "getuid") else 0
    try:
        spare = Path(tempfile.gettempdir()) / f"shipworthy-{owner}"
        spare.mkdir(mode=0o700, exist_ok=True)
        status = spare.lstat()
        # Others write there too: a folder that somebody laid out for us is not ours.
        if hasattr(os, "getuid") and (status.st_uid != owner or status.st_mode & 0o077 or spare.is_symlink()):
            raise PermissionError(13, f"{spare} is open to others")
        folder = _writable(spare / run_id)
    except OSError:
        warn_once("folder", f"no folder can be written ({wanted}: {why}); records wait in memory")
        return None
    warn_once("folder", f"{wanted} can't be written ({why}); the journal is in {spare}")
    return folder


def _writable(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    probe = folder / f".probe-{os.getpid()}-{time.time_ns():x}"
    try:
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    finally:
        probe.unlink(missing_ok=True)
    return folder
