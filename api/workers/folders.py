"""Private folders for checks: made for one, removed after it, and swept when a worker was killed before it could."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PREFIX: Final = "shipworthy-worker-"
_LOCK: Final = "lock"


@contextmanager
def private_base() -> Iterator[Path]:
    """A folder of this worker's, mode 0700, under the system's place for temporary files (TMPDIR).

    What workers of this user left that are gone is removed first; each holds a lock on its own while it lives.
    """
    parent = Path(tempfile.gettempdir())
    for left in parent.glob(f"{_PREFIX}*"):
        _sweep(left)
    base = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    lock = os.open(base / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield base
    finally:
        shutil.rmtree(base, ignore_errors=True)
        os.close(lock)


@contextmanager
def private_folder(base: Path) -> Iterator[Path]:
    """A folder for one check, gone afterwards with all that is in it."""
    folder = Path(tempfile.mkdtemp(prefix="check-", dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(left: Path) -> None:
    try:
        if left.is_symlink() or left.stat().st_uid != os.getuid():
            return
        lock = os.open(left / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # Another's, or one that is being made at this moment.
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(left, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(lock)
