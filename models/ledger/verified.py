"""Bytes against the digest that names them, before anybody is given them or builds upon them."""

from models.errors import LedgerDamaged
from shipworthy.formats.digests import sha256_digest


def check_bytes(what: str, digest: str, held: bytes) -> None:
    """`what` begins the sentence, such as "record at position 7". Raises LedgerDamaged."""
    if sha256_digest(held) != digest:
        raise LedgerDamaged(
            f"the {what} has bytes that do not hash to its digest {digest}: it was changed behind the service, and "
            "nothing of it is used; run `shipworthy-server fsck`, and restore a backup"
        )
