"""The digest of what lies behind a model version, as `run.artifact` records it."""

import os
import stat
import threading
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from typing import Final

from shipworthy.formats.manifest import hash_tree, manifest_digest
from shipworthy.registries.mlflow_files import is_of_loading

KEPT: Final = 1000
"""Digests that are remembered."""


class Digests:
    """Digests of files and folders of this machine, remembered until a file of them changes.

    What tells: device, inode, size, and the times of the last change of content and of inode, of every file and
    folder. Whoever can set the latter back can also write to the disk of the MLflow server behind its back; the
    reconciler, which hashes anew, is what finds that.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[bytes, str]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, path: Path) -> str:
        """ManifestError (a ValueError) or OSError when it has no digest."""
        key = str(path)
        before = look(path)
        known = self._of_look(key, before)
        if known is not None:
            return known
        entries = hash_tree(path)
        if path.is_dir():
            entries = tuple(each for each in entries if not is_of_loading(each.path, each.size))
        digest = manifest_digest(entries)
        if (
            look(path) == before
        ):  # Otherwise hash_tree was as quick as whoever wrote; the digest is not remembered.
            with self._lock:
                self._known[key] = (before, digest)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
        return digest

    def remembered(self, path: Path) -> str | None:
        """The digest when nothing changed since it was made; None when there is none, or no file to look at."""
        try:
            return self._of_look(str(path), look(path))
        except OSError:
            return None

    def _of_look(self, key: str, seen: bytes) -> str | None:
        with self._lock:
            known = self._known.get(key)
            if known is None or known[0] != seen:
                return None
            self._known.move_to_end(key)
            return known[1]


def look(path: Path) -> bytes:
    """Equal for two looks at a tree when nothing changed in between. OSError when there is nothing."""
    digest = sha256()
    pending = [os.fspath(path)]
    while pending:
        each = pending.pop()
        status = os.lstat(each)
        facts = (
            status.st_dev,
            status.st_ino,
            status.st_mode,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )
        digest.update(f"{each}\0{facts}\n".encode("utf-8", "surrogateescape"))
        if stat.S_ISDIR(status.st_mode):
            pending.extend(os.path.join(each, name) for name in sorted(os.listdir(each), reverse=True))
    return digest.digest()
