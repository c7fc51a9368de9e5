"""The journal of one process of a run: one JSON line an event, written before anything is sent.

A line is appended by one `os.write` to an O_APPEND descriptor, so that `kill -9` can tear the last line at
most and readers skip that. `fdatasync` is for the start, the end and checkpoints. Where the disk fails, lines
wait in memory and go to the disk as soon as it takes them again.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from shipworthy.formats.digests import sha256_digest
from shipworthy.locks import try_lock, unlock
from shipworthy.notices import warn_once

MEMORY_BYTES: Final = 16 * 2**20
"""Lines kept in memory while no disk takes them; the oldest go first."""
RETRY_SECONDS: Final = 1.0
"""Between attempts to write to a disk that failed."""
_REGISTERED: Final = b'{"kind":"run.registered"'


class Journal:
    """`name` is unique among all processes of the run: it is in every idempotency key. `family` begins the names of
    all files of this process and of those it forked."""

    def __init__(self, folder: Path | None, member: str, on_memory: Callable[[], None]) -> None:
        """`folder` is that of the run, None when no disk can be written; `member` is "main" or "rank-3".

        `on_memory` is called when lines begin to wait in memory: only this process can send those.
        """
        self.folder = folder
        self.family = self.name = f"{member}-{os.getpid()}-{time.time_ns():x}"
        self.lost = 0
        self._on_memory = on_memory
        self._descriptor, self._size = -1, 0
        self._opening: list[bytes] = []
        self._memory: deque[bytes] = deque()
        self._memory_bytes = 0
        self.has_begun = self._torn = self._taken = False
        self._retry_at = 0.0
        self._holders = 1
        # Reentrant: a signal handler may append while the same thread is appending.
        self._lock = threading.RLock()
        self._sequence = 0

    @property
    def path(self) -> Path | None:
        return None if self.folder is None else self.folder / f"{self.name}.jsonl"

    @property
    def closed(self) -> bool:
        """Nothing more is coming."""
        return self._holders <= 0

    def size(self) -> int:
        """Bytes of the file, wherever it is by now."""
        with self._lock:
            if self._descriptor >= 0:
                self._size = os.fstat(self._descriptor).st_size
            return self._size

    def next_sequence(self) -> int:
        with self._lock:
            self._sequence += 1
            return self._sequence

    def append(self, line: bytes) -> None:
        """Keeps one line, which ends with a line break. Never raises, never waits for anything but the write."""
        with self._lock:
            if line.startswith(_REGISTERED):
                self._opening.append(line)
            if self._memory or self._torn or self._taken or not self._write(line):
                self._remember(line)

    def keep_blob(self, data: bytes) -> str | None:
        """Lays bytes beside the journal and promises them; their digest, None when no disk takes them."""
        if self.folder is None:
            return None
        digest = sha256_digest(data)
        try:
            folder = self.folder / "blobs"
            folder.mkdir(mode=0o700, exist_ok=True)
            draft = folder / f".{self.name}"
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
            os.replace(draft, folder / digest[7:])
        except OSError as error:
            self._say_failed(error.strerror or str(error))
            return None
        self.append(b'{"blob":"%b"}\n' % digest.encode())
        return digest

    def flush(self) -> None:
        """Has the disk keep what was appended (fdatasync)."""
        descriptor = self._descriptor
        if descriptor >= 0:
            with suppress(OSError):
                getattr(os, "fdatasync", os.fsync)(descriptor)

    def hold(self) -> None:
        """Keeps the journal open for one more that will append to it; each ends with `release`."""
        with self._lock:
            self._holders += 1

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders > 0:
                return
            self._to_disk()
            self._close()

    def retry(self) -> None:
        """Moves what waits in memory to the disk, if that takes it again."""
        if not (self._memory or self._torn):
            return
        with self._lock:
            self._to_disk()
            if self.closed:
                self._close()

    def memory_waits(self) -> tuple[int, bool]:
        """Bytes of the lines in memory, and whether there are records among them."""
        with self._lock:
            return self._memory_bytes, any(line.startswith(b'{"kind":') for line in self._memory)

    def take_memory(self) -> list[bytes]:
        """Takes out the lines that no disk took; whoever takes them sends them. What comes meanwhile waits in memory
        until they have `landed`, so that all stay in their order."""
        with self._lock:
            self._taken = True
            lines = list(self._memory)
            self._memory.clear()
            self._memory_bytes = 0
            return lines

    def landed(self) -> None:
        """The lines that were taken have arrived, or are on a disk."""
        with self._lock:
            self._taken = False
        self.retry()

    def memory_count(self) -> int:
        return len(self._memory)

    def after_fork(self) -> None:
        """In a new child: a file of its own, made at its first line; nothing of the parent's is touched."""
        if self._descriptor >= 0:
            # Only closed: unlocking would take the lock from the parent too.
            os.close(self._descriptor)
            self._descriptor = -1
        self.family = self.name = self._further_name()
        self._lock = threading.RLock()
        self._memory.clear()
        self._opening.clear()
        self._memory_bytes = self._sequence = self.lost = 0
        self.has_begun = self._torn = self._taken = False
        self._holders = 1

    def _close(self) -> None:
        if self._descriptor >= 0:
            self.size()
            unlock(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, line: bytes) -> bool:
        """Whether the whole line is in the file. A part of it is ended later, and skipped by readers."""
        try:
            if self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink == 0:
                self._begin_anew()
            if self._descriptor < 0 and not self._open():
                return False
            written = os.write(self._descriptor, line)
        except OSError as error:
            self._say_failed(error.strerror or str(error))
            return False
        if written == len(line):
            return True
        self._torn = True
        self._say_failed("it is full")
        # Without its line break alone it is whole: written again it would be there twice.
        return written == len(line) - 1

    def _begin_anew(self) -> None:
        """Somebody deleted the file. The new one has another name: what is known of the old one's sending must not
        count for it. It begins with what registers the run, which may not have been sent."""
        warn_once(
            "deleted", f"{self.path} was deleted; what was not sent of it is lost, a new journal is begun"
        )
        os.close(self._descriptor)
        self._descriptor = -1
        self._torn = False
        self.name = self._further_name()
        if self._open():
            os.write(self._descriptor, b"".join(self._opening))

    def _further_name(self) -> str:
        return f"{self.name}.{os.getpid()}-{time.time_ns():x}"

    def _open(self) -> bool:
        path = self.path
        if path is None:
            return False
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(path, flags, 0o600)
        self.has_begun = True
        # Held while the process lives: `shipworthy sync` finishes only what a dead process left unfinished.
        try_lock(self._descriptor)
        return True

    def _say_failed(self, why: str) -> None:
        self._retry_at = time.monotonic() + RETRY_SECONDS
        warn_once("disk", f"the journal in {self.folder} can't be written ({why}); records wait in memory")

    def _remember(self, line: bytes) -> None:
        first = not self._memory
        self._memory.append(line)
        self._memory_bytes += len(line)
        self._trim()
        if first:
            self._on_memory()
        elif time.monotonic() >= self._retry_at:
            self._to_disk()

    def _trim(self) -> None:
        while self._memory_bytes > MEMORY_BYTES:
            self._memory_bytes -= len(self._memory.popleft())
            self.lost += 1
            warn_once("memory", "neither disk nor service take records; the oldest ones are dropped")

    def _to_disk(self) -> None:
        """Moves what waits in memory to the disk, as far as it takes it."""
        if self.path is None or self._taken:
            return
        if self._torn:
            if not self._write(b"\n"):
                return
            self._torn = False
        while self._memory:
            if not self._write(self._memory[0]):
                return
            self._memory_bytes -= len(self._memory.popleft())
