"""Every rule of a contract, by JSON pointer, listed without the compiler: tests hold the compiled suite against it."""

from collections.abc import Iterator, Mapping
from typing import Final

from gates.contracts.document import ContractDocument
from gates.contracts.odcs_members import OBJECT, PROPERTY, QUALITY, SLA, asks_nothing
from gates.documents.pointers import Json, as_list, as_mapping, child

_WHEN_TRUE: Final = ("required", "unique", "primaryKey", "partitioned")
_WHEN_SET: Final = ("logicalType", "physicalType", "enum")


def rules_of(document: ContractDocument) -> list[str]:
    """The pointers of all rules, in the order of the document.

    A rule is what the data, or its provider, can break: quality entries and relationships at every level,
    required, unique, primaryKey with its position, types, each logical type option, enum, partitioning, each
    agreement of slaProperties, each expectation of a GX suite, and each member that the standard doesn't have.
    """
    value = document.value
    if document.format == "gx":
        return [child("/expectations", index) for index in range(len(as_list(value.get("expectations"))))]
    rules: list[str] = []
    for index, each in enumerate(as_list(value.get("schema"))):
        rules.extend(_object_rules(as_mapping(each), child("/schema", index)))
    for index, each in enumerate(as_list(value.get("slaProperties"))):
        place = child("/slaProperties", index)
        rules.extend([place, *_unknown(as_mapping(each), place, SLA)])
    return rules


def _object_rules(members: Mapping[str, Json], place: str) -> Iterator[str]:
    for index, each in enumerate(as_list(members.get("properties"))):
        yield from _property_rules(as_mapping(each), child(place, "properties", index))
    yield from _entries(members, place)
    yield from _unknown(members, place, OBJECT)


def _property_rules(members: Mapping[str, Json], place: str) -> Iterator[str]:
    yield from (child(place, name) for name in _WHEN_TRUE if members.get(name) is True)
    yield from (child(place, name) for name in _WHEN_SET if members.get(name) not in (None, ""))
    for flag, position in (("primaryKey", "primaryKeyPosition"), ("partitioned", "partitionKeyPosition")):
        if members.get(flag) is True and members.get(position) is not None:
            yield child(place, position)
    if members.get("semanticType") == "measure":
        yield child(place, "semanticType")
    for name, value in as_mapping(members.get("logicalTypeOptions")).items():
        if value is not None:
            yield child(place, "logicalTypeOptions", name)
    yield from _entries(members, place)
    yield from _unknown(members, place, PROPERTY)
    for index, each in enumerate(as_list(members.get("properties"))):
        yield from _property_rules(as_mapping(each), child(place, "properties", index))
    if isinstance(members.get("items"), dict):
        yield from _property_rules(as_mapping(members["items"]), child(place, "items"))
    for side, inner in as_mapping(members.get("map")).items():
        if isinstance(inner, dict):
            yield from _property_rules(inner, child(place, "map", side))


def _entries(members: Mapping[str, Json], place: str) -> Iterator[str]:
    for index, each in enumerate(as_list(members.get("quality"))):
        entry = child(place, "quality", index)
        yield entry
        yield from _unknown(as_mapping(each), entry, QUALITY)
    for index in range(len(as_list(members.get("relationships")))):
        yield child(place, "relationships", index)


def _unknown(members: Mapping[str, Json], place: str, known: frozenset[str]) -> Iterator[str]:
    return (child(place, n) for n, value in members.items() if n not in known and not asks_nothing(n, value))
