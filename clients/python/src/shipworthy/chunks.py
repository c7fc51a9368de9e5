"""Stretches of a journal that are sent together, and the gzip chunks in which `log()` lines travel."""

import json
import os
from collections.abc import Iterable
from typing import BinaryIO, Final

from shipworthy.values import Body

STRETCH_BYTES: Final = 256 * 2**10
"""Bytes of a journal that are sent together, so that a slow uplink gets one through; a longer line goes alone."""
MAX_LINE_BYTES: Final = 64 * 2**20
"""A longer line is never sent, and never read as a whole."""

_LOG: Final = b'{"log":'
_RECORD: Final = b'{"kind":'
_PENDING: Final = b'{"pending":'
_BLOB: Final = b'{"blob":'


class Stretch:
    """Lines of one journal from byte `start` to before byte `end`, sorted by what is done with them. `blobs` are
    digests of files in the folder `blobs` beside the journal; `skipped` says that it is one line too long to be
    sent."""

    def __init__(self, start: int = 0, end: int = 0, *, skipped: bool = False) -> None:
        self.start = start
        self.end = end
        self.skipped = skipped
        self.records: list[bytes] = []
        self.logs: list[bytes] = []
        self.promises: list[Body] = []
        self.blobs: list[str] = []

    def add(self, lines: Iterable[bytes]) -> None:
        """Sorts lines in. Torn ones are skipped: they were never acknowledged, or come again whole."""
        for line in lines:
            if line.startswith(_LOG):
                if _is_whole(line):
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


def _is_whole(line: bytes) -> bool:
    """Whether a log line was not cut short, without parsing those of numbers: three braces end it, and not within a
    text, which would leave a quotation mark alone."""
    if not line.endswith(b"}}}"):
        return False
    if b"\\" not in line and line.count(b'"') % 2 == 0:
        return True
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def read_stretch(file: BinaryIO, start: int, end: int | None = None) -> Stretch | None:
    """The whole lines from `start`, STRETCH_BYTES at most and none beyond `end`.

    None when there is no whole line yet.
    """
    file.seek(start)
    wanted = STRETCH_BYTES if end is None else min(STRETCH_BYTES, end - start)
    data = file.read(wanted)
    while (
        b"\n" not in data and wanted <= len(data) < MAX_LINE_BYTES and (end is None or start + wanted < end)
    ):
        wanted = len(data) * 2
        data += file.read(len(data))
    whole = data.rfind(b"\n") + 1
    if whole == 0:
        return _skip_line(file, start) if len(data) >= MAX_LINE_BYTES else None
    stretch = Stretch(start, start + whole)
    stretch.add(data[:whole].split(b"\n"))
    return stretch


def _skip_line(file: BinaryIO, start: int) -> Stretch | None:
    """The line whose first MAX_LINE_BYTES were read; None when it has no end yet."""
    at = file.tell()
    while data := file.read(2**20):
        place = data.find(b"\n")
        if place >= 0:
            return Stretch(start, at + place + 1, skipped=True)
        at += len(data)
    return None


def make_chunk(lines: list[bytes]) -> bytes:
    """The lines as gzip without a time, so that the same lines are the same bytes."""
    import gzip

    return gzip.compress(b"\n".join(lines) + b"\n", 6, mtime=0)


def count_records(path: str | os.PathLike[str], start: int, promised: Iterable[str]) -> int:
    """What is to be sent of a journal from byte `start` to its end, as `sync` counts it: `promised` are the keys of
    records that an earlier line promises. A promise and the record that keeps it are one."""
    count = 0
    open_promises = set(promised)
    try:
        with open(path, "rb") as file:
            while (stretch := read_stretch(file, start)) is not None:
                count += len(stretch.records) + len(stretch.logs) + len(stretch.blobs) + stretch.skipped
                open_promises.update(str(promise["key"]) for promise in stretch.promises)
                if open_promises:
                    open_promises.difference_update(json.loads(line).get("key") for line in stretch.records)
                start = stretch.end
    except OSError:
        pass
    return count + len(open_promises)
