"""Stretches of a journal that are sent together, and the gzip chunks in which `log()` lines travel."""

import json
import os
from collections.abc import Iterable
from typing import BinaryIO, Final

from shipworthy.values import Body

STRETCH_BYTES: Final = 2**20
"""Bytes of a journal that are sent together; a longer line goes alone."""
MAX_LINE_BYTES: Final = 64 * 2**20

_LOG: Final = b'{"log":'
_RECORD: Final = b'{"kind":'
_PENDING: Final = b'{"pending":'
_BLOB: Final = b'{"blob":'


class Stretch:
    """Lines of one journal from byte `start` to before byte `end`, sorted by what is done with them. `blobs` are
    digests of files in the folder `blobs` beside the journal."""

    def __init__(self, start: int = 0, end: int = 0) -> None:
        self.start = start
        self.end = end
        self.records: list[bytes] = []
        self.logs: list[bytes] = []
        self.promises: list[Body] = []
        self.blobs: list[str] = []

    def add(self, lines: Iterable[bytes]) -> None:
        """Sorts lines in. Torn ones are skipped: they were never acknowledged, or come again whole."""
        for line in lines:
            # A log line cut short never ends in three braces.
            if line.startswith(_LOG):
                if line.endswith(b"}}}"):
                    self.logs.append(line)
            elif line.startswith((_RECORD, _PENDING, _BLOB)):
                try:
                    found = json.loads(line)
                except ValueError:
                    continue
                if "pending" in found:
                    self.promises.append(found["pending"])
                elif "blob" in found:
                    self.blobs.append(found["blob"])
                else:
                    self.records.append(line)


def read_stretch(file: BinaryIO, start: int, end: int | None) -> Stretch | None:
    """The whole lines from `start`: up to `end` where that is planned, else STRETCH_BYTES at most.

    None when there is no whole line yet.
    """
    file.seek(start)
    wanted = STRETCH_BYTES if end is None else end - start
    data = file.read(wanted)
    while end is None and b"\n" not in data and wanted <= len(data) < MAX_LINE_BYTES:
        wanted = len(data) * 2
        data += file.read(len(data))
    whole = data.rfind(b"\n") + 1
    if whole == 0:
        return None
    stretch = Stretch(start, start + whole)
    stretch.add(data[:whole].split(b"\n"))
    return stretch


def make_chunk(lines: list[bytes]) -> bytes:
    """The lines as gzip without a time, so that the same lines are the same bytes."""
    import gzip

    return gzip.compress(b"\n".join(lines) + b"\n", 6, mtime=0)


def count_lines(path: str | os.PathLike[str], start: int) -> int:
    """Lines of a journal from byte `start` to its end, blank and torn ones left out."""
    count = 0
    try:
        with open(path, "rb") as file:
            file.seek(start)
            while data := file.read(STRETCH_BYTES):
                count += data.count(b"}\n")
    except OSError:
        return count
    return count
