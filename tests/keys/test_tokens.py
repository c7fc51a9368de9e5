"""Tokens: one text each way, no typing error passes, nothing leaks into a log line."""

import re
import string

from hypothesis import given
from hypothesis import strategies as st

from models.keys.tokens import format_token, new_token, parse_token, secret_hmac

KEY_IDS = st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=12, max_size=12)
SECRETS = st.binary(min_size=32, max_size=32)


@given(KEY_IDS, SECRETS)
def test_token_reads_back_as_key_id_and_secret(key_id: str, secret: bytes) -> None:
    parsed = parse_token(format_token(key_id, secret))
    assert parsed is not None
    assert (parsed.key_id, parsed.secret) == (key_id, secret)


@given(KEY_IDS, SECRETS, st.integers(0, 88), st.sampled_from(string.printable))
def test_any_single_changed_character_is_refused(
    key_id: str, secret: bytes, place: int, character: str
) -> None:
    token = format_token(key_id, secret)
    changed = token[:place] + character + token[place + 1 :]
    assert changed == token or parse_token(changed) is None


@given(KEY_IDS, SECRETS, st.integers(0, 87))
def test_any_two_swapped_neighbours_are_refused(key_id: str, secret: bytes, place: int) -> None:
    token = format_token(key_id, secret)
    swapped = token[:place] + token[place + 1] + token[place] + token[place + 2 :]
    assert swapped == token or parse_token(swapped) is None


@given(st.text(max_size=200))
def test_other_text_is_no_token(text: str) -> None:
    assert parse_token(text) is None


def test_newline_space_missing_and_upper_case_are_refused() -> None:
    token = new_token().token
    for text in (f"{token}\n", f" {token}", token[:-1], token.upper(), "", token * 1000):
        assert parse_token(text) is None


def test_new_token_is_a_token_of_its_parts() -> None:
    made = new_token()
    assert re.fullmatch(r"sw_[a-z2-7]{12}_[0-9a-f]{64}_[0-9a-f]{8}", made.token)
    assert made.token == format_token(made.key_id, made.secret)


def test_new_tokens_differ() -> None:
    made = [new_token() for _ in range(100)]
    assert len({one.key_id for one in made}) == len({one.secret for one in made}) == 100


def test_representation_shows_no_secret() -> None:
    made = new_token()
    parsed = parse_token(made.token)
    shown = f"{made!r} {made} {parsed!r} {parsed}"
    assert made.key_id in shown
    assert made.secret.hex() not in shown
    assert repr(made.secret) not in shown


def test_secret_hmac_is_a_known_value() -> None:
    """Stored HMACs must match after upgrades: OpenSSL made this of the prefix, names and 32 × 02, key 32 × 01."""
    expected = "41790f2d82a856120b9d002b83ff31ec7947ca39fd506bbe187c3ec3c126055c"
    assert secret_hmac(b"\1" * 32, "team-a", "abcdefghijkl", b"\2" * 32).hex() == expected
