"""Roots in an object store: the bytes are fetched into the check's private folder, and those are what is checked.

A staged file loses its name as soon as it is open: it can't be exchanged, and nothing of it outlives the worker.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, cast

from api.workers.failures import (
    DATA_CHANGED,
    DATA_REFUSED,
    DATA_UNREADABLE,
    DataMissing,
    WorkDropped,
    WorkFailed,
)
from api.workers.files import OpenedFile, close_all, state_of
from api.workers.roots import Seen, check_path
from shipworthy.formats.manifest import ManifestError, validate_path

BLOCK_BYTES: Final = 8 * 2**20
_VERSION_KEYS: Final = (
    "size",
    "ETag",
    "etag",
    "generation",
    "md5Hash",
    "LastModified",
    "last_modified",
    "mtime",
    "created",
)
"""What the file systems of fsspec tell about a version of an object, each in its own words."""


class _Reader(Protocol):
    def read(self, size: int) -> bytes: ...

    def close(self) -> None: ...


class FileSystem(Protocol):
    """The part of fsspec's AbstractFileSystem that is used."""

    def info(self, path: str) -> Mapping[str, object]: ...

    def ls(self, path: str, detail: bool) -> Sequence[Mapping[str, object]]: ...

    def open(self, path: str, mode: str, *, block_size: int) -> _Reader: ...

    def invalidate_cache(self) -> None: ...


@dataclass(frozen=True, slots=True)
class StoredObject:
    """`name` is its path in the manifest, `where` its key in the store."""

    name: str
    where: str
    size: int


@contextmanager
def staged(
    url: str, path: str, folder: Path, progress: Callable[[int, int], None]
) -> Iterator[list[OpenedFile]]:
    """The object at `path` below the root's URL, or all below it, fetched to `folder`; sorted, closed afterwards.

    `progress` gets bytes fetched and bytes in all, and may raise to stop. Raises WorkFailed when there is nothing,
    a name is refused, they don't fit on the disk, an object changed, or the store can't be reached (worth a retry).
    """
    check_path(path)
    files: list[OpenedFile] = []
    try:
        try:
            _fetch(*_file_system(url), path, folder, files, progress)
        except (WorkFailed, WorkDropped):
            raise
        except Exception as error:  # a border: each store's library raises classes of its own
            if getattr(error, "errno", None) == errno.EBUSY:  # How s3fs tells that an object was exchanged.
                raise _changed(path) from error
            raise WorkFailed(
                DATA_UNREADABLE,
                f"the root's store did not give {path} ({type(error).__name__}); see to the store, its address and "
                "the worker's rights there",
                retry=not isinstance(error, PermissionError),
            ) from error
        yield files
    finally:
        close_all(files)


def _file_system(url: str) -> tuple[FileSystem, str]:
    from fsspec.core import url_to_fs  # 0.2 s that a worker with local roots need not pay

    try:
        system, base = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise WorkFailed(
            DATA_UNREADABLE,
            f"the root's address can't be used by this worker: {error}; install fsspec's package for it",
        ) from error
    return cast(FileSystem, system), str(base).rstrip("/")


def _fetch(
    system: FileSystem,
    base: str,
    path: str,
    folder: Path,
    files: list[OpenedFile],
    progress: Callable[[int, int], None],
) -> None:
    objects = _objects(system, f"{base}/{path}", path, lambda: progress(0, 0))
    total = sum(each.size for each in objects)
    free = shutil.disk_usage(folder).free
    if total > free:
        raise WorkFailed(
            DATA_REFUSED,
            f"{path} has {total:,} bytes and the worker's temporary folder room for {free:,}; give it a larger disk "
            "(TMPDIR) or check a part of the data",
        )
    fetched = 0
    for each in objects:
        target = folder / f"staged-{len(files)}"
        written = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            for count in _copy(system, each, written):
                fetched += count
                progress(fetched, total)
            reading = os.open(f"/proc/self/fd/{written}", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(written)
            target.unlink()
        files.append(OpenedFile(each.name, reading, state_of(reading)))


def _objects(system: FileSystem, top: str, path: str, go_on: Callable[[], None]) -> list[StoredObject]:
    """What lies at `top`: one object under its last name, or all below it under their paths from there."""
    system.invalidate_cache()
    try:
        info = system.info(top)
    except FileNotFoundError:
        raise DataMissing(f"there is no {path} below the root; correct the path") from None
    if info.get("type") != "directory":
        return [_object(path.rpartition("/")[2], top, info)]
    found = []
    for where, each in _below(system, top, path, go_on):
        name = where.removeprefix(f"{top}/")
        try:
            validate_path(name)
        except ManifestError as error:
            raise WorkFailed(DATA_REFUSED, str(error)) from None
        found.append(_object(name, where, each))
    if not found:
        raise WorkFailed(
            DATA_REFUSED, f"the folder {path} holds no file; an empty folder has nothing to check"
        )
    return sorted(found, key=lambda each: each.name)


def _below(
    system: FileSystem, top: str, path: str, go_on: Callable[[], None]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Objects and their keys, listed folder by folder and counted meanwhile: a store may hold millions of them.

    `go_on` is asked before each folder. What can't be listed raises; fsspec's own walk would leave it out.
    """
    waiting, seen = [top], Seen(path)
    while waiting:
        go_on()
        folder = waiting.pop()
        for each in system.ls(folder, detail=True):
            where = str(each["name"])
            if each.get("type") == "directory":
                if where.rstrip("/") == folder:
                    raise WorkFailed(
                        DATA_REFUSED,
                        f"{path} holds an object with an empty part in its name, such as a//b; rename it",
                    )
                seen.add_folder()
                waiting.append(where)
            # Empty objects that end with a slash stand for folders in the consoles of some stores.
            elif where != folder and not where.endswith("/"):
                seen.add_file()
                yield where, each


def _object(name: str, where: str, info: Mapping[str, object]) -> StoredObject:
    size = info.get("size")
    if not isinstance(size, int):
        raise WorkFailed(
            DATA_REFUSED, f"the root's store does not tell the size of {name}; it can't be checked"
        )
    return StoredObject(name, where, size)


def _version(system: FileSystem, where: str) -> tuple[object, ...]:
    """Asked of the store, not of a listing: listings tell times in other words and more finely."""
    system.invalidate_cache()
    info = system.info(where)
    return tuple((key, info[key]) for key in _VERSION_KEYS if key in info)


def _copy(system: FileSystem, source: StoredObject, target: int) -> Iterator[int]:
    """Copies in blocks, giving the bytes of each; at most one block more than the object had."""
    copied = 0
    version = _version(system, source.where)
    reader = system.open(source.where, "rb", block_size=BLOCK_BYTES)
    try:
        while copied <= source.size and (block := reader.read(BLOCK_BYTES)):
            rest = memoryview(block)
            while rest:
                rest = rest[os.write(target, rest) :]
            copied += len(block)
            yield len(block)
    finally:
        reader.close()
    if copied != source.size or _version(system, source.where) != version:
        raise _changed(source.name)


def _changed(name: str) -> WorkFailed:
    return WorkFailed(
        DATA_CHANGED,
        f"the data changed while it was checked: {name} became another object while it was fetched. Check it again "
        "when nothing writes to it.",
    )
