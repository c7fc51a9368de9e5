"""Refused fields in words: pydantic's errors as JSON pointers and messages that say how to mend the input.

Pydantic's own texts are not passed on: some of them quote the input, which may be personal or secret.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from models.errors import FieldProblem, InvalidInput
from models.patterns import words_of

MAX_PROBLEMS: Final = 20
_MAX_POINTER: Final = 256
_MAX_NAMES: Final = 20

# By pydantic's error type (pydantic documentation, "Validation Errors"); braces name members of its context.
_MESSAGES: Final[Mapping[str, str]] = {
    "missing": "is missing; add it",
    "string_type": "must be a string",
    "string_unicode": "must be valid Unicode text",
    "string_too_long": "is longer than {max_length} characters; shorten it",
    "string_too_short": "must have {min_length} or more characters",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number; leave the field out when there is none",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "none_required": "must be null",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "frozen_set_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dataclass_type": "must be an object",
    "too_long": "must hold at most {max_length} entries",
    "too_short": "must hold {min_length} or more entries",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "union_tag_invalid": "its member {discriminator} must be one of {expected_tags}",
    "union_tag_not_found": "needs the member {discriminator}, which tells what it is",
}


def problems_of(error: ValidationError, model: type[BaseModel] | None = None) -> tuple[FieldProblem, ...]:
    """At most 20 refused fields. With the `model` that was validated an unknown field is answered with the
    nearest known one, and the names pydantic gives to the members of a union are left out of the pointers."""
    details = error.errors(include_url=False)
    return tuple(_problem(detail, detail["loc"], model) for detail in details[:MAX_PROBLEMS])


def parameter_problems(details: Sequence[Mapping[str, Any]]) -> tuple[FieldProblem, ...]:
    """The same for what FastAPI refuses before a route runs: a field is "/query/limit" or "/path/digest",
    or the pointer alone when it lies in the body."""
    return tuple(
        _problem(detail, detail["loc"][1:] if detail["loc"][:1] == ("body",) else detail["loc"], None)
        for detail in details[:MAX_PROBLEMS]
    )


def invalid_input(error: ValidationError, model: type[BaseModel] | None = None) -> InvalidInput:
    """The error to raise for a body that `model` refused."""
    return refusal(problems_of(error, model), error.error_count())


def refusal(problems: tuple[FieldProblem, ...], count: int) -> InvalidInput:
    """InvalidInput whose detail is the first of the `problems`; `count` tells how many there were in all."""
    first = problems[0]
    others = f"; {count - 1} more in this request" if count > 1 else ""
    return InvalidInput(f"{first.field or 'The body'} {first.message}{others}.", problems=problems)


def _problem(
    detail: Mapping[str, Any], location: Sequence[int | str], model: type[BaseModel] | None
) -> FieldProblem:
    unknown = detail["type"] in {"extra_forbidden", "unexpected_keyword_argument"}
    parents = location[:-1] if unknown else location
    path, types = _walk(parents, model)
    if unknown:
        name = str(location[-1])
        return FieldProblem(_pointer([*path, name]), _unknown_field(name, types))
    return FieldProblem(_pointer(path), _message(detail))


def _message(detail: Mapping[str, Any]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in {"value_error", "assertion_error"}:
        return _without_input(str(context["error"]), detail.get("input"))
    if kind == "string_pattern_mismatch":
        return words_of(context["pattern"]) or "is not written as it must be; /openapi.json has its pattern"
    template = _MESSAGES.get(kind)
    return template.format(**context) if template else f"is not valid: {kind.replace('_', ' ')}"


def _without_input(message: str, value: object) -> str:
    """Our own validators may quote the value, whole or its first 80 characters."""
    if not isinstance(value, str):
        return message
    for quoted in (repr(value), repr(value[:80])):
        message = message.replace(quoted, "'…'")
    return message


def _unknown_field(name: str, types: Sequence[object]) -> str:
    known = sorted({field for found in types for field in _fields(found)})
    near = difflib.get_close_matches(name[:100], known, n=1, cutoff=0.7)
    if near:
        return f'is not a field here; did you mean "{near[0]}"?'
    if known and len(known) <= _MAX_NAMES:
        return f"is not a field here; remove it (the fields are {', '.join(known)})"
    return "is not a field here; remove it"


def _pointer(path: Sequence[int | str]) -> str:
    """RFC 6901, cut after 256 characters: a key is the caller's and may be as long as the body."""
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
    return pointer if len(pointer) <= _MAX_POINTER else pointer[:_MAX_POINTER] + "…"


def _walk(
    location: Sequence[int | str], model: type[BaseModel] | None
) -> tuple[list[int | str], Sequence[object]]:
    """The location without the names of union members, and the types that may stand there."""
    if model is None:
        return list(location), ()
    path: list[int | str] = []
    types: list[object] = [model]
    for part in location:
        below = [found for parent in types for found in _children(parent, part)]
        if below:
            path.append(part)
            types = below
        else:
            types = [found for found in types if getattr(found, "__name__", None) == part] or types
    return path, types


def _fields(found: object) -> Iterator[str]:
    if isinstance(found, type) and issubclass(found, BaseModel):
        for name, field in found.model_fields.items():
            yield field.alias or name


def _children(found: object, part: int | str) -> Iterator[object]:
    if isinstance(found, type) and issubclass(found, BaseModel):
        for name, field in found.model_fields.items():
            if part in {name, field.alias}:
                yield from _members(field.annotation)
        return
    arguments = get_args(found)
    if isinstance(part, int):
        for argument in arguments:
            yield from _members(argument)
    elif get_origin(found) in {dict, Mapping} and part != "[key]":
        yield from _members(arguments[1])


def _members(annotation: object) -> Iterator[object]:
    """The types a value may have: unions and annotations opened."""
    origin = get_origin(annotation)
    aliased = getattr(annotation, "__value__", None)  # a TypeAliasType, from typing or typing_extensions
    if aliased is not None:
        yield from _members(aliased)
    elif origin is Annotated:
        yield from _members(get_args(annotation)[0])
    elif origin in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation
