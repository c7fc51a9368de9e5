"""DSSE envelopes (secure-systems-lab/dsse v1.0.2) with one Ed25519 signature (RFC 8032)."""

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

IN_TOTO_TYPE: Final = "application/vnd.in-toto+json"


class EnvelopeError(ValueError):
    """An envelope or signature is malformed, or was not made with the key that is said to have made it."""


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """What is signed: "DSSEv1", then type and payload, each after its length in bytes."""
    encoded = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(encoded), encoded, len(payload), payload)


def public_key_id(public_key: bytes) -> str:
    """The name of a key in signatures: `sha256:<hex>` of its 32 bytes."""
    return sha256_digest(public_key)


def sign_payload(payload_type: str, payload: bytes, key: "Ed25519PrivateKey") -> dict[str, str]:
    """One member of an envelope's `signatures`."""
    signature = key.sign(pre_authentication_encoding(payload_type, payload))
    return {
        "keyid": public_key_id(key.public_key().public_bytes_raw()),
        "sig": base64.b64encode(signature).decode(),
    }


def check_signature(payload_type: str, payload: bytes, signature: str, public_key: bytes) -> None:
    """Raises EnvelopeError unless this key made the signature, which is base64 (RFC 4648 section 4)."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(
            exact_base64(signature), pre_authentication_encoding(payload_type, payload)
        )
    except (InvalidSignature, ValueError) as error:
        raise EnvelopeError(
            "the signature was not made with this key over this statement; one of the three was exchanged"
        ) from error


def envelope(payload_type: str, payload: bytes, signature: Mapping[str, str]) -> dict[str, JsonValue]:
    """The JSON document that other tools read."""
    return {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": payload_type,
        "signatures": [dict(signature)],
    }


def exact_base64(text: str) -> bytes:
    """The bytes; ValueError for other alphabets and for stray low bits, which would make one value have two texts."""
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text[:40]!a} is not standard base64 with padding") from error
    if base64.b64encode(data).decode() != text:
        raise ValueError(f"{text[:40]!a} is not the only way to write these bytes in base64")
    return data
