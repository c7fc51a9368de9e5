"""Files of checkpoints as programs write them, and as attackers and broken disks leave them."""

import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gates.checkpoints.loading import load_checkpoint
from gates.checkpoints.verdict import OpenFile

WEIGHTS: dict[str, NDArray[Any]] = {
    "layer.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "layer.bias": np.zeros(3, np.float16),
}


def safetensors_bytes(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    """By hand, so that it may say anything."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(begin: int, end: int, dtype: str = "U8", shape: list[int] | None = None) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [end - begin] if shape is None else shape, "data_offsets": [begin, end]}


@contextmanager
def opened(folder: Path) -> Iterator[list[OpenFile]]:
    """All files of a folder, as a worker hands them to the process that loads them."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    descriptors = [os.open(path, os.O_RDONLY) for path in paths]
    try:
        yield [
            OpenFile(path.relative_to(folder).as_posix(), fd, os.fstat(fd).st_size)
            for path, fd in zip(paths, descriptors, strict=True)
        ]
    finally:
        for fd in descriptors:
            os.close(fd)


def loaded(folder: Path) -> dict[str, Any]:
    with opened(folder) as files:
        return load_checkpoint(files, lambda done, total, text: None)
