"""A body's RFC 8785 bytes, kept in the pieces that ingredients, answers and the record are put together from:
nothing is encoded twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shipworthy.formats.jcs import CanonicalizationError, JsonValue, canonicalize


@dataclass(frozen=True, slots=True)
class CanonicalBody:
    """`whole` is the body, `members` the value of each of its members, `elements` those of each member that is a
    list, one by one."""

    whole: bytes
    members: Mapping[str, bytes]
    elements: Mapping[str, Sequence[bytes]]


def canonical_body(body: Mapping[str, JsonValue]) -> CanonicalBody:
    """Raises CanonicalizationError, whose path starts at the body."""
    members: dict[str, bytes] = {}
    elements: dict[str, list[bytes]] = {}
    for name, value in body.items():
        try:
            if isinstance(value, list):
                elements[name] = _elements(value)
                members[name] = b"[" + b",".join(elements[name]) + b"]"
            else:
                members[name] = canonicalize(value)
        except CanonicalizationError as error:
            raise error.below(name) from None
    return CanonicalBody(_object(members), members, elements)


def _elements(values: Sequence[JsonValue]) -> list[bytes]:
    encoded = []
    for place, value in enumerate(values):
        try:
            encoded.append(canonicalize(value))
        except CanonicalizationError as error:
            raise error.below(str(place)) from None
    return encoded


def _object(members: Mapping[str, Any]) -> bytes:
    """Names are fields of ours, so ASCII and without need of escapes."""
    return b"{" + b",".join(b'"%b":%b' % (name.encode(), members[name]) for name in sorted(members)) + b"}"
