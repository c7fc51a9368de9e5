"""From claimed `statistics` work to its result: blobs fetched by their digests, hashed, and measured in a child."""

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from api.workers.answers import Refused, ServiceAway
from api.workers.children import Watch, run_child
from api.workers.client import Claim, ServiceClient
from api.workers.failures import DATA_CHANGED, DATA_REFUSED, DATA_UNREADABLE, ENDED_BY_ITS_DATA, WorkFailed
from api.workers.folders import private_folder
from api.workers.limits import limits_of
from api.workers.settings import WorkerSettings
from gates.statistics.bodies import blobs_needed, error_body

_PAUSES: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds between attempts to fetch a blob from a service that is away: it may only be starting again."""
_LOOK_SECONDS: Final = 0.2

Json = Any
Result = dict[str, Json]


@dataclass(frozen=True, slots=True)
class FetchedBlob:
    """`size` is the blob's own, also of one that is too long, of which nothing was fetched."""

    digest: str
    fd: int
    size: int


def measure(
    claim: Claim, settings: WorkerSettings, base: Path, watch: Watch, client: ServiceClient
) -> Result:
    """The body of the `statistics` record. Raises WorkFailed when there is none, and what `watch` raises."""
    inputs = claim.inputs
    with (
        private_folder(base) as folder,
        fetched_blobs(client, blobs_needed(inputs), folder, watch) as blobs,
    ):
        files = [{"path": blob.digest, "size": blob.size} for blob in blobs]
        task = {"kind": "statistics", "inputs": inputs, "files": files}
        try:
            limits = limits_of(settings, folder)
            return dict(run_child(task, [blob.fd for blob in blobs], limits, folder, watch))
        except WorkFailed as error:
            if error.code not in ENDED_BY_ITS_DATA:
                raise
            return error_body(inputs, error.message)


@contextmanager
def fetched_blobs(
    client: ServiceClient, needed: Mapping[str, int], folder: Path, watch: Watch
) -> Iterator[list[FetchedBlob]]:
    """The blobs with these digests, open, each with the most bytes that are fetched of it; closed afterwards. Their
    files have no names any more.

    Raises WorkFailed when the service has no such blob, gives other bytes, or stays away (worth a retry).
    """
    with ExitStack() as opened:
        blobs = []
        for number, (digest, most) in enumerate(sorted(needed.items())):
            watch.report(number, len(needed), "fetching blobs")
            path = folder / f"blob-{number}"
            written = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            opened.callback(os.close, written)
            path.unlink()
            size = _fetch(client, digest, most, written, folder, watch)
            reading = os.open(f"/proc/self/fd/{written}", os.O_RDONLY | os.O_CLOEXEC)
            opened.callback(os.close, reading)
            blobs.append(FetchedBlob(digest, reading, size))
        yield blobs


def _fetch(client: ServiceClient, digest: str, most: int, target: int, folder: Path, watch: Watch) -> int:
    """The blob's size, once its bytes are in the file. Raises WorkFailed, and what `watch` raises."""
    for pause in (*_PAUSES, None):
        try:
            return _fetch_once(client, digest, most, target, folder, watch)
        except Refused as error:
            if error.is_about_the_key:
                raise
            raise WorkFailed(
                DATA_REFUSED,
                f"the service does not give the blob {digest}: {error.detail}; upload it again, then ask for the "
                "statistics again",
            ) from error
        except ServiceAway as error:
            if pause is None:
                raise WorkFailed(
                    DATA_UNREADABLE, f"the blob {digest} could not be fetched: {error}", retry=True
                ) from error
            _rest(max(pause, error.retry_after or 0), watch)
    raise AssertionError("the last attempt returns or raises")


def _fetch_once(
    client: ServiceClient, digest: str, most: int, target: int, folder: Path, watch: Watch
) -> int:
    os.ftruncate(target, 0)
    os.lseek(target, 0, os.SEEK_SET)
    seen = sha256()
    with client.open_blob(digest) as blob:
        if blob.size > most:
            return blob.size
        free = shutil.disk_usage(folder).free
        if blob.size > free:
            raise WorkFailed(
                DATA_UNREADABLE,
                f"the blob {digest} has {blob.size:,} bytes and the worker's temporary folder room for {free:,}; give "
                "it a larger disk (TMPDIR)",
                retry=True,
            )
        for block in blob.blocks:
            watch.require_wanted()
            seen.update(block)
            rest = memoryview(block)
            while rest:
                rest = rest[os.write(target, rest) :]
        if f"sha256:{seen.hexdigest()}" != digest:
            raise WorkFailed(
                DATA_CHANGED, f"the service gave other bytes than those of the blob {digest}", retry=True
            )
        return blob.size


def _rest(seconds: float, watch: Watch) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        watch.require_wanted()
        time.sleep(_LOOK_SECONDS)
