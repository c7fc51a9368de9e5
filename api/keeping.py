"""Blobs that the service itself writes and reads: never a record that names what is not there, never other bytes."""

from collections import deque

from models.blobs import BlobStore
from models.errors import LedgerDamaged, NotFound


def keep_blob(blobs: BlobStore, namespace: str, digest: str, data: bytes) -> None:
    """To be called before the record that names it. Raises Unavailable when the store has no room; nothing is half
    written then."""
    writer = blobs.writer(namespace, digest)
    try:
        writer.update(data)
        writer.commit()
    except BaseException:
        writer.abort()
        raise


def kept_blob(blobs: BlobStore, namespace: str, digest: str) -> bytes:
    """The bytes that the digest names. Raises NotFound, also when a disk or somebody changed them."""
    _, chunks = blobs.read(namespace, digest)
    try:
        return b"".join(chunks)
    except LedgerDamaged as error:
        raise NotFound(
            f"blob {digest} no longer holds the bytes that it is named after; restore it from a backup"
        ) from error


def is_kept(blobs: BlobStore, namespace: str, digest: str) -> bool:
    """Whether the bytes that the digest names are there, every one of them: they are read and hashed."""
    try:
        _, chunks = blobs.read(namespace, digest)
        deque(chunks, maxlen=0)
    except (NotFound, LedgerDamaged):
        return False
    return True
