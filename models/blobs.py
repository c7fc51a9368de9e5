"""Blobs: immutable bytes addressed by their SHA-256, kept per namespace beside the database.

Half-received or wrong bytes never get a name: a blob is hashed while it is written to a temporary file, and
only a whole one that hashes to its digest is moved into place.
"""

import errno
import hashlib
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from models.blob_places import BlobPlace, Folder, ObjectStore, make_private_folder
from models.errors import (
    BlobDigestMismatch,
    BodyTooLarge,
    FieldProblem,
    InvalidInput,
    LedgerDamaged,
    NotFound,
    StartRefused,
    Unavailable,
)
from shipworthy.formats.digests import is_digest

MAX_BLOB_BYTES: Final = 256 << 20
READ_BYTES: Final = 1 << 20
_STALE_SECONDS: Final = 86_400.0
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_URL: Final = re.compile(r"^[a-z][a-z0-9+.-]*(::|://)", re.IGNORECASE)


class BlobStore:
    """Blobs under a local folder or an fsspec URL (such as memory://blobs).

    `location` is a path, a file:// URL or an fsspec URL; for the last `spool` is the local folder in which
    blobs are received before they are uploaded. Raises StartRefused when the location can't be used. Blobs
    that were half received more than a day ago, by a process that was killed, are removed.
    """

    def __init__(self, location: str | Path, *, spool: Path | None = None) -> None:
        root = local_folder(location)
        if root is not None:
            self._place: BlobPlace = Folder(root)
            # In the same folder, so that the move into place stays within one file system and is atomic.
            self._incoming = root / "incoming"
        elif spool is None:
            scheme = str(location).partition("://")[0]
            raise StartRefused(f"Blobs at {scheme}:// need a local spool folder; set one.")
        else:
            self._place = ObjectStore(str(location))
            self._incoming = spool
        make_private_folder(self._incoming)
        self._sweep(time.time() - _STALE_SECONDS)

    def writer(self, namespace: str, digest: str) -> "BlobWriter":
        """A writer for the blob; InvalidInput when the digest is malformed. Nothing is opened yet."""
        return BlobWriter(self._place, self._incoming, blob_key(namespace, digest), digest)

    def size(self, namespace: str, digest: str) -> int:
        """Bytes; NotFound when this namespace has no such blob, whatever others have."""
        size = self._place.size(blob_key(namespace, digest))
        if size is None:
            raise NotFound(f"No blob {digest} in this namespace; upload it with PUT /v1/blobs/{digest}.")
        return size

    def read(
        self, namespace: str, digest: str, start: int = 0, stop: int | None = None
    ) -> tuple[int, Iterator[bytes]]:
        """The size of the whole blob and its bytes from `start` up to `stop`, 1 MiB at a time. NotFound is
        raised at once, not by the iterator.

        A blob that is read whole is hashed: the iterator raises LedgerDamaged in the place of its last chunk when the
        bytes are not those of the digest."""
        size = self.size(namespace, digest)
        stop = size if stop is None else min(stop, size)
        chunks = self._chunks(blob_key(namespace, digest), start, stop)
        return size, _verified(chunks, digest) if (start, stop) == (0, size) else chunks

    def _chunks(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        with self._place.open(key) as source:
            source.seek(start)
            left = stop - start
            while left > 0 and (chunk := source.read(min(READ_BYTES, left))):
                left -= len(chunk)
                yield chunk

    def _sweep(self, before: float) -> None:
        for path in self._incoming.glob("*.part"):
            try:
                if path.stat().st_mtime < before:
                    path.unlink()
            except FileNotFoundError:
                continue  # another process swept it first


def _verified(chunks: Iterator[bytes], digest: str) -> Iterator[bytes]:
    hashed, held = hashlib.sha256(), b""
    for chunk in chunks:
        if held:
            yield held
        hashed.update(chunk)
        held = chunk
    if f"sha256:{hashed.hexdigest()}" != digest:
        raise LedgerDamaged(
            f"the blob {digest} no longer holds the bytes that it is named after: they were changed behind the "
            "service; send the right ones again (PUT), or take them from a backup"
        )
    yield held


class BlobWriter:
    """Receives one blob: `update` for each chunk, then `commit` or `abort`. The file exists from the first
    call of `update` on; a caller in whatever trouble must call `abort`, which may be called at any time."""

    def __init__(self, place: BlobPlace, incoming: Path, key: str, digest: str) -> None:
        self._place, self._key, self._digest = place, key, digest
        self._path = incoming / f"{secrets.token_hex(16)}.part"
        self._file: int | None = None
        self._hash = hashlib.sha256()
        # When the server is stopped, abort may run while a thread still writes: it must not close the number
        # of a file under that thread's hands, and nothing may be opened afterwards.
        self._lock = threading.Lock()
        self._aborted = False
        self.size = 0

    def update(self, chunk: bytes | bytearray) -> None:
        """Hash and keep the chunk; BodyTooLarge beyond 256 MiB, ValueError after `abort`."""
        with self._lock:
            if self.size + len(chunk) > MAX_BLOB_BYTES:
                raise BodyTooLarge(f"A blob holds at most {MAX_BLOB_BYTES:,} bytes; split it.")
            file = self._open()
            self.size += len(chunk)
            self._hash.update(chunk)
            rest = memoryview(chunk)
            with _room():
                while rest:
                    rest = rest[os.write(file, rest) :]

    def commit(self) -> bool:
        """Store the blob for good; False when the namespace had it already. BlobDigestMismatch when the bytes
        are not those of the digest, and nothing is stored."""
        if self._hash.hexdigest() != self._digest.removeprefix("sha256:"):
            raise BlobDigestMismatch(
                f"The {self.size:,} bytes received do not hash to the digest in the path; "
                "compute the SHA-256 of exactly the bytes you send."
            )
        with self._lock:
            file = self._open()
            with _room():
                os.fsync(file)
                os.close(file)
                self._file = None
                is_new = self._place.size(self._key) is None
                # Also when it was there: writing it again heals a file that a disk has damaged.
                self._place.install(self._path, self._key)
            return is_new

    def abort(self) -> None:
        """Forget what was received."""
        with self._lock:
            self._aborted = True
            if self._file is not None:
                os.close(self._file)
                self._file = None
            self._path.unlink(missing_ok=True)

    def _open(self) -> int:
        if self._aborted:
            raise ValueError("the upload was aborted; ask the store for a new writer")
        if self._file is None:
            with _room():
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        return self._file


@contextmanager
def _room() -> Iterator[None]:
    """A disk without room is an answer of its own: nothing was stored, and sending again may help."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise Unavailable(
            "the blob store has no room left; nothing was stored, try again when its disk has space"
        ) from error


def local_folder(location: str | Path) -> Path | None:
    """The folder of a store that keeps files, None for one that keeps objects under a URL."""
    text = str(location)
    if text.startswith("file://") or not _URL.match(text):
        return Path(text.removeprefix("file://"))
    return None


def blob_key(namespace: str, digest: str) -> str:
    """Where a blob lies below its store: `<hash of the namespace>/<2 digits>/<64 digits>`. A hash, because
    "a/b", "a:b" and ".." must neither meet nor escape on any file system.

    InvalidInput for a malformed digest."""
    if not is_digest(digest):
        message = "is malformed; write sha256: followed by 64 lower-case hexadecimal digits"
        raise InvalidInput(
            f"The digest in the path {message}.", problems=[FieldProblem("/path/digest", message)]
        )
    name = digest.removeprefix("sha256:")
    return f"{hashlib.sha256(namespace.encode()).hexdigest()}/{name[:2]}/{name}"
