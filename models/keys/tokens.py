"""Tokens: `sw_<key id>_<secret>_<checksum>`, 89 characters, shown once and never stored.

- key id: 12 characters of base32 in lower case (60 bits), by which the row is found; not a secret.
- secret: 32 random bytes in hex. Base64url would be shorter, but it has "_", which separates the parts, and
  "-", at which a double click stops selecting; base58 and base62 have a varying length. Hex has exactly one
  text for each secret and needs no code of our own.
- checksum: CRC-32 (IEEE 802.3) of all before its "_", eight hex digits. It lets a secret scanner tell a
  token from a look-alike, and us a typing error from a wrong key, without asking the service. It protects
  nothing.
"""

import base64
import hmac
import os
import re
import zlib
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

TOKEN_LENGTH: Final = 89
_TOKEN: Final = re.compile(r"sw_([a-z2-7]{12})_([0-9a-f]{64})_([0-9a-f]{8})", re.ASCII)
# The pepper has two uses; the prefix keeps an HMAC made for one from ever meaning anything for the other.
_HMAC_PREFIX: Final = b"shipworthy.token/2\0"
_DIGEST_PREFIX: Final = b"shipworthy.token-hmac/1\0"


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made. Its representation shows the key id only, so that no log line can leak it."""

    key_id: str
    token: str = field(repr=False)
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ParsedToken:
    """The parts of a well-formed token; whether there is such a key is not known yet."""

    key_id: str
    secret: bytes = field(repr=False)


def new_token() -> NewToken:
    key_id = base64.b32encode(os.urandom(10)).decode().lower()[:12]
    secret = os.urandom(32)
    return NewToken(key_id, format_token(key_id, secret), secret)


def format_token(key_id: str, secret: bytes) -> str:
    """The one text of a key id and a secret of 32 bytes."""
    text = f"sw_{key_id}_{secret.hex()}"
    return f"{text}_{_checksum(text)}"


def parse_token(text: str) -> ParsedToken | None:
    """The parts, or None when the text is no token: length, alphabet, or checksum is wrong."""
    if len(text) != TOKEN_LENGTH:
        return None
    match = _TOKEN.fullmatch(text)
    if match is None:
        return None
    key_id, secret, checksum = match.groups()
    if _checksum(text[: -len(checksum) - 1]) != checksum:
        return None
    return ParsedToken(key_id, bytes.fromhex(secret))


def secret_hmac(pepper: bytes, namespace: str, key_id: str, secret: bytes) -> bytes:
    """32 bytes of HMAC-SHA256. A slow hash would add nothing: the secret is 256 random bits, not a
    password.

    Key id and namespace are part of it: copied to the row of another key, it opens nothing there.
    """
    message = b"\0".join((_HMAC_PREFIX + key_id.encode(), namespace.encode(), secret))
    return hmac.new(pepper, message, sha256).digest()


def hmac_digest(stored: bytes) -> str:
    """What a key's record says of its HMAC, so that the log tells when the row got another. It gives nothing away:
    without the pepper nobody can make the HMAC of a secret, and with it nobody needs to guess 256 bits."""
    return "sha256:" + sha256(_DIGEST_PREFIX + stored).hexdigest()


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
