"""The digest of an Arrow schema: what a column is called, what type it has, whether it may be null; nothing else.

It takes the objects of pyarrow without importing it. Metadata and the order of keys in a map are left out, so that
the same columns have the same digest whoever wrote the file.
"""

from collections.abc import Iterable
from typing import Final, Protocol, cast

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue, canonicalize

_LISTS: Final = frozenset(
    {"list", "list_view", "large_list_view", "dense_union", "sparse_union", "run_end_encoded"}
)
"""Types with children that a contract calls a list, as they begin in their text."""
_NAMED_NESTED: Final = frozenset({"struct", "map", "large_list", "fixed_size_list"})
_WIDTHS: Final = {"halffloat": "float16", "float": "float32", "double": "float64"}


class ArrowType(Protocol):
    """A pyarrow.DataType."""

    @property
    def num_fields(self) -> int: ...

    def field(self, place: int, /) -> "ArrowField": ...


class ArrowField(Protocol):
    """A pyarrow.Field."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> ArrowType: ...

    @property
    def nullable(self) -> bool: ...


class DictionaryType(ArrowType, Protocol):
    @property
    def value_type(self) -> ArrowType: ...


class MapType(ArrowType, Protocol):
    @property
    def key_field(self) -> ArrowField: ...

    @property
    def item_field(self) -> ArrowField: ...


def schema_digest(schema: Iterable[ArrowField]) -> str:
    """Digest of {"columns": […]} as RFC 8785 JSON, columns in the order of the file. Raises CanonicalizationError for a
    name that is no Unicode text."""
    columns: list[JsonValue] = [describe_field(field) for field in schema]
    return sha256_digest(canonicalize({"columns": columns}))


def describe_field(field: ArrowField) -> JsonValue:
    """{"name", "type", "nullable"} and, for nested types, "fields"."""
    plain: dict[str, JsonValue] = {
        "name": field.name,
        "type": type_name(field.type),
        "nullable": field.nullable,
    }
    if children := child_fields(field.type):
        plain["fields"] = [describe_field(child) for child in children]
    return plain


def type_name(kind: ArrowType) -> str:
    """Its text, with float32 for "float" and so on; a nested type's is its family alone: the fields say the rest."""
    text = str(kind)
    family = text.partition("<")[0]
    if family in _LISTS:
        return "list"
    return family if family in _NAMED_NESTED else _WIDTHS.get(text, text)


def child_fields(kind: ArrowType) -> tuple[ArrowField, ...]:
    """Fields of a struct; the one element of a list; key and value of a map; those of the values of a dictionary."""
    family = str(kind).partition("<")[0]
    if family == "dictionary":
        return child_fields(cast(DictionaryType, kind).value_type)
    if family == "map":
        pairs = cast(MapType, kind)
        return (pairs.key_field, pairs.item_field)
    return tuple(kind.field(place) for place in range(kind.num_fields))
