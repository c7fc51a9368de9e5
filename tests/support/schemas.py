"""JSON schemas of requests, walked: every place in a body that has a limit, and bodies that reach or pass it."""

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

Schema = dict[str, Any]
Path = tuple[str | int, ...]

# Four bytes each in UTF-8 and all different, so that no database can store them shorter than they are.
_RANDOM: Final = random.Random(7)
_EXAMPLES: Final = {
    "digest": "sha256:" + "5" * 64,
    "date-time": "2026-05-01T10:00:00Z",
    "run": "019f0000-0000-7000-8000-00000000beef",
}
_PATTERNS: Final = {
    "^sha256:[0-9a-f]{64}$": _EXAMPLES["digest"],
    "^[0-9a-f]{7,64}$": "abcdef0",
    "^[0-9a-f]{40,64}$": "abcdef0" * 6,
}
_LENGTHS: Final = {
    "^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,255}$": 256,
    "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$": 128,
    "^[0-9a-f]{7,64}$": 64,
    "^[0-9a-f]{40,64}$": 64,
}
"""The longest text that a pattern takes."""
KEY: Final = "*"
"""Stands in a path for a name of the caller's own choice."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At `path` stands a text, a name or a number that may be `most` long or large."""

    path: Path
    kind: str
    most: int


def long_text(length: int) -> str:
    return "".join(chr(_RANDOM.randrange(0x20000, 0x2A000)) for _ in range(length))


def resolve(schema: Schema, definitions: Schema) -> Schema:
    """The schema itself, references followed and `null` left out of a choice."""
    if "$ref" in schema:
        return resolve(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    if "anyOf" in schema:
        return resolve(next(each for each in schema["anyOf"] if each.get("type") != "null"), definitions)
    return schema


def limits_of(schema: Schema, definitions: Schema, path: Path = ()) -> Iterator[Limit]:
    schema = resolve(schema, definitions)
    match schema.get("type"):
        case "string":
            most = schema.get("maxLength", _LENGTHS.get(schema.get("pattern", "")))
            if most is not None:
                kind = "plain" if schema.get("pattern") in _LENGTHS else "text"
                yield Limit(path, "pointer" if schema.get("format") == "json-pointer" else kind, most)
        case "integer" if "maximum" in schema:
            yield Limit(path, "number", schema["maximum"])
        case "array":
            yield from limits_of(schema["items"], definitions, (*path, 0))
        case "object":
            for name, below in schema.get("properties", {}).items():
                yield from limits_of(below, definitions, (*path, name))
            if "propertyNames" in schema:
                yield Limit((*path, KEY), "name", schema["propertyNames"]["maxLength"])
            if isinstance(_members(schema), dict):
                yield from limits_of(_members(schema), definitions, (*path, "name"))


def _members(schema: Schema) -> Any:
    """The schema of members whose names are the caller's; a pattern for the names holds it in another place."""
    return next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))


def reaching(limit: Limit, excess: int) -> str | int:
    """A value at the limit, or so much over it."""
    match limit.kind:
        case "number":
            return limit.most + excess
        case "pointer":
            return "/" + "a" * (limit.most + excess - 1)
        case "plain":
            return "a" * (limit.most + excess)
        case _:
            return long_text(limit.most + excess)


def with_value(body: Any, schema: Schema, definitions: Schema, limit: Limit, value: object) -> Any:
    """A copy of `body` with `value` at the limit's place; what is missing on the way is filled with the least."""
    return _set(copy.deepcopy(body), schema, definitions, limit.path, value)


def _set(body: Any, schema: Schema, definitions: Schema, path: Path, value: object) -> Any:
    if not path:
        return value
    schema, (name, *rest) = resolve(schema, definitions), path
    if isinstance(name, int):
        body = body or [_least(schema["items"], definitions)]
        return [_set(body[0], schema["items"], definitions, tuple(rest), value), *body[1:]]
    below = schema.get("properties", {}).get(name, _members(schema))
    if name == KEY:
        return {**body, str(value): _least(below, definitions)}
    inner = body.get(name)
    if inner is None:
        inner = _least(below, definitions)
    return {**body, name: _set(inner, below, definitions, tuple(rest), value)}


def _least(schema: Schema | bool, definitions: Schema) -> Any:
    if isinstance(schema, bool):
        return 1
    schema = resolve(schema, definitions)
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            known = schema.get("properties", {})
            return {name: _least(known[name], definitions) for name in schema.get("required", [])}
        case "array":
            return [_least(schema["items"], definitions)] * schema.get("minItems", 0)
        case "string":
            return _EXAMPLES.get(schema.get("format", ""), _PATTERNS.get(schema.get("pattern", ""), "a"))
        case "boolean":
            return True
        case _:
            return max(schema.get("minimum", 1), 1)
