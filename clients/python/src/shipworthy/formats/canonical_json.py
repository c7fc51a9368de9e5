"""Reading RFC 8785 text so that it can be written again byte for byte."""

import json
from typing import cast

from shipworthy.formats.jcs import MAX_SAFE_INTEGER, JsonValue, canonicalize


def parse_canonical(payload: bytes | str) -> JsonValue:
    """The JSON value of RFC 8785 text, such that `canonicalize` gives the text back.

    1e16 is written 10000000000000000 there: whole numbers beyond 2^53 - 1 are floats, integers of that size
    were never let in. ValueError or RecursionError when it is not JSON.
    """
    return cast(JsonValue, json.loads(payload, parse_int=_whole_number))


def require_canonical(payload: str) -> JsonValue:
    """The value of text that is canonical already: no space, no key twice, no other spelling of anything.

    ValueError for all other text.
    """
    try:
        value = parse_canonical(payload)
        same = canonicalize(value) == payload.encode()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON that could be hashed: {error}") from error
    if not same:
        raise ValueError("it is not written as RFC 8785 asks for, so its digest names other bytes")
    return value


def _whole_number(digits: str) -> int | float:
    if len(digits) < 16:
        return int(digits)
    value = float(digits)
    return int(digits) if abs(value) <= MAX_SAFE_INTEGER else value
