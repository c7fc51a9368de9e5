"""Files of a check, open: hashed before the check reads them, and once more when it is done."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256

from api.workers.failures import DATA_CHANGED, WorkFailed
from shipworthy.formats.manifest import BLOCK_SIZE, ManifestEntry

Progress = Callable[[int], None]
"""Called with the number of bytes of each block read; may raise to stop the reading."""


@dataclass(frozen=True, slots=True)
class FileState:
    """What can't stay the same when somebody writes: `changed_ns` is the inode's change time, which no user sets."""

    size: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A regular file by its open descriptor; `path` is POSIX, relative to the folder that was asked for."""

    path: str
    fd: int
    state: FileState


@dataclass(frozen=True, slots=True)
class HashedFile:
    """`sha256` is 64 hexadecimal digits of the bytes that the descriptor gave."""

    file: OpenedFile
    sha256: str

    @property
    def entry(self) -> ManifestEntry:
        return ManifestEntry(self.file.path, self.file.state.size, self.sha256)


def state_of(fd: int) -> FileState:
    status = os.fstat(fd)
    return FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def hash_opened(files: Iterable[OpenedFile], progress: Progress) -> list[HashedFile]:
    """Reads every file from its start to the size it had when it was opened.

    Raises WorkFailed when one changed meanwhile, OSError as the system gives it, and what `progress` raises.
    """
    return [HashedFile(file, _hash(file, progress)) for file in files]


def require_unchanged(files: Iterable[HashedFile], progress: Progress) -> None:
    """WorkFailed unless every file still has the bytes that were hashed, and was not written to since.

    The state is asked too: bytes that were changed and put back would hash the same, yet what was checked in
    between is unknown.
    """
    for hashed in files:
        if _hash(hashed.file, progress) != hashed.sha256:
            raise _changed(hashed.file)


def close_all(files: Iterable[OpenedFile]) -> None:
    for file in files:
        os.close(file.fd)


def _hash(file: OpenedFile, progress: Progress) -> str:
    digest = sha256()
    buffer = memoryview(bytearray(BLOCK_SIZE))
    read = 0
    while read < file.state.size:
        count = os.preadv(file.fd, [buffer[: file.state.size - read]], read)
        if count == 0:
            break
        digest.update(buffer[:count])
        read += count
        progress(count)
    if read != file.state.size or state_of(file.fd) != file.state:
        raise _changed(file)
    return digest.hexdigest()


def _changed(file: OpenedFile) -> WorkFailed:
    return WorkFailed(
        DATA_CHANGED,
        f"the data changed while it was checked: {file.path} is not what it was when the check began. "
        "Check it again when nothing writes to it.",
    )
