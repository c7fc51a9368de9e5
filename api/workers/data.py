"""The data of a check: found below its root, open, hashed, and known to be Parquet or CSV."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from api.workers.children import Watch
from api.workers.failures import DATA_REFUSED, WorkFailed
from api.workers.files import HashedFile, hash_opened, require_unchanged
from api.workers.roots import opened_below
from api.workers.settings import WorkerSettings, is_url
from api.workers.staging import staged
from shipworthy.formats.manifest import manifest_digest

_FORMATS: Final = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}
_MAGIC: Final = b"PAR1"


@dataclass(frozen=True, slots=True)
class Data:
    """`files` are all of the manifest; `read` are those that hold rows, in its order."""

    root: str
    path: str
    format: str
    files: Sequence[HashedFile]
    read: Sequence[HashedFile]

    @property
    def size(self) -> int:
        return sum(hashed.file.state.size for hashed in self.files)

    @property
    def manifest(self) -> str:
        """Digest of the manifest of all files."""
        return manifest_digest(hashed.entry for hashed in self.files)

    def described(self) -> dict[str, Any]:
        """The member `data` of a result, as far as it is known without reading rows."""
        return {
            "manifest": self.manifest,
            "root": self.root,
            "path": self.path,
            "format": self.format,
            "files": len(self.files),
            "bytes": self.size,
        }


@contextmanager
def opened_files(
    settings: WorkerSettings, root: str, path: str, folder: Path, watch: Watch
) -> Iterator[list[HashedFile]]:
    """The file at `path` or all below it, hashed now, and once more when the block ends well. Raises WorkFailed, and
    what `watch` raises."""
    target = settings.roots.get(root)
    if target is None:
        raise WorkFailed(
            DATA_REFUSED, f"this worker has no root {root}; start one with --root {root}=PATH", retry=True
        )
    where = path.rstrip("/")
    if is_url(target):
        opened = staged(target, where, folder, partial(_fetched, watch))
    else:
        opened = opened_below(Path(target), where)
    with opened as files:
        total = sum(file.state.size for file in files)
        try:
            hashed = hash_opened(files, _Counter(watch, total, "hashing", watch.require_wanted).add)
            yield hashed
            # Also of a check that was ended at its time limit the bytes are to be known.
            require_unchanged(hashed, _Counter(watch, total, "hashing again", watch.require_held).add)
        except OSError as error:
            raise WorkFailed(DATA_REFUSED, f"the data can't be read: {error.strerror}", retry=True) from error


@contextmanager
def opened_data(settings: WorkerSettings, root: str, path: str, folder: Path, watch: Watch) -> Iterator[Data]:
    """The same as data of a check. Raises WorkFailed also for files that are none."""
    with opened_files(settings, root, path, folder, watch) as hashed:
        format, read = rows_of(hashed)
        yield Data(root, path, format, hashed, read)


def rows_of(files: Sequence[HashedFile]) -> tuple[str, list[HashedFile]]:
    """The format of the files, and those of them that hold rows: marks such as _SUCCESS and hidden files don't.

    Raises WorkFailed when there is none, or not one format for all.
    """
    read = list(files)
    if len(files) > 1:
        read = [each for each in files if not each.file.path.rpartition("/")[2].startswith(("_", "."))]
    found = {_format(each) for each in read}
    if not read or None in found or len(found) > 1:
        strange = next((each.file.path for each in read if _format(each) is None), None)
        what = f"{strange} is neither" if strange else "the folder holds " + ("both" if read else "none")
        raise WorkFailed(
            DATA_REFUSED,
            f"data is Parquet (.parquet, .pq) or CSV (.csv), and {what}; check files of one format",
        )
    return str(found.pop()), read


def _format(hashed: HashedFile) -> str | None:
    suffix = Path(hashed.file.path).suffix.lower()
    if suffix in _FORMATS:
        return _FORMATS[suffix]
    return "parquet" if os.pread(hashed.file.fd, len(_MAGIC), 0) == _MAGIC else None


def _fetched(watch: Watch, done: int, total: int) -> None:
    watch.require_wanted()
    watch.report(done, total, "fetching")


class _Counter:
    def __init__(self, watch: Watch, total: int, text: str, require: Callable[[], None]) -> None:
        self._watch = watch
        self._total = total
        self._text = text
        self._require = require
        self._done = 0

    def add(self, count: int) -> None:
        self._require()
        self._done += count
        self._watch.report(self._done, self._total, self._text)
