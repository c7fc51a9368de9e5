"""Blobs that the service itself writes and reads: never a record that names what is not there, never other bytes."""

from hashlib import sha256

from models.blobs import BlobStore
from models.errors import NotFound
from shipworthy.formats.digests import sha256_digest


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
    data = b"".join(chunks)
    if sha256_digest(data) != digest:
        raise NotFound(
            f"blob {digest} no longer holds the bytes that it is named after; restore it from a backup"
        )
    return data


def is_kept(blobs: BlobStore, namespace: str, digest: str) -> bool:
    """Whether the bytes that the digest names are there, every one of them: they are read and hashed."""
    try:
        _, chunks = blobs.read(namespace, digest)
    except NotFound:
        return False
    hashed = sha256()
    for chunk in chunks:
        hashed.update(chunk)
    return f"sha256:{hashed.hexdigest()}" == digest
