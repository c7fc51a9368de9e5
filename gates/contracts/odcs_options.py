"""logicalTypeOptions and enum of an ODCS property, compiled to checks of the column's values."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from gates.contracts import bounds
from gates.contracts.drafting import Draft
from gates.contracts.kwargs import count, holds_beyond_json, is_digits, is_time_zone, regex, scalars
from gates.contracts.odcs_types import INTEGERS
from gates.contracts.suite import About
from gates.documents.pointers import Json, as_list, as_mapping, as_number, as_text, child

_CONFORMITY: Final = About(dimension="conformity")
_LOW: Final = ("minimum", "exclusiveMinimum")
_HIGH: Final = ("maximum", "exclusiveMaximum")
_FORMATS: Final[Mapping[str, str]] = {
    "uuid": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    "ipv4": r"^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$",
}
"""RFC 9562 section 4; RFC 6943 section 3.1.1, strict."""

_OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "date": frozenset({*_LOW, *_HIGH, "format"}),
    "timestamp": frozenset({*_LOW, *_HIGH, "format", "timezone", "defaultTimezone"}),
    "time": frozenset({*_LOW, *_HIGH, "format", "timezone", "defaultTimezone"}),
    "number": frozenset({*_LOW, *_HIGH, "format", "multipleOf"}),
    "integer": frozenset({*_LOW, *_HIGH, "format", "multipleOf"}),
    "object": frozenset({"maxProperties", "minProperties", "required"}),
    "array": frozenset({"maxItems", "minItems", "uniqueItems"}),
    "vector": frozenset(
        {
            "dimensions",
            "elementType",
            "distanceMetric",
            "embeddingModel",
            "embeddingModelVersion",
            "normalized",
        }
    ),
}
"""The options that ODCS v3.2 has for each logical type."""


def compile_options(
    draft: Draft, members: Mapping[str, Json], pointer: str, column: str, types: tuple[str, ...]
) -> None:
    """Checks for the options of one top-level column; `types` are those its schema allows."""
    options = {k: v for k, v in as_mapping(members.get("logicalTypeOptions")).items() if v is not None}
    place = child(pointer, "logicalTypeOptions")
    logical = str(members.get("logicalType"))
    known = _OPTIONS.get(logical, frozenset())
    for name in options.keys() - known:
        hint = f"it has {', '.join(sorted(known))}" if known else "set logicalType to one that has it"
        draft.refuse(child(place, name), f"`{name[:60]}` is no option of logicalType {logical}; {hint}")
    usable = {name: value for name, value in options.items() if name in known}
    if logical == "string":
        _text(draft, usable, place, column)
    elif logical in ("number", "integer"):
        _number(draft, usable, place, column, whole=bool(types) and set(types) <= set(INTEGERS))
    elif logical in ("date", "timestamp"):
        _instant(draft, usable, place, column, logical)
    _leave_others(draft, usable, place, logical)


def compile_enum(draft: Draft, members: Mapping[str, Json], pointer: str, column: str) -> None:
    if members.get("enum") is None:
        return
    place = child(pointer, "enum")
    values = [as_mapping(each).get("value") for each in as_list(members["enum"])]
    if (fault := scalars(values)) or holds_beyond_json(values) or None in values:
        draft.refuse(place, f"enum {fault or 'has a value that is missing or beyond ±(2^53-1)'}")
        return
    kwargs: dict[str, Json] = {"column": column, "value_set": values}
    draft.check(f"enum:{column}", "expect_column_values_to_be_in_set", kwargs, [place], _CONFORMITY)


def _text(draft: Draft, options: Mapping[str, Json], place: str, column: str) -> None:
    lengths = [name for name in ("minLength", "maxLength") if name in options]
    faults = {name: fault for name in lengths if (fault := count(options[name]))}
    low, high = options.get("minLength"), options.get("maxLength")
    if not faults and (fault := bounds.order_fault(low, high, strict_low=False, strict_high=False)):
        faults = dict.fromkeys(lengths, fault)
    for name, fault in faults.items():
        draft.refuse(child(place, name), f"`{name}` {fault}")
    if lengths and not faults:
        kwargs: dict[str, Json] = {"column": column, "min_value": low, "max_value": high}
        given = {name: value for name, value in kwargs.items() if value is not None}
        rules = [child(place, name) for name in lengths]
        draft.check(
            f"length:{column}", "expect_column_value_lengths_to_be_between", given, rules, _CONFORMITY
        )
    if "pattern" in options:
        _match(draft, options["pattern"], child(place, "pattern"), f"pattern:{column}", column)
    if as_text(options.get("format")) in _FORMATS:
        pattern = _FORMATS[str(options["format"])]
        _match(draft, pattern, child(place, "format"), f"format:{column}", column)


def _match(draft: Draft, pattern: Json, rule: str, name: str, column: str) -> None:
    if fault := regex(pattern):
        draft.refuse(rule, f"pattern: {fault}")
        return
    kwargs: dict[str, Json] = {"column": column, "regex": pattern}
    draft.check(name, "expect_column_values_to_match_regex", kwargs, [rule], _CONFORMITY)


def _number(draft: Draft, options: Mapping[str, Json], place: str, column: str, *, whole: bool) -> None:
    def read(value: Json) -> tuple[Json, str | None]:
        good = as_number(value) is not None or is_digits(value)
        return bounds.exact(value), None if good else "must be a number"

    kwargs, rules = _combined(draft, options, place, read, whole=whole)
    if not rules:
        return
    kwargs["column"] = column
    if whole or bounds.wants_int64(kwargs):
        exact = bounds.int64_kwargs(column, kwargs)
        draft.check(f"between:{column}", "expect_int64_values_to_be_between", exact, rules, _CONFORMITY)
    else:
        draft.check(f"between:{column}", "expect_column_values_to_be_between", kwargs, rules, _CONFORMITY)


def _instant(draft: Draft, options: Mapping[str, Json], place: str, column: str, logical: str) -> None:
    zoned, zone = options.get("timezone"), options.get("defaultTimezone")

    def read(value: Json) -> tuple[Json, str | None]:
        text = as_text(value) or ""
        try:
            if logical == "date":
                return date.fromisoformat(text).isoformat(), None
            moment = datetime.fromisoformat(text)
            if len(text) == len("2026-01-31"):
                # A bare day bounds by all of it, as the engine reads it; with a zone it would begin anywhere.
                fault = "is a day alone, and the column has a time zone; write an instant with its offset"
                return moment.date().isoformat(), fault if zoned is True else None
        except ValueError:
            wanted = "2026-01-31" if logical == "date" else "2026-01-31T12:00:00"
            return None, f"must be a quoted ISO 8601 {logical} such as {wanted}"
        if zoned is False and moment.tzinfo is not None:
            return (
                None,
                "has an offset, and the column has no time zone (timezone: false); leave the offset out",
            )
        if zoned is True and moment.tzinfo is None:
            moment = moment.replace(tzinfo=ZoneInfo(str(zone) if is_time_zone(zone) else "UTC"))
        return (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat(), None

    kwargs, rules = _combined(draft, options, place, read, whole=False)
    if rules:
        kwargs["column"] = column
        draft.check(f"between:{column}", "expect_column_values_to_be_between", kwargs, rules, _CONFORMITY)


def _combined(
    draft: Draft,
    options: Mapping[str, Json],
    place: str,
    read: Callable[[Json], tuple[Json, str | None]],
    *,
    whole: bool,
) -> tuple[dict[str, Json], list[str]]:
    """The tighter of minimum and exclusiveMinimum, and of their counterparts; the rules that this covers."""
    ends: dict[str, Json] = {}
    rules: list[str] = []
    for names, value_name, strict_name, tightest in (
        (_LOW, "min_value", "strict_min", max),
        (_HIGH, "max_value", "strict_max", min),
    ):
        found: list[tuple[Json, bool]] = []
        for name in names:
            if name not in options:
                continue
            value, fault = read(options[name])
            if fault is not None:
                draft.refuse(child(place, name), f"`{name}` {fault}")
                continue
            found.append((value, name.startswith("exclusive")))
            rules.append(child(place, name))
        if found:
            value = tightest((each for each, _ in found), key=_sortable)
            ends[value_name] = value
            # Of two equal bounds the one that excludes its own value is the tighter.
            ends[strict_name] = any(strict for each, strict in found if each == value)
    fault = bounds.order_fault(
        ends.get("min_value"),
        ends.get("max_value"),
        strict_low=ends.get("strict_min") is True,
        strict_high=ends.get("strict_max") is True,
        whole=whole,
    )
    if fault is not None:
        for rule in rules:
            draft.refuse(rule, fault)
        return {}, []
    return ends, rules


def _sortable(value: Json) -> tuple[int | float, str]:
    number = as_number(value)
    return (0, str(value)) if number is None else (number, "")


def _leave_others(draft: Draft, options: Mapping[str, Json], place: str, logical: str) -> None:
    for name, value in options.items():
        rule = child(place, name)
        if logical == "time" and name in (*_LOW, *_HIGH):
            draft.leave(
                rule, "bounds on a time of day are not checked; write them as an SQL rule", blocking=True
            )
        elif name == "format" and logical == "string" and as_text(value) not in _FORMATS:
            reason = (
                "says what a text means and is checked for uuid and ipv4 only; write a pattern to check more"
            )
            draft.leave(rule, reason, blocking=False)
        elif name == "format" and logical in ("date", "timestamp", "time"):
            reason = "tells how text is written; the column is checked to have a date or time type instead"
            draft.leave(rule, reason, blocking=False)
        elif name == "timezone" and logical == "time":
            draft.leave(rule, "Arrow's times of day have no time zone", blocking=False)
        elif name == "defaultTimezone" and not is_time_zone(value):
            draft.refuse(rule, "must be an IANA time zone such as Europe/Berlin, or Etc/UTC")
        elif name == "defaultTimezone":
            draft.leave(
                rule,
                "tells how bounds and ages without an offset are read; it checks nothing",
                blocking=False,
            )
        elif name == "multipleOf":
            draft.leave(rule, "multiples are not checked; write the rule as an SQL rule", blocking=True)
        elif logical in ("object", "array", "vector"):
            checks = name not in ("distanceMetric", "embeddingModel", "embeddingModelVersion")
            reason = f"what is inside of a {logical} is compared by name and type only; write an SQL rule"
            draft.leave(rule, reason, blocking=checks and value is not False and value != 0)
