"""C2SP signed notes (c2sp.org/signed-note) with Ed25519, and tree heads (c2sp.org/tlog-checkpoint)."""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_ED25519: Final = b"\x01"
_KEY_SIZE: Final = 32
_MAX_SIGNATURES: Final = 100
_SIGNATURE_LINE: Final = re.compile("\u2014 ([^ ]+) ([^ ]+)")
_CONTROL: Final = re.compile("[\x00-\x09\x0b-\x1f\ud800-\udfff]")
_SIZE: Final = re.compile("0|[1-9][0-9]{0,18}")


class NoteError(ValueError):
    """A note, tree head or verifier key is malformed, or no trusted key signed the note."""


@dataclass(frozen=True, slots=True)
class TreeHead:
    """State of a log: its origin (one line), the number of leaves, and the root of 32 bytes."""

    origin: str
    size: int
    root: bytes

    def __post_init__(self) -> None:
        if not self.origin or "\n" in self.origin or _CONTROL.search(self.origin):
            raise NoteError(f"origin {self.origin!a} is not a line of text; use one such as example.org/log")
        if not 0 <= self.size < 2**63:
            raise NoteError(f"tree size {self.size} is not within 0 and 2^63-1")
        if len(self.root) != hashlib.sha256().digest_size:
            raise NoteError(f"the root hash has {len(self.root)} bytes; a SHA-256 root has 32")

    def text(self) -> str:
        """The note text that is signed: origin, size and base64 root, a line each."""
        return f"{self.origin}\n{self.size}\n{_encoded(self.root)}\n"


def parse_tree_head(text: str) -> TreeHead:
    """The tree head of a note text; extension lines are allowed, as the format demands, and left out."""
    lines = text.split("\n")
    if len(lines) < 4 or lines.pop() != "" or "" in lines:
        raise NoteError("the tree head needs an origin, a size and a root hash, each on a line of its own")
    origin, size, root = lines[:3]
    if _SIZE.fullmatch(size) is None:
        raise NoteError(f"tree size {size[:40]!r} is not a plain decimal number without leading zeros")
    return TreeHead(origin, int(size), _decoded(root, "the root hash"))


def key_id(name: str, public_key_bytes: bytes) -> bytes:
    """Four bytes that name an Ed25519 key in signature lines; the key has 32 bytes (RFC 8032)."""
    _check_name(name)
    if len(public_key_bytes) != _KEY_SIZE:
        raise NoteError(f"the public key has {len(public_key_bytes)} bytes; an Ed25519 key has {_KEY_SIZE}")
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + public_key_bytes).digest()[:4]


def verifier_key(name: str, public_key_bytes: bytes) -> str:
    """The form in which a public key is handed out: name+<key id in hex>+<base64 of type and key>."""
    return f"{name}+{key_id(name, public_key_bytes).hex()}+{_encoded(_ED25519 + public_key_bytes)}"


def parse_verifier_key(text: str) -> tuple[str, bytes]:
    """Name and public key; NoteError when malformed, of another type, or when the key id doesn't fit."""
    parts = text.split("+", 2)
    if len(parts) != 3:
        raise NoteError(f"verifier key {text[:80]!a} is not name+hex+base64; copy the whole key")
    name, identifier, encoded = parts
    material = _decoded(encoded, "the verifier key")
    if material[:1] != _ED25519:
        raise NoteError(f"verifier key {name!a} is not of type Ed25519 (0x01); only this type is supported")
    if key_id(name, material[1:]).hex() != identifier:
        raise NoteError(f"verifier key {name!a} has an id that doesn't fit its key; copy it again")
    return name, material[1:]


def sign_note(text: str, name: str, private_key: "Ed25519PrivateKey") -> str:
    """The text, a blank line and one signature line. The text ends with a newline."""
    _check_text(text)
    if not text.endswith("\n"):
        raise NoteError("the note text doesn't end with a newline; add one")
    identifier = key_id(name, private_key.public_key().public_bytes_raw())
    return f"{text}\n\u2014 {name} {_encoded(identifier + private_key.sign(text.encode()))}\n"


def verify_note(note: str, verifier_keys: Sequence[str]) -> str:
    """The text of a note that a trusted key signed.

    Signatures of unknown keys are ignored. NoteError when the note is malformed, when no trusted key signed
    it, or when any signature under the name and id of a trusted key is wrong.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    text, signatures = _parse_note(note)
    keys = {}
    for name, public_key in map(parse_verifier_key, verifier_keys):
        keys[name, key_id(name, public_key)] = public_key
    verified = False
    for name, identifier, signature in signatures:
        trusted = keys.get((name, identifier))
        if trusted is None:
            continue
        try:
            Ed25519PublicKey.from_public_bytes(trusted).verify(signature, text.encode())
        except (InvalidSignature, ValueError):
            raise NoteError(f"the signature of {name} is wrong; fetch the note again from its log") from None
        verified = True
    if not verified:
        signers = ", ".join(sorted({name for name, _, _ in signatures}))
        raise NoteError(
            f"no trusted key signed the note, only {signers}; add its verifier key if you trust it"
        )
    return text


def _parse_note(note: str) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    """Text, and for each signature line the name, the key id and the signature."""
    _check_text(note)
    head, blank, tail = note.rpartition("\n\n")
    if not blank or not tail.endswith("\n"):
        raise NoteError("the note has no blank line with signatures after it, each ending with a newline")
    lines = tail[:-1].split("\n")
    if len(lines) > _MAX_SIGNATURES:
        raise NoteError(f"the note has {len(lines)} signatures; {_MAX_SIGNATURES} are allowed")
    signatures = []
    for line in lines:
        match = _SIGNATURE_LINE.fullmatch(line)
        if match is None:
            raise NoteError(f"signature line {line[:80]!a} is not an em dash, a key name and base64")
        name, encoded = match.groups()
        _check_name(name)
        material = _decoded(encoded, "a signature")
        if len(material) < 5:
            raise NoteError(f"a signature of {name} has {len(material)} bytes; a key id alone has 4")
        signatures.append((name, material[:4], material[4:]))
    return head + "\n", signatures


def _check_text(text: str) -> None:
    if _CONTROL.search(text):
        raise NoteError("the note has control characters or is not valid Unicode; only newlines are allowed")


def _check_name(name: str) -> None:
    if not name or "+" in name or any(character.isspace() for character in name) or _CONTROL.search(name):
        raise NoteError(f"key name {name!a} is empty or has spaces, plus or control characters")


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decoded(text: str, what: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    # One text for one value: base64 with stray low bits decodes too, but isn't what was signed or handed out.
    if _encoded(data) != text:
        raise NoteError(f"{what} is not standard base64 (RFC 4648 section 4) with padding")
    return data
