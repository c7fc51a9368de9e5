"""A body's RFC 8785 bytes, kept in the pieces that ingredients, answers and the record are put together from.

Nearly every body is one that the compiled encoder writes as RFC 8785 asks for. Whether it did is seen at what it
wrote, which is a third of the price of walking the body before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from shipworthy.formats.jcs import MAX_DEPTH, CanonicalizationError, JsonValue, canonicalize

_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"{}[]"))
# Lone surrogates orjson refuses too; integers beyond 2^53-1, data classes and dates it has to be told to refuse.
_OPTIONS: Final = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)


def _encode(value: object) -> bytes:
    """A copy of what orjson gives, whose own bytes hold 4 KiB and more of memory for whatever they say: waiting for
    its commit, a body of 8 KB held 230 KB."""
    return b"".join((orjson.dumps(value, option=_OPTIONS), b""))


@dataclass(frozen=True, slots=True)
class CanonicalBody:
    """`whole` is the body, `members` the value of each of its members, `elements` those of each member that is a
    list, one by one."""

    whole: bytes
    members: Mapping[str, bytes]
    elements: Mapping[str, Sequence[bytes]]


def canonical_bytes(value: JsonValue) -> bytes:
    """What canonicalize() gives, sooner. Raises CanonicalizationError."""
    text = _written(value)
    return canonicalize(value) if text is None else text


def canonical_body(body: Mapping[str, JsonValue]) -> CanonicalBody:
    """Raises CanonicalizationError, whose path starts at the body."""
    # When the whole is written canonically, then so is each of its parts.
    encode: Callable[[Any], bytes] = canonicalize if _written(body) is None else _encode
    members: dict[str, bytes] = {}
    elements: dict[str, list[bytes]] = {}
    for name, value in body.items():
        try:
            if isinstance(value, list):
                elements[name] = _elements(value, encode)
                members[name] = b"[" + b",".join(elements[name]) + b"]"
            else:
                members[name] = encode(value)
        except CanonicalizationError as error:
            raise error.below(name) from None
    return CanonicalBody(_object(members), members, elements)


def _written(value: JsonValue) -> bytes | None:
    """orjson's text of the value where that is the canonical one; None when it is not, or in doubt."""
    try:
        text = _encode(value)
    except TypeError:  # orjson's error is one
        return None
    # Beyond ASCII keys are sorted otherwise (by UTF-16); with a backslash a quote may not end a string.
    if not text.isascii() or b"\\" in text:
        return None
    outside = b"".join(text.split(b'"')[::2])
    # A null may have been NaN, which has no canonical form; whole floats lose their ".0"; exponents begin elsewhere.
    if any(each in outside for each in (b"null", b".0,", b".0}", b".0]")) or outside.endswith(b".0"):
        return None
    if outside.count(b"e") != outside.count(b"true") + outside.count(b"false"):
        return None
    brackets = outside.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            break
        brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
    return None if brackets else text


def _elements(values: Sequence[JsonValue], encode: Callable[[Any], bytes]) -> list[bytes]:
    encoded = []
    for place, value in enumerate(values):
        try:
            encoded.append(encode(value))
        except CanonicalizationError as error:
            raise error.below(str(place)) from None
    return encoded


def _object(members: Mapping[str, Any]) -> bytes:
    """Names are fields of ours, so ASCII and without need of escapes."""
    return b"{" + b",".join(b'"%b":%b' % (name.encode(), members[name]) for name in sorted(members)) + b"}"
