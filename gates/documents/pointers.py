"""JSON pointers (RFC 6901) into a document, and the few shapes its values may have."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value as the readers of this package build it."""


def child(pointer: str, *parts: str | int) -> str:
    """The pointer to a member: child("/schema", 0, "name") is "/schema/0/name"."""
    tokens = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "".join([pointer, *(f"/{token}" for token in tokens)])


def parent(pointer: str) -> str:
    """The pointer to what holds the value; the whole document ("") holds itself."""
    return pointer.rpartition("/")[0]


def resolve(document: Json, pointer: str) -> Json:
    """The value a pointer names; KeyError when the document has none there."""
    value = document
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise KeyError(pointer)
    return value


def as_mapping(value: Json) -> Mapping[str, Json]:
    """The members, or none when the value is something else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> Sequence[Json]:
    """The items, or none when the value is something else."""
    return value if isinstance(value, list) else ()


def as_text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


def as_number(value: Json) -> int | float | None:
    """A number; true and false are none."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def as_integer(value: Json) -> int | None:
    """A whole number, also when written 3.0."""
    number = as_number(value)
    if isinstance(number, float):
        return int(number) if number.is_integer() else None
    return number
