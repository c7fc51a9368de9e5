"""DSSE envelopes, against the published example and against securesystemslib, the reference implementation."""

import copy

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey

from shipworthy.formats.dsse import (
    IN_TOTO_TYPE,
    EnvelopeError,
    check_signature,
    envelope,
    exact_base64,
    pre_authentication_encoding,
    public_key_id,
    sign_payload,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()
PAYLOAD = '{"_type":"https://in-toto.io/Statement/v1","note":"Prüfung"}'.encode()


def test_encoding_is_that_of_the_published_example() -> None:
    """secure-systems-lab/dsse, protocol.md, test vector."""
    found = pre_authentication_encoding("http://example.com/HelloWorld", b"hello world")
    assert found == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_lengths_count_bytes_and_not_characters() -> None:
    assert pre_authentication_encoding("ä", "ö€".encode()) == "DSSEv1 2 ä 5 ö€".encode()


def test_the_reference_implementation_accepts_what_was_signed() -> None:
    made = envelope(IN_TOTO_TYPE, PAYLOAD, sign_payload(IN_TOTO_TYPE, PAYLOAD, KEY))
    # from_dict changes the dictionary that it is given.
    read = Envelope.from_dict(copy.deepcopy(made))
    key = SSlibKey(public_key_id(PUBLIC), "ed25519", "ed25519", {"public": PUBLIC.hex()})
    assert list(read.verify([key], 1)) == [public_key_id(PUBLIC)]
    assert read.payload == PAYLOAD
    read.payload = PAYLOAD.replace(b"note", b"tone")
    with pytest.raises(VerificationError):
        read.verify([key], 1)


@pytest.mark.parametrize(
    ("payload_type", "payload"),
    [(IN_TOTO_TYPE, PAYLOAD + b" "), ("application/json", PAYLOAD), (IN_TOTO_TYPE, b"")],
)
def test_a_signature_holds_for_one_type_and_one_payload(payload_type: str, payload: bytes) -> None:
    made = sign_payload(IN_TOTO_TYPE, PAYLOAD, KEY)["sig"]
    check_signature(IN_TOTO_TYPE, PAYLOAD, made, PUBLIC)
    with pytest.raises(EnvelopeError):
        check_signature(payload_type, payload, made, PUBLIC)


@pytest.mark.parametrize("text", ["", "AA==", "not base64", "A" * 88])
def test_what_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(EnvelopeError):
        check_signature(IN_TOTO_TYPE, PAYLOAD, text, PUBLIC)


def test_bytes_have_one_base64_text() -> None:
    assert exact_base64("AA==") == b"\0"
    for other in ("AB==", "AA", "AA==\n", "-_=="):
        with pytest.raises(ValueError, match="base64"):
            exact_base64(other)
