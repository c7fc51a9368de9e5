"""Where blobs lie: a local folder, or any object store that fsspec knows."""

import os
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from models.errors import StartRefused


class BlobPlace(Protocol):
    """Keys are relative POSIX paths made by the store; a key appears whole or not at all."""

    def install(self, path: Path, key: str) -> None:
        """Move the finished and synced local file to the key, replacing it; durable on return."""

    def size(self, key: str) -> int | None:
        """Bytes, or None when there is no such key."""

    def open(self, key: str) -> BinaryIO:
        """A seekable stream."""


class Folder:
    """Files under a local folder: 0600 in folders of 0700, moved into place by an atomic rename."""

    def __init__(self, root: Path) -> None:
        self._root = root
        make_private_folder(root)

    def install(self, path: Path, key: str) -> None:
        target = self._root / key
        make_private_folder(target.parent)
        path.replace(target)
        _sync_folder(target.parent)

    def size(self, key: str) -> int | None:
        try:
            return (self._root / key).stat().st_size
        except FileNotFoundError:
            return None

    def open(self, key: str) -> BinaryIO:
        return (self._root / key).open("rb")


class ObjectStore:
    """Objects below an fsspec URL. Atomic where an object appears only when its upload is complete, as it
    does in S3, GCS, Azure and memory://."""

    def __init__(self, url: str) -> None:
        from fsspec.core import url_to_fs  # 20 ms that a local folder need not pay

        try:
            self._files, root = url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise StartRefused(
                f"Blobs can't be kept at {url.partition('://')[0]}://: {error}; install fsspec's "
                "package for it or correct the URL."
            ) from error
        self._root = root.rstrip("/")

    def install(self, path: Path, key: str) -> None:
        target = f"{self._root}/{key}"
        # Memory and other file-like systems need the folder; for object stores this does nothing.
        self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
        self._files.put_file(str(path), target)
        path.unlink()

    def size(self, key: str) -> int | None:
        try:
            return int(self._files.size(f"{self._root}/{key}"))
        except FileNotFoundError:
            return None

    def open(self, key: str) -> BinaryIO:
        return cast(BinaryIO, self._files.open(f"{self._root}/{key}", "rb"))


def make_private_folder(folder: Path) -> None:
    """Make the folder and those above it that are missing, each 0700 and each entry durable."""
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """A rename or a new folder survives a power cut only when the folder that holds it is synced too."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
