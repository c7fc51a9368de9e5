"""The schema of an ODCS object: names, types and nullability that the data's Arrow schema is compared with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gates.contracts.drafting import Draft
from gates.contracts.odcs_types import LOGICAL, arrow_types, database_types, format_types
from gates.contracts.suite import Column
from gates.documents.pointers import Json, as_list, as_mapping, as_text, child


@dataclass(slots=True)
class SchemaDraft:
    """Columns and the rules that comparing them with the data's schema checks."""

    draft: Draft
    columns: list[Column] = field(default_factory=list)
    covers: list[str] = field(default_factory=list)

    def add(self, members: Mapping[str, Json], pointer: str) -> None:
        self.columns.append(self._column(members, pointer, data_name(members)))

    def _column(self, members: Mapping[str, Json], pointer: str, name: str) -> Column:
        types = self._types(members, pointer)
        return Column(name, types, members.get("required") is not True, tuple(self._fields(members, pointer)))

    def _fields(self, members: Mapping[str, Json], pointer: str) -> list[Column]:
        fields = []
        for index, each in enumerate(as_list(members.get("properties"))):
            inner = as_mapping(each)
            if inner.get("semanticType") == "measure":
                continue
            fields.append(self._column(inner, child(pointer, "properties", index), data_name(inner)))
        if isinstance(members.get("items"), dict):
            fields.append(self._column(as_mapping(members["items"]), child(pointer, "items"), "element"))
        pair = as_mapping(members.get("map"))
        for side in ("key", "value"):
            if isinstance(pair.get(side), dict):
                fields.append(self._column(as_mapping(pair[side]), child(pointer, "map", side), side))
        return fields

    def _types(self, members: Mapping[str, Json], pointer: str) -> tuple[str, ...]:
        types = self._logical(members, pointer)
        types = self._physical(members, pointer, types)
        options = as_mapping(members.get("logicalTypeOptions"))
        place = child(pointer, "logicalTypeOptions")
        logical = members.get("logicalType")
        if logical in ("integer", "number") and options.get("format") is not None:
            narrowed = format_types(str(options["format"]))
            types = self._narrowed(types, narrowed, child(place, "format"), str(options["format"]))
        zone = options.get("timezone")
        if logical == "timestamp" and zone is not None and not isinstance(zone, bool):
            self.draft.refuse(child(place, "timezone"), "must be true or false, without quotes")
        elif logical == "timestamp" and zone is not None:
            zoned = ("timestamp_tz",) if zone else ("timestamp",)
            words = "with a time zone" if zone else "without a time zone"
            types = self._narrowed(types, zoned, child(place, "timezone"), words)
        return types

    def _logical(self, members: Mapping[str, Json], pointer: str) -> tuple[str, ...]:
        logical = members.get("logicalType")
        if logical is None:
            return ()
        place = child(pointer, "logicalType")
        types = LOGICAL.get(str(logical))
        if types is None:
            self.draft.refuse(
                place, f"{str(logical)[:60]!r} is no logical type; write one of {', '.join(LOGICAL)}"
            )
            return ()
        self.covers.append(place)
        return types

    def _physical(self, members: Mapping[str, Json], pointer: str, types: tuple[str, ...]) -> tuple[str, ...]:
        physical = as_text(members.get("physicalType"))
        if physical is None:
            return types
        place = child(pointer, "physicalType")
        if exact := arrow_types(physical):
            self.covers.append(place)
            if types and not set(types) & set(exact):
                self.draft.notes.problem(
                    place,
                    f"{physical!r} and logicalType {members.get('logicalType')!r} exclude each other; mend one",
                )
                return exact
            return tuple(name for name in exact if not types or name in types)
        family = database_types(physical)
        if family is not None and not types:
            self.covers.append(place)
            return family
        if family is not None and not set(family) & set(types):
            self.draft.notes.problem(
                place,
                f"{physical!r} and logicalType {members.get('logicalType')!r} disagree: data of either is accepted; "
                "mend one",
                "warning",
            )
            self.covers.append(place)
            return (*types, *family)
        if family is None:
            reason = (
                f"{physical!r} is a type of a database that is not known; files are compared by logicalType"
            )
        else:
            reason = f"{physical!r} is a type of a database; files are compared by logicalType"
        self.draft.leave(place, reason, blocking=False)
        return types

    def _narrowed(
        self, types: tuple[str, ...], wanted: tuple[str, ...] | None, place: str, words: str
    ) -> tuple[str, ...]:
        if wanted is None:
            self.draft.refuse(
                place, f"{words!r} is no numeric format; write i8 to i128, u8 to u128, f32 or f64"
            )
            return types
        narrowed = tuple(name for name in types or wanted if name in wanted)
        if not narrowed:
            message = f"{words!r} and the column's types exclude each other; mend the format or the type"
            self.draft.refuse(place, message)
            return types
        self.covers.append(place)
        return narrowed


def data_name(members: Mapping[str, Json]) -> str:
    """The column's name in the data: the physical name when there is one."""
    return as_text(members.get("physicalName")) or as_text(members.get("name")) or ""
