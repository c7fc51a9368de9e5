"""Rules of ODCS that no check of values can reach: inside of a column, of a measure, or about layout and relations."""

from collections.abc import Mapping
from typing import Final

from gates.contracts.drafting import Draft
from gates.contracts.odcs_members import PROPERTY, QUALITY, refuse_unknown
from gates.contracts.odcs_quality import severity_of
from gates.documents.pointers import Json, as_list, as_mapping, child

_RELATION: Final = "a relationship needs the other table too; a check is bound to the bytes of one"
_PARTITION: Final = "partitioning says how files are laid out; the columns themselves are checked"
_MEASURE: Final = "a measure is computed; the data has no such column"
_INSIDE: Final = (
    "is inside of a column; there only names, types and nullability are compared with the data's schema"
)
_TYPED: Final = (("format", "integer"), ("format", "number"), ("timezone", "timestamp"))
"""Options that narrow the type, and so are compared with the data's schema."""


def leave_inside(draft: Draft, members: Mapping[str, Json], place: str, *, absent: bool = False) -> None:
    """Lists every rule of a property inside of a column. `absent`: it belongs to a measure, which the data doesn't
    have; then not even its types are compared, and nothing blocks."""
    absent = absent or members.get("semanticType") == "measure"
    reason = _MEASURE if absent else _INSIDE
    blocks = not absent
    for name in ("required", "unique", "primaryKey"):
        if members.get(name) is True:
            draft.leave(child(place, name), reason, blocking=blocks)
    if members.get("primaryKey") is True and members.get("primaryKeyPosition") is not None:
        draft.leave(child(place, "primaryKeyPosition"), reason, blocking=False)
    if members.get("enum") is not None:
        draft.leave(child(place, "enum"), reason, blocking=blocks)
    for name, value in as_mapping(members.get("logicalTypeOptions")).items():
        if value is not None and (absent or (name, members.get("logicalType")) not in _TYPED):
            draft.leave(child(place, "logicalTypeOptions", name), reason, blocking=blocks)
    for index, each in enumerate(as_list(members.get("quality"))):
        rule, at = as_mapping(each), child(place, "quality", index)
        serious = severity_of(draft, rule, at) == "error" and rule.get("type") != "text"
        draft.leave(at, reason, blocking=blocks and serious)
        refuse_unknown(draft, rule, at, QUALITY)
    if members.get("semanticType") == "measure":
        draft.leave(child(place, "semanticType"), _MEASURE, blocking=False)
    for name in ("logicalType", "physicalType") if absent else ():
        if members.get(name) is not None:
            draft.leave(child(place, name), reason, blocking=False)
    leave_layout(draft, members, place)
    refuse_unknown(draft, members, place, PROPERTY)
    for inner, at in inner_properties(members, place):
        leave_inside(draft, inner, at, absent=absent)


def leave_layout(draft: Draft, members: Mapping[str, Json], place: str) -> None:
    """Partitioning and relationships of an object or a property."""
    if members.get("partitioned") is True:
        draft.leave(child(place, "partitioned"), _PARTITION, blocking=False)
        if members.get("partitionKeyPosition") is not None:
            draft.leave(child(place, "partitionKeyPosition"), _PARTITION, blocking=False)
    for index in range(len(as_list(members.get("relationships")))):
        draft.leave(child(place, "relationships", index), _RELATION, blocking=False)


def inner_properties(members: Mapping[str, Json], place: str) -> list[tuple[Mapping[str, Json], str]]:
    """Fields of a struct, the items of a list, key and value of a map, each with its pointer."""
    inner = [
        (as_mapping(p), child(place, "properties", n))
        for n, p in enumerate(as_list(members.get("properties")))
    ]
    if isinstance(members.get("items"), dict):
        inner.append((as_mapping(members["items"]), child(place, "items")))
    pair = as_mapping(members.get("map"))
    sides = [(as_mapping(pair[side]), child(place, "map", side)) for side in ("key", "value") if side in pair]
    return inner + sides
