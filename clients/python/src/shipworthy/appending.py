"""Files beside a journal that grow by whole lines."""

import os
from pathlib import Path


def append_whole(path: Path, data: bytes, flags: int = os.O_CREAT) -> None:
    """Appends `data` on a line of its own, also after one that was cut, and has the disk keep it. Raises OSError, after
    which a part of it may be there."""
    descriptor = os.open(path, flags | os.O_RDWR | os.O_APPEND, 0o600)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            data = data if os.read(descriptor, 1) == b"\n" else b"\n" + data
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
