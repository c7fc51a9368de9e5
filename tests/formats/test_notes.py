import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shipworthy.formats.merkle import EMPTY_ROOT
from shipworthy.formats.notes import (
    NoteError,
    TreeHead,
    key_id,
    parse_tree_head,
    parse_verifier_key,
    sign_note,
    verifier_key,
    verify_note,
)

# The example key and note of golang.org/x/mod/sumdb/note.
PETER_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETER_SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
PETER_TEXT = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
)
PETER_LINE = (
    "— PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
PETER_NOTE = f"{PETER_TEXT}\n{PETER_LINE}"

LOG = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
LOG_KEY = verifier_key("example.org/log", LOG.public_key().public_bytes_raw())


def test_signing_reproduces_the_published_note() -> None:
    private_key = Ed25519PrivateKey.from_private_bytes(PETER_SEED)
    public_bytes = private_key.public_key().public_bytes_raw()
    assert verifier_key("PeterNeumann", public_bytes) == PETER_KEY
    assert key_id("PeterNeumann", public_bytes).hex() == "c74f20a3"
    assert parse_verifier_key(PETER_KEY) == ("PeterNeumann", public_bytes)
    assert sign_note(PETER_TEXT, "PeterNeumann", private_key) == PETER_NOTE


def test_the_published_note_verifies() -> None:
    assert verify_note(PETER_NOTE, [LOG_KEY, PETER_KEY]) == PETER_TEXT


def test_every_altered_byte_of_a_note_is_refused() -> None:
    for at in range(len(PETER_NOTE)):
        altered = PETER_NOTE[:at] + chr(ord(PETER_NOTE[at]) ^ 1) + PETER_NOTE[at + 1 :]
        with pytest.raises(NoteError):
            verify_note(altered, [PETER_KEY])


def test_every_cut_or_altered_verifier_key_is_refused() -> None:
    for start in range(len(PETER_KEY)):
        for stop in range(start + 1, len(PETER_KEY) + 1):
            if (start, stop) != (0, len(PETER_KEY)):
                with pytest.raises(NoteError):
                    parse_verifier_key(PETER_KEY[start:stop])
    for at in range(len(PETER_KEY)):
        with pytest.raises(NoteError):
            parse_verifier_key(PETER_KEY[:at] + chr(ord(PETER_KEY[at]) + 1) + PETER_KEY[at + 1 :])


def test_verify_note_says_who_signed_when_no_signer_is_trusted() -> None:
    with pytest.raises(NoteError, match="no trusted key signed the note, only PeterNeumann"):
        verify_note(PETER_NOTE, [LOG_KEY])
    with pytest.raises(NoteError, match="no trusted key"):
        verify_note(PETER_NOTE, [])


def test_verify_note_ignores_signatures_of_unknown_keys() -> None:
    unknown = "— witness.example/w1 " + base64.b64encode(b"\x00\x01\x02\x03anything").decode() + "\n"
    same_name = "— PeterNeumann " + base64.b64encode(b"\x00\x01\x02\x03anything").decode() + "\n"
    assert verify_note(PETER_NOTE + unknown + same_name, [PETER_KEY]) == PETER_TEXT


def test_verify_note_refuses_a_wrong_signature_beside_a_right_one() -> None:
    head_signed = sign_note(PETER_TEXT, "example.org/log", LOG)
    other = sign_note("another text\n", "example.org/log", LOG).split("\n\n")[1]
    assert verify_note(head_signed + PETER_LINE, [LOG_KEY, PETER_KEY]) == PETER_TEXT
    with pytest.raises(NoteError, match=r"signature of example\.org/log is wrong"):
        verify_note(PETER_NOTE + other, [LOG_KEY, PETER_KEY])


@pytest.mark.parametrize(
    "note",
    [
        "",
        PETER_TEXT,
        PETER_TEXT + "\n",
        PETER_TEXT + PETER_LINE,
        PETER_NOTE[:-1],
        PETER_NOTE + "\n",
        PETER_NOTE.replace("—", "-"),
        PETER_NOTE.replace("— Peter", "—  Peter"),
        PETER_NOTE.replace("PeterNeumann x", "Peter+Neumann x"),
        PETER_NOTE.replace("PeterNeumann x", "Peter\u00a0Neumann x"),
        PETER_NOTE.replace("AM=\n", "AN=\n"),  # stray low bits of the last base64 digit
        PETER_NOTE.replace("AM=\n", "AM\n"),
        PETER_NOTE.replace("problem,\n", "problem,\r\n"),
        PETER_NOTE.replace("crypto", "\x00crypto"),
        PETER_NOTE.replace("crypto", "\ud800crypto"),
        PETER_NOTE + "— x AAAAAA==\n",
        PETER_NOTE + PETER_LINE * 100,
    ],
)
def test_malformed_notes_are_refused(note: str) -> None:
    with pytest.raises(NoteError):
        verify_note(note, [PETER_KEY])


@pytest.mark.parametrize(
    ("text", "name"), [("no newline", "log"), ("tab\t\n", "log"), ("text\n", "a b"), ("text\n", "")]
)
def test_sign_note_refuses_what_no_reader_would_accept(text: str, name: str) -> None:
    with pytest.raises(NoteError):
        sign_note(text, name, LOG)


def test_a_text_with_blank_lines_keeps_them() -> None:
    text = "first\n\n— not a signature\n\nlast\n"
    assert verify_note(sign_note(text, "example.org/log", LOG), [LOG_KEY]) == text


def test_tree_head_text_matches_the_published_form() -> None:
    # The example of c2sp.org/tlog-checkpoint.
    text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    head = parse_tree_head(text)
    assert (head.origin, head.size, len(head.root)) == ("example.com/behind-the-sofa", 20852163, 32)
    assert head.text() == text
    assert parse_tree_head(text + "extension\n") == head


def test_an_empty_log_has_a_tree_head() -> None:
    head = TreeHead("example.org/log", 0, EMPTY_ROOT)
    assert parse_tree_head(verify_note(sign_note(head.text(), "example.org/log", LOG), [LOG_KEY])) == head


ROOT = base64.b64encode(EMPTY_ROOT).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"log\n1\n{ROOT}",
        f"log\n{ROOT}\n",
        f"\n1\n{ROOT}\n",
        f"log\n01\n{ROOT}\n",
        f"log\n-1\n{ROOT}\n",
        f"log\n+1\n{ROOT}\n",
        f"log\n١\n{ROOT}\n",
        f"log\n{2**63}\n{ROOT}\n",
        f"log\n{'9' * 5000}\n{ROOT}\n",
        f"log\n1\n{ROOT[:-2]}\n",
        f"log\n1\n{ROOT[4:]}\n",
        f"log\n1\n{ROOT}\n\nextension\n",
    ],
)
def test_malformed_tree_heads_are_refused(text: str) -> None:
    with pytest.raises(NoteError):
        parse_tree_head(text)
