"""From claimed `checkpoint_verification` work to its result: hashed, loaded in a child as far as no code of the
checkpoint need run, hashed again.

Only the levels that were looked at get an outcome. What can't be loaded here keeps the level that its bytes earn.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from api.workers.children import Watch, run_child
from api.workers.client import Claim
from api.workers.data import opened_files
from api.workers.failures import DATA_UNREADABLE, ENDED_BY_ITS_DATA, DataMissing, WorkFailed
from api.workers.files import HashedFile
from api.workers.folders import private_folder
from api.workers.limits import limits_of
from api.workers.settings import WorkerSettings, is_url
from shipworthy.formats.manifest import manifest_digest
from shipworthy.formats.times import format_instant

MAX_DETAIL: Final = 2000

Json = Any
Result = dict[str, Json]


def verify(claim: Claim, settings: WorkerSettings, base: Path, watch: Watch) -> Result:
    """The levels that the checkpoint reached or failed to. Raises WorkFailed when nothing can be said, such as for
    files that change meanwhile, and what `watch` raises."""
    request = claim.request
    root, path = str(request["root"]), str(request["path"])
    with private_folder(base) as folder:
        try:
            with opened_files(settings, root, path, folder, watch) as files:
                manifest = manifest_digest(hashed.entry for hashed in files)
                if manifest != request["checkpoint"]:
                    outcomes = [_outcome("checksummed", False, _other_bytes(root, path, manifest))]
                else:
                    outcomes = _loaded(files, settings, folder, watch)
        except DataMissing as error:
            if not request["asked"] or _is_empty(settings.roots[root]):
                message = f"{error.message}; nothing was verified"
                raise WorkFailed(DATA_UNREADABLE, message, retry=True) from error
            return _result(request, None, (), [_outcome("checksummed", False, error.message)])
    return _result(request, manifest, files, outcomes)


def _result(
    request: Mapping[str, Json], manifest: str | None, files: Sequence[HashedFile], outcomes: list[Json]
) -> Result:
    """`checked_at` is when the last byte was read: what came later than that is not known."""
    return {
        "checkpoint": request["checkpoint"],
        "root": request["root"],
        "path": request["path"],
        "manifest": manifest,
        "files": len(files),
        "bytes": sum(hashed.file.state.size for hashed in files),
        "checked_at": format_instant(datetime.now(UTC)),
        "outcomes": outcomes,
    }


def _loaded(files: Sequence[HashedFile], settings: WorkerSettings, folder: Path, watch: Watch) -> list[Json]:
    """The outcomes of a checkpoint whose bytes are those that were recorded."""
    same = f"{_count(len(files), 'file')}, as recorded"
    task = {
        "kind": "checkpoint",
        "files": [{"path": each.file.path, "size": each.file.state.size} for each in files],
    }
    try:
        descriptors = [each.file.fd for each in files]
        found = run_child(task, descriptors, limits_of(settings, folder), folder, watch)
    except WorkFailed as error:
        if error.code not in ENDED_BY_ITS_DATA:
            raise
        return [_outcome("checksummed", True, f"{same}; not loaded: {error.message}")]
    if found["broken"]:
        broken = _listed(found["broken"], found["more_broken"], ": ")
        return [_outcome("checksummed", True, same), _outcome("loaded", False, broken)]
    if found["not_loaded"]:
        left = _listed(found["not_loaded"], found["more_not_loaded"], " ")
        return [_outcome("checksummed", True, f"{same}; not loaded: {left}")]
    loaded = f"{_count(found['loaded'], 'file')} read to the last byte"
    return [_outcome("checksummed", True, same), _outcome("loaded", True, loaded)]


def _outcome(level: str, passed: bool, detail: str) -> dict[str, str]:
    return {
        "level": level,
        "outcome": "passed" if passed else "failed",
        "detail": detail if len(detail) <= MAX_DETAIL else f"{detail[: MAX_DETAIL - 1]}…",
    }


def _other_bytes(root: str, path: str, manifest: str) -> str:
    return (
        f"what lies under root {root} at {path} has the digest {manifest}: not the bytes that were recorded"
    )


def _listed(reasons: Mapping[str, str], more: int, between: str) -> str:
    named = "; ".join(f"{path}{between}{reason}" for path, reason in reasons.items())
    return f"{named}; and {more} more" if more else named


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _is_empty(target: str) -> bool:
    """Whether a local root holds nothing at all, as where a disk is mounted that is not there."""
    if is_url(target):
        return False
    with os.scandir(target) as entries:
        return next(entries, None) is None
