"""SHA-256 digests as Shipworthy writes them everywhere: `sha256:` and 64 lower-case hexadecimal digits."""

import hashlib
import re
from typing import Final

DIGEST_PATTERN: Final[str] = r"^sha256:[0-9a-f]{64}$"
# fullmatch on the bare form: `$` alone would let a trailing newline through.
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def sha256_digest(data: bytes) -> str:
    """`sha256:<hex>` of the bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def digest_bytes(digest: str) -> bytes:
    """The 32 bytes a digest names; ValueError when the text is not a digest."""
    if not is_digest(digest):
        raise ValueError(
            f"digest {digest[:80]!r} is malformed; write sha256: followed by 64 lower-case hexadecimal digits"
        )
    return bytes.fromhex(digest[7:])
