"""Digests of what stands behind model versions, as `run.artifact(path)` records them, and read no more than needed.

A file on this machine is read again when its inode, size or a time of it changed; of the two times, one is the
system's and nobody sets it. A file behind MLflow is read again when its ETag changed. Where MLflow tells no ETag, or
another one each time it is asked (it does both before object stores), the size alone is compared and the file is read
again after an hour.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

from api.workers.failures import WorkFailed
from api.workers.files import FileState, OpenedFile, hash_opened
from api.workers.roots import opened_below
from shipworthy.formats.manifest import ManifestEntry, ManifestError, manifest_digest
from shipworthy.registries.mlflow_artifacts import (
    ListedFile,
    Remote,
    Unreadable,
    resolved_address,
    unreadable,
    where,
)
from shipworthy.registries.mlflow_files import is_of_loading
from shipworthy.registries.mlflow_models import ModelVersion
from shipworthy.registries.mlflow_server import MlflowRefused, MlflowServer

UNPROVEN_SECONDS: Final = 3600.0
"""For how long a size alone stands for the bytes."""

GoOn = Callable[[], None]
"""Asked between blocks and files; raises to stop the reading."""


@dataclass(frozen=True, slots=True)
class _Local:
    device: int
    inode: int
    state: FileState
    sha256: str


@dataclass(frozen=True, slots=True)
class _Served:
    """`etag` is None where it proves nothing; `read_at` is of the monotonic clock."""

    listed_size: int | None
    size: int
    etag: str | None
    sha256: str
    read_at: float


class ArtifactDigests:
    """Remembers files of the last pass; `end_pass` forgets those that it did not ask for. For one thread."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._files: dict[tuple[str, ...], _Local | _Served] = {}
        self._asked: set[tuple[str, ...]] = set()

    def digest(self, server: MlflowServer, version: ModelVersion, go_on: GoOn) -> str:
        """Of the manifest of its files; a single file is there under its own name, as where it was trained.

        Raises Unreadable with a sentence, MlflowAway when MLflow can't be asked, and what `go_on` raises.
        """
        try:
            place = where(server, version)
            if isinstance(place, Path):
                return self._of_path(place, go_on)
            name = PurePosixPath(unquote(urlsplit(resolved_address(server, version)).path)).name
            return self._of_remote(server, place, name, go_on)
        except MlflowRefused as error:
            raise unreadable(error) from error

    def end_pass(self) -> None:
        self._files = {key: known for key, known in self._files.items() if key in self._asked}
        self._asked.clear()

    def _of_path(self, path: Path, go_on: GoOn) -> str:
        try:
            # Links that lead to the artifact are the operator's; below it none is followed.
            root = path.parent.resolve(strict=True)
            is_folder = (root / path.name).is_dir()
            with opened_below(root, path.name) as files:
                entries = [
                    ManifestEntry(file.path, file.state.size, self._hash_local(path, file, go_on))
                    for file in files
                    if not (is_folder and is_of_loading(file.path, file.state.size))
                ]
        except WorkFailed as error:
            raise Unreadable(error.message) from error
        except OSError as error:
            raise Unreadable(f"{path} can't be read on the worker: {error.strerror or error}") from error
        return _digest_of(entries)

    def _hash_local(self, path: Path, file: OpenedFile, go_on: GoOn) -> str:
        status = _identity(file.fd)
        key = ("local", str(path), file.path)
        self._asked.add(key)
        known = self._files.get(key)
        if isinstance(known, _Local) and (known.device, known.inode, known.state) == (*status, file.state):
            return known.sha256
        (hashed,) = hash_opened([file], lambda _: go_on())
        self._files[key] = _Local(*status, file.state, hashed.sha256)
        return hashed.sha256

    def _of_remote(self, server: MlflowServer, place: Remote, name: str, go_on: GoOn) -> str:
        listed = place.files(server, go_on)
        entries = []
        for file in listed:
            go_on()
            served = self._read(server, place, file, go_on)
            entries.append(ManifestEntry(file.path or name, served.size, served.sha256))
        if place.files(server, go_on) != listed:
            raise Unreadable("files of it came, went or changed while they were read; it is read again soon")
        return _digest_of(entries)

    def _read(self, server: MlflowServer, place: Remote, file: ListedFile, go_on: GoOn) -> _Served:
        address, parameters = place.reading(file.path)
        key = (server.url, server.workspace or "", address, *sorted(parameters.values()))
        self._asked.add(key)
        known = self._files.get(key)
        if not isinstance(known, _Served) or known.listed_size != file.size:
            known = None
        if known is not None and known.etag is None and self._is_fresh(known):
            return known
        etag = None if known is None else known.etag
        with server.download(address, parameters, etag) as download:
            if known is not None and download.blocks is None:
                return known
            sha256, size = _hash(download.blocks or iter(()), go_on)
        if file.size is not None and size != file.size:
            raise Unreadable(f"{file.path or 'it'} changed while it was read; it is read again soon")
        etag = download.etag if _repeats(server, address, parameters, download.etag) else None
        found = _Served(file.size, size, etag, sha256, self._monotonic())
        self._files[key] = found
        return found

    def _is_fresh(self, known: _Served) -> bool:
        return self._monotonic() - known.read_at < UNPROVEN_SECONDS


def _repeats(server: MlflowServer, address: str, parameters: Mapping[str, str], etag: str | None) -> bool:
    """Whether the server tells the same ETag when asked again. Only a strong one stands for bytes (RFC 9110, 8.8)."""
    if etag is None or etag.startswith("W/"):
        return False
    with server.download(address, parameters, etag) as download:
        return download.blocks is None


def _hash(blocks: Iterator[bytes], go_on: GoOn) -> tuple[str, int]:
    hasher, size = hashlib.sha256(), 0
    for block in blocks:
        go_on()
        hasher.update(block)
        size += len(block)
    return hasher.hexdigest(), size


def _identity(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def _digest_of(entries: Sequence[ManifestEntry]) -> str:
    try:
        return manifest_digest(entries)
    except ManifestError as error:
        raise Unreadable(str(error)) from error
