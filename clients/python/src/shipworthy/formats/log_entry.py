"""What a leaf of the log says: the digest and kind of a record, nothing about tenants or people."""

from shipworthy.formats.digests import digest_bytes
from shipworthy.formats.jcs import canonicalize


def leaf_entry(record_digest: str, kind: str) -> bytes:
    """JCS of {"d": digest, "k": kind, "v": 1}; ValueError when the digest is malformed."""
    digest_bytes(record_digest)
    return b'{"d":"%b","k":%b,"v":1}' % (record_digest.encode(), canonicalize(kind))
