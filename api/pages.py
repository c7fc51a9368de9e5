"""Keyset pages: `{"items": […], "next": "…"}`; `next` is an opaque cursor that holds the last item's key.

Rows inserted while somebody pages move nothing, and page 1,000 costs what page 1 costs.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, Final, TypeVar

from fastapi import Query
from fastapi.responses import Response

from models.errors import FieldProblem, InvalidInput
from shipworthy.formats.jcs import JsonValue, canonicalize

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 500
JSON: Final = "application/json"
_VERSION: Final = 1
_MAX_CURSOR: Final = 4096

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="items in this page")]
After = Annotated[str | None, Query(description="`next` of the page before; leave it out for the first page")]
Scope = Sequence[JsonValue]
"""What a cursor belongs to: the list's name, the namespace and the filters."""
Key = tuple[int | str, ...]
Row = TypeVar("Row")

PAGE: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "A page; `next` is null on the last one.",
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["items", "next"],
                    "properties": {
                        "items": {"type": "array", "items": {"type": "object"}},
                        "next": {"type": ["string", "null"]},
                    },
                }
            }
        },
    }
}
"""The `responses` of a route that answers with a page."""


def encode_cursor(scope: Scope, key: Key) -> str:
    content = json.dumps([_VERSION, _checksum(scope, key), *key], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def decode_cursor(scope: Scope, text: str | None, *kinds: type[int] | type[str]) -> Key | None:
    """The key in a cursor, None without one.

    Raises InvalidInput for a text that is no cursor of this list with these filters.
    """
    if text is None:
        return None
    try:
        if len(text) > _MAX_CURSOR:
            raise ValueError
        padded = text + "=" * (-len(text) % 4)
        version, checksum, *key = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if version != _VERSION or [type(part) for part in key] != list(kinds):
            raise ValueError
        if checksum != _checksum(scope, key):
            raise ValueError
    except (ValueError, TypeError, binascii.Error, RecursionError):
        message = (
            "is no cursor of this list with these filters; take `next` of the page before, or leave it out"
        )
        problem = FieldProblem("/query/after", message)
        raise InvalidInput(f"/query/after {message}", problems=[problem]) from None
    return tuple(key)


def decode_position(scope: Scope, text: str | None) -> int | None:
    """The log position in a cursor of a list that is ordered by it."""
    key = decode_cursor(scope, text, int)
    return None if key is None else int(key[0])


def page(
    scope: Scope, rows: Sequence[Row], limit: int, key: Callable[[Row], Key], render: Callable[[Row], str]
) -> Response:
    """The answer for rows that were read with `limit + 1`; `render` gives an item's JSON text."""
    shown = rows[:limit]
    following = encode_cursor(scope, key(shown[-1])) if len(rows) > limit else None
    items = ",".join(map(render, shown))
    return json_response(f'{{"items":[{items}],"next":{json.dumps(following)}}}')


def json_response(text: str) -> Response:
    return Response(text, media_type=JSON)


def dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def extended(document: str, members: Mapping[str, Any]) -> str:
    """A stored JSON object with further members, its own text passed on as it is.

    The object is not empty and has no member of these names.
    """
    return f"{document[:-1]},{dump(members)[1:]}"


def _checksum(scope: Scope, key: Sequence[JsonValue]) -> str:
    """Ties a key to its list. It guards against slips, not against forgery: a made-up key only chooses
    another place in a list that the caller may read anyhow."""
    return sha256(canonicalize([list(scope), list(key)])).hexdigest()[:12]
