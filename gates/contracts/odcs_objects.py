"""One object (table) of an ODCS contract: its schema, keys, columns and quality rules."""

from collections.abc import Mapping
from typing import Final

from gates.contracts.drafting import Draft, Notes
from gates.contracts.implicit import add_schema_check
from gates.contracts.odcs_agreements import compile_agreements
from gates.contracts.odcs_columns import SchemaDraft, data_name
from gates.contracts.odcs_inside import inner_properties, leave_inside, leave_layout
from gates.contracts.odcs_members import (
    CONTRACT,
    OBJECT,
    PROPERTY,
    refuse_unknown,
    warn_of_unknown,
)
from gates.contracts.odcs_options import compile_enum, compile_options
from gates.contracts.odcs_quality import compile_quality
from gates.contracts.suite import About
from gates.documents.pointers import Json, as_integer, as_list, as_mapping, as_text, child

_COMPLETENESS: Final = About(dimension="completeness")
_UNIQUENESS: Final = About(dimension="uniqueness")


def compile_odcs(notes: Notes) -> list[Draft]:
    """The drafts of all objects; a contract without objects has one without name, for its agreements."""
    contract = notes.document.value
    warn_of_unknown(notes, contract, CONTRACT)
    objects = [as_mapping(each) for each in as_list(contract.get("schema"))]
    drafts: list[Draft] = []
    taken: set[str] = set()
    for index, members in enumerate(objects):
        name = as_text(members.get("name")) or ""
        pointer = child("/schema", index)
        if not name or name in taken:
            message = f"the object {name!r} exists twice; rename one" if name else "the object needs a name"
            notes.problem(pointer, message)
        taken.add(name)
        prefix = f"{name}/" if len(objects) > 1 else ""
        names = tuple(filter(None, [name, as_text(members.get("physicalName")), as_text(members.get("id"))]))
        drafts.append(Draft(notes, name, pointer, prefix, names=names))
    for draft, members in zip(drafts, objects, strict=True):
        _object(draft, members)
    if not drafts:
        notes.problem("/schema", "the contract has no object, so that there is nothing to check; add one")
        drafts.append(Draft(notes, "", "", ""))
    compile_agreements(notes, drafts, contract)
    return drafts


def _object(draft: Draft, members: Mapping[str, Json]) -> None:
    pointer = draft.pointer
    properties = [
        (as_mapping(each), child(pointer, "properties", index))
        for index, each in enumerate(as_list(members.get("properties")))
    ]
    # A measure is computed from columns and has none of its own.
    physical = [(each, place) for each, place in properties if each.get("semanticType") != "measure"]
    schema = SchemaDraft(draft)
    if properties:
        _name_columns(draft, physical)
        for each, place in physical:
            schema.add(each, place)
        draft.columns = schema.columns
    add_schema_check(draft, schema.covers)
    _keys(draft, physical)
    for column, (each, place) in zip(schema.columns, physical, strict=True):
        _property(draft, each, place, column.name, column.types)
    for each, place in properties:
        if each.get("semanticType") == "measure":
            leave_inside(draft, each, place, absent=True)
    refuse_unknown(draft, members, pointer, OBJECT)
    compile_quality(draft, members, pointer, None)
    leave_layout(draft, members, pointer)


def _name_columns(draft: Draft, properties: list[tuple[Mapping[str, Json], str]]) -> None:
    known: dict[str, str] = {}
    folded: dict[str, str] = {}
    for members, place in properties:
        name = data_name(members)
        same = folded.setdefault(name.casefold(), name)
        if not name:
            draft.notes.problem(place, "the property needs a name")
        elif name in known:
            draft.notes.problem(place, f"the column {name!r} is declared twice; remove one")
        elif same != name:
            message = (
                f"{name!r} and {same!r} differ in case only, which query engines take for one; rename one"
            )
            draft.notes.problem(place, message)
        known.setdefault(name, name)
        options = as_mapping(members.get("logicalTypeOptions"))
        zone = as_text(options.get("defaultTimezone")) or "UTC"
        draft.zones[name] = None if options.get("timezone") is True else zone
    # Rules may use the name of the property too; a column of that name comes first.
    for members, _ in properties:
        known.setdefault(as_text(members.get("name")) or "", data_name(members))
    draft.known, draft.folded = known, folded


def _keys(draft: Draft, properties: list[tuple[Mapping[str, Json], str]]) -> None:
    """Null checks of required and key columns, uniqueness of single columns, and one check for the primary key."""
    keys = [(members, place) for members, place in properties if members.get("primaryKey") is True]
    keys.sort(key=lambda each: _position(draft, *each))
    for members, place in properties:
        column = data_name(members)
        rules = [child(place, "required")] if members.get("required") is True else []
        rules += [child(place, "primaryKey")] if members.get("primaryKey") is True else []
        if rules:
            kwargs: dict[str, Json] = {"column": column}
            draft.check(
                f"not_null:{column}", "expect_column_values_to_not_be_null", kwargs, rules, _COMPLETENESS
            )
        alone = len(keys) == 1 and keys[0][0] is members
        if members.get("unique") is True and not alone:
            kwargs = {"column": column}
            rules = [child(place, "unique")]
            draft.check(f"unique:{column}", "expect_column_values_to_be_unique", kwargs, rules, _UNIQUENESS)
    if keys:
        rules = [child(place, "primaryKey") for _, place in keys]
        rules += [child(p, "primaryKeyPosition") for m, p in keys if m.get("primaryKeyPosition") is not None]
        rules += [child(p, "unique") for m, p in keys if len(keys) == 1 and m.get("unique") is True]
        columns: list[Json] = [data_name(members) for members, _ in keys]
        draft.check(
            "primary_key", "expect_composite_key_to_be_unique", {"columns": columns}, rules, _UNIQUENESS
        )


def _position(draft: Draft, members: Mapping[str, Json], place: str) -> int:
    """The place in the key; keys without one come last, in the order of the document."""
    position = as_integer(members.get("primaryKeyPosition"))
    if position is not None and position < 1 and position != -1:
        message = "must count from 1; the standard writes -1 for none"
        draft.notes.problem(child(place, "primaryKeyPosition"), message, "warning")
    return position if position is not None and position >= 1 else 2**31


def _property(
    draft: Draft, members: Mapping[str, Json], place: str, column: str, types: tuple[str, ...]
) -> None:
    compile_options(draft, members, place, column, types)
    compile_enum(draft, members, place, column)
    compile_quality(draft, members, place, column)
    leave_layout(draft, members, place)
    refuse_unknown(draft, members, place, PROPERTY)
    for inner, at in inner_properties(members, place):
        leave_inside(draft, inner, at)
