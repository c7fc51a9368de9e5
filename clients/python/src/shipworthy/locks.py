"""Locks between processes on files (flock): who writes a journal, and who sends it."""

import os
from typing import Final

try:
    import fcntl
except ImportError:  # Windows: one sender a journal is then the user's affair.
    _available = False
else:
    _available = True

CAN_LOCK: Final = _available


def try_lock(descriptor: int) -> bool:
    """Takes the lock until the descriptor is closed; False when another process or descriptor has it.

    Where a file system knows no locks nobody can be asked, so the answer is True.
    """
    if CAN_LOCK:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


def unlock(descriptor: int) -> None:
    """Gives the lock back for all copies of the descriptor: a forked process holds one until it closes it."""
    if CAN_LOCK:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        except OSError:
            return


def is_locked(path: str | os.PathLike[str]) -> bool:
    """Whether some process holds the lock of this file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        free = try_lock(descriptor)
        if free:
            unlock(descriptor)
        return not free
    finally:
        os.close(descriptor)
