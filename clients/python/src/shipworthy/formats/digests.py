"""SHA-256 digests as Shipworthy writes them everywhere: `sha256:` and 64 lower-case hexadecimal digits."""

import hashlib
from typing import Final

DIGEST_PATTERN: Final[str] = r"^sha256:[0-9a-f]{64}$"
_DIGITS: Final = "0123456789abcdef"


def sha256_digest(data: bytes) -> str:
    """`sha256:<hex>` of the bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def is_digest(text: str) -> bool:
    # Stripped at both ends, only what has nothing but such digits becomes empty.
    return len(text) == 71 and text.startswith("sha256:") and not text[7:].strip(_DIGITS)


def digest_bytes(digest: str) -> bytes:
    """The 32 bytes a digest names; ValueError when the text is not a digest."""
    if not is_digest(digest):
        raise ValueError(
            f"digest {digest[:80]!r} is malformed; write sha256: followed by 64 lower-case hexadecimal digits"
        )
    return bytes.fromhex(digest[7:])
