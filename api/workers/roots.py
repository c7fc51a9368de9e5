"""Registered roots: a check names one and a path below it, and nothing else on the machine can be reached.

Every component is opened by its folder's descriptor without following links (openat, O_PATH, O_NOFOLLOW), looked
at, and only then opened for reading through /proc/self/fd: there is no moment in which a name may become another.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from api.workers.failures import DATA_REFUSED, DATA_UNREADABLE, DataMissing, WorkFailed
from api.workers.files import OpenedFile, close_all, state_of
from api.workers.settings import is_url
from shipworthy.formats.manifest import ManifestError, validate_path

MAX_FILES: Final = 10_000
MAX_FOLDERS: Final = 10_000
MAX_DEPTH: Final = 32

_KINDS: Final = {
    stat.S_IFLNK: "symbolic link",
    stat.S_IFSOCK: "socket",
    stat.S_IFIFO: "pipe",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class Seen:
    """Counts what lies in the folder at `path`; WorkFailed as soon as it is more than a check reads."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._files = 0
        self._folders = 0

    def add_file(self) -> None:
        self._files += 1
        if self._files > MAX_FILES:
            raise _refused(f"{self._path} holds more than {MAX_FILES:,} files; check a part of it")

    def add_folder(self) -> None:
        self._folders += 1
        if self._folders > MAX_FOLDERS:
            raise _refused(f"{self._path} holds more than {MAX_FOLDERS:,} folders; check a part of it")


def check_path(path: str) -> str:
    """The path, when it is plain, relative and POSIX; else WorkFailed with a sentence that says what it may be."""
    if is_url(path):
        raise _refused(f"the path {path[:200]!r} is a URL; name a registered root and a path below it")
    try:
        validate_path(path)
    except ManifestError as error:
        raise _refused(str(error)) from None
    return path


@contextmanager
def opened_below(root: Path, path: str) -> Iterator[list[OpenedFile]]:
    """The file at `path` below the root, or all files of the folder there, sorted by path; closed afterwards.

    Raises WorkFailed for a path that leads nowhere, out of the root or over a link, for anything but regular
    files and folders, for more than MAX_FILES files or MAX_FOLDERS folders, and for an empty folder.
    """
    files: list[OpenedFile] = []
    try:
        _open_path(root, check_path(path), files)
        files.sort(key=lambda file: file.path)
        yield files
    finally:
        close_all(files)


def _open_path(root: Path, path: str, files: list[OpenedFile]) -> None:
    *folders, name = path.split("/")
    try:
        here = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise WorkFailed(
            DATA_UNREADABLE, f"the root's folder can't be opened ({error.strerror}); see to it on the worker"
        ) from error
    try:
        for depth, folder in enumerate(folders):
            shown = "/".join(folders[: depth + 1])
            below = _open_node(here, folder, shown)
            os.close(here)
            here = below
            if not stat.S_ISDIR(os.fstat(here).st_mode):
                raise _refused(f"{shown} is no folder; correct the path {path!r}")
        node = _open_node(here, name, path)
    finally:
        os.close(here)
    try:
        if stat.S_ISDIR(os.fstat(node).st_mode):
            _open_folder(node, "", 0, files, Seen(path))
            if not files:
                raise _refused(f"the folder {path} holds no file; an empty folder has nothing to check")
        else:
            files.append(_open_file(node, name))
    finally:
        os.close(node)


def _open_folder(node: int, prefix: str, depth: int, files: list[OpenedFile], seen: Seen) -> None:
    if depth > MAX_DEPTH:
        raise _refused(
            f"the folder is nested deeper than {MAX_DEPTH} levels at {prefix[:200]}; check a part of it"
        )
    with _readable(node, os.O_DIRECTORY, prefix) as listing:
        names = _names(listing, prefix)
    for name in names:
        shown = prefix + name
        try:
            validate_path(shown)
        except ManifestError as error:
            raise _refused(str(error)) from None
        below = _open_node(node, name, shown)
        try:
            if stat.S_ISDIR(os.fstat(below).st_mode):
                seen.add_folder()
                _open_folder(below, shown + "/", depth + 1, files, seen)
                continue
            seen.add_file()
            files.append(_open_file(below, shown))
        finally:
            os.close(below)


def _names(listing: int, prefix: str) -> list[str]:
    """What one folder holds, sorted; of millions not even the names are read."""
    most = MAX_FILES + MAX_FOLDERS
    with os.scandir(listing) as entries:
        names = [entry.name for entry in islice(entries, most + 1)]
    if len(names) > most:
        raise _refused(f"{prefix or 'the folder'} holds more than {most:,} entries; check a part of it")
    return sorted(names)


def _open_node(folder: int, name: str, shown: str) -> int:
    """A descriptor that names a folder or a regular file and can't read it yet."""
    try:
        node = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        raise DataMissing(f"there is no {shown} below the root; correct the path") from None
    except OSError as error:
        raise WorkFailed(DATA_UNREADABLE, f"{shown} can't be opened: {error.strerror}") from error
    mode = os.fstat(node).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return node
    os.close(node)
    kind = _KINDS.get(stat.S_IFMT(mode), "special file")
    raise _refused(f"{shown} is a {kind}; only regular files and folders are read, replace or remove it")


def _open_file(node: int, shown: str) -> OpenedFile:
    try:
        fd = os.open(f"/proc/self/fd/{node}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise WorkFailed(DATA_UNREADABLE, f"{shown} can't be read: {error.strerror}") from error
    return OpenedFile(shown, fd, state_of(fd))


@contextmanager
def _readable(node: int, flags: int, shown: str) -> Iterator[int]:
    try:
        fd = os.open(f"/proc/self/fd/{node}", os.O_RDONLY | os.O_CLOEXEC | flags)
    except OSError as error:
        raise WorkFailed(
            DATA_UNREADABLE, f"{shown or 'the folder'} can't be read: {error.strerror}"
        ) from error
    try:
        yield fd
    finally:
        os.close(fd)


def _refused(sentence: str) -> WorkFailed:
    return WorkFailed(DATA_REFUSED, sentence)
