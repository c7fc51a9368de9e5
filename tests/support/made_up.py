"""Values that a JSON schema admits, and lines that are none: what pydantic writes into schemas is understood."""

import json
from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st

from tests.support.schemas import Schema

ANYTHING: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_MOST_ITEMS: Final = 2
"""What a list or a map of the caller's own names holds at most, unless its schema wants more."""
_MOST_TEXT: Final = 24
_ODD: Final = (
    b"\xff",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\r",
    b"\xed\xa0\x80",
    b'"',
    b"}",
    b"NaN",
    b"1e999",
    b"9007199254740993",
    b"\\ud800",
    b"[" * 40,
    b'{"a":1,"a":1}',
)


def admitted(schema: Schema | bool, definitions: Schema) -> st.SearchStrategy[Any]:
    """Raises KeyError for a type that no schema of the service has."""
    if isinstance(schema, bool) or not schema:
        return ANYTHING
    if "$ref" in schema:
        return admitted(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return st.one_of([admitted(each, definitions) for each in schema[choice]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    if "type" not in schema:
        return ANYTHING
    makers: dict[str, Callable[[Schema, Schema], st.SearchStrategy[Any]]] = {
        "object": _object,
        "array": _array,
        "string": _string,
        "integer": _integer,
        "number": _number,
        "boolean": lambda *_: st.booleans(),
        "null": lambda *_: st.none(),
    }
    return makers[schema["type"]](schema, definitions)


def _object(schema: Schema, definitions: Schema) -> st.SearchStrategy[Any]:
    required = set(schema.get("required", ()))
    known = {name: admitted(each, definitions) for name, each in schema.get("properties", {}).items()}
    fields = st.fixed_dictionaries(
        {name: each for name, each in known.items() if name in required},
        optional={name: each for name, each in known.items() if name not in required},
    )
    members = next(
        iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties", True)
    )
    if known or members is False:
        return fields
    names = admitted({"type": "string", "minLength": 1, **schema.get("propertyNames", {})}, definitions)
    least = schema.get("minProperties", 0)
    return st.dictionaries(
        names, admitted(members, definitions), min_size=least, max_size=least + _MOST_ITEMS
    )


def _array(schema: Schema, definitions: Schema) -> st.SearchStrategy[Any]:
    least = schema.get("minItems", 0)
    most = min(schema.get("maxItems", least + _MOST_ITEMS), least + _MOST_ITEMS)
    return st.lists(admitted(schema.get("items", True), definitions), min_size=least, max_size=most)


def _string(schema: Schema, definitions: Schema) -> st.SearchStrategy[Any]:
    if schema.get("format") == "date-time":
        return st.datetimes().map(lambda moment: moment.isoformat() + "Z")
    least = schema.get("minLength", 0)
    most = max(least, min(schema.get("maxLength", _MOST_TEXT), _MOST_TEXT))
    if "pattern" in schema and not schema["pattern"].startswith("^[^"):
        # Longer texts of it are cut by nobody: a pattern of names holds its own lengths.
        return st.from_regex(schema["pattern"].removesuffix("$") + r"\Z")
    return st.text(
        st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Cf")), min_size=least, max_size=most
    )


def _integer(schema: Schema, definitions: Schema) -> st.SearchStrategy[Any]:
    return st.integers(schema.get("minimum", -(2**53) + 1), schema.get("maximum", 2**53 - 1))


def _number(schema: Schema, definitions: Schema) -> st.SearchStrategy[Any]:
    return st.floats(
        schema.get("minimum"),
        schema.get("maximum"),
        allow_nan=False,
        allow_infinity=False,
        allow_subnormal=False,
    )


@st.composite
def broken(draw: st.DrawFn, line: dict[str, Any]) -> bytes:
    """The line with a field gone, in excess or of another type, or with odd bytes in it; never with a newline."""
    body = dict(line["body"])
    match draw(st.sampled_from(["missing", "excess", "other", "torn", "odd", "odd"])):
        case "missing" if body:
            del body[draw(st.sampled_from(sorted(body)))]
        case "excess":
            body[draw(st.text(max_size=8))] = draw(ANYTHING)
        case "other" if body:
            body[draw(st.sampled_from(sorted(body)))] = draw(ANYTHING)
        case "torn":
            text = json.dumps(line).encode()
            return text[: draw(st.integers(0, len(text)))]
        case _:
            text = json.dumps(line).encode()
            place = draw(st.integers(0, len(text)))
            return text[:place] + draw(st.sampled_from(_ODD)) + text[place:]
    return json.dumps(line | {"body": body}).encode()
