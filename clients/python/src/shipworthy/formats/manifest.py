"""Manifests: the digest of a file tree is the sha256 of the JCS of its sorted {path, sha256, size} list."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import MAX_SAFE_INTEGER, canonicalize

MAX_PATH_LENGTH: Final = 1024
BLOCK_SIZE: Final = 2**20
"""Bytes read, hashed and reported at a time."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
# C0 and C1 controls and DEL; lone surrogates are how Python spells file names that are not UTF-8.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_KINDS: Final = {
    stat.S_IFLNK: "symbolic link",
    stat.S_IFDIR: "folder",
    stat.S_IFSOCK: "socket",
    stat.S_IFIFO: "pipe",
}


class ManifestError(ValueError):
    """The manifest, one of its entries, or the tree it was to describe is refused."""


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One file: POSIX path relative to the root of the tree, size in bytes, 64 hexadecimal digits."""

    path: str
    size: int
    sha256: str

    def __post_init__(self) -> None:
        validate_path(self.path)
        if not 0 <= self.size <= MAX_SAFE_INTEGER:
            raise ManifestError(f"the size of {self.path!r} is not within 0 and 2^53-1 bytes")
        if _SHA256.fullmatch(self.sha256) is None:
            raise ManifestError(f"the sha256 of {self.path!r} is not 64 lower-case hexadecimal digits")


def validate_path(path: str) -> None:
    """ManifestError unless the path is relative, POSIX, plain, and within MAX_PATH_LENGTH characters."""
    if len(path) > MAX_PATH_LENGTH:
        raise ManifestError(f"path {path[:60]!r}… has {len(path)} characters; {MAX_PATH_LENGTH} are allowed")
    if _UNPRINTABLE.search(path):
        raise ManifestError(f"path {path!a} has control characters or is not valid UTF-8; rename the file")
    if "\\" in path:
        raise ManifestError(f"path {path!r} has a backslash; separate folders with /")
    if path.startswith("/"):
        raise ManifestError(f"path {path!r} is absolute; write it relative to the root of the tree")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise ManifestError(f"path {path!r} has an empty, '.' or '..' part; write the plain relative path")


def manifest_bytes(entries: Iterable[ManifestEntry]) -> bytes:
    """Canonical bytes of the entries in any order; sorted by the code points of the path.

    Raises ManifestError when there is no entry or a path appears twice.
    """
    ordered = sorted(entries, key=lambda entry: entry.path)
    if not ordered:
        raise ManifestError("the manifest has no entry; an empty tree has no digest")
    for entry, following in pairwise(ordered):
        if entry.path == following.path:
            raise ManifestError(f"path {entry.path!r} appears twice; list each file once")
    return canonicalize(
        [{"path": entry.path, "sha256": entry.sha256, "size": entry.size} for entry in ordered]
    )


def manifest_digest(entries: Iterable[ManifestEntry]) -> str:
    return sha256_digest(manifest_bytes(entries))


def parse_manifest(data: bytes) -> tuple[ManifestEntry, ...]:
    """The entries of canonical manifest bytes; ManifestError for anything else, other spacing too."""
    try:
        rows = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"the manifest is not JSON: {error}") from None
    if not isinstance(rows, list):
        raise ManifestError("the manifest is not a list; write a list of {path, sha256, size}")
    entries = []
    for index, row in enumerate(rows):
        if not isinstance(row, dict) or row.keys() != {"path", "sha256", "size"}:
            raise ManifestError(f"entry {index} of the manifest needs exactly the fields path, sha256, size")
        path, size, sha256 = row["path"], row["size"], row["sha256"]
        if not isinstance(path, str) or not isinstance(sha256, str) or type(size) is not int:
            raise ManifestError(
                f"entry {index} of the manifest needs text as path and sha256, an integer size"
            )
        entries.append(ManifestEntry(path, size, sha256))
    if manifest_bytes(entries) != data:
        raise ManifestError("the manifest is not canonical; sort it by path and write it as RFC 8785 JSON")
    return tuple(entries)


@dataclass(frozen=True, slots=True)
class FileHash:
    """Size in bytes and 64 hexadecimal digits."""

    size: int
    sha256: str


def hash_file(path: Path, progress: Callable[[int], None] | None = None) -> FileHash:
    """Hash one regular file, calling `progress` with the number of bytes of each block read.

    Raises ManifestError for links, folders, sockets, pipes and devices, and when the file changed meanwhile;
    OSError as the system gives it.
    """
    before = _regular_status(path)
    # Not following, not blocking: the name may have become a link or a pipe since it was looked at.
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # Which of them exist depends on the system.
        flags |= getattr(os, name, 0)
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(BLOCK_SIZE))
    read = 0
    with open(os.open(path, flags), "rb", buffering=0) as file:
        if _identity(os.fstat(file.fileno())) != _identity(before):
            raise ManifestError(f"{path} changed while it was hashed; hash it when it is complete")
        # The bound keeps a file that grows as fast as it is read from being read for ever.
        while read <= before.st_size and (count := file.readinto(buffer)):
            digest.update(buffer[:count])
            read += count
            if progress is not None:
                progress(count)
        after = os.fstat(file.fileno())
    try:
        unchanged = _identity(before) == _identity(after) == _identity(_regular_status(path))
    except FileNotFoundError:
        unchanged = False
    if read != before.st_size or not unchanged:
        raise ManifestError(f"{path} changed while it was hashed; hash it when it is complete")
    return FileHash(read, digest.hexdigest())


def hash_tree(root: Path, progress: Callable[[int], None] | None = None) -> tuple[ManifestEntry, ...]:
    """Entries of all files below a folder, sorted by path; a single file becomes one entry under its name.

    Empty folders leave no trace. Raises as hash_file does, and ManifestError for a tree without files, for
    names validate_path refuses, and when files came or went while hashing.
    """
    if not stat.S_ISDIR(root.lstat().st_mode):
        file = hash_file(root, progress)
        return (ManifestEntry(root.name, file.size, file.sha256),)
    entries = []
    try:
        paths = sorted(_files(root, ""))
        for path in paths:
            file = hash_file(root / path, progress)
            entries.append(ManifestEntry(path, file.size, file.sha256))
        complete = sorted(_files(root, "")) == paths
    except FileNotFoundError:
        complete = False
    if not complete:
        raise ManifestError(f"{root} gained or lost files while it was hashed; hash it when it is complete")
    if not entries:
        raise ManifestError(f"{root} holds no file; an empty tree has no digest")
    return tuple(entries)


def _files(folder: Path, prefix: str) -> Iterator[str]:
    """Relative POSIX paths of the regular files; everything but files and folders is refused by name."""
    with os.scandir(folder) as items:
        for item in items:
            path = prefix + item.name
            validate_path(path)
            if item.is_dir(follow_symlinks=False):
                yield from _files(folder / item.name, path + "/")
            else:
                _regular_status(folder / item.name)
                yield path


def _regular_status(path: Path) -> os.stat_result:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "device")
        raise ManifestError(f"{path} is a {kind}; only regular files have a digest, replace or remove it")
    return status


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
