"""What a person is told about a document that has not the shape of a definition."""

import difflib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gates.documents.pointers import child
from gates.documents.problems import Problem
from gates.documents.source import Source, line_of
from gates.slo.document import SloPart

_MISSING: Final[Mapping[str, str]] = {
    "onMissing": (
        "is missing: say what a window counts as when nothing proves that its source lives: breach, unknown or exclude "
        "(there is no default)"
    ),
    "labels": "is missing: a promise needs an owner; write labels: {team: risk-data}",
    "indicator": (
        "is missing; write indicator: {spec: {ratioMetric: {rawType: success, raw: {metricSource: {type: "
        "training-windows, spec: …}}}}}"
    ),
    "ratioMetric": "is missing; write ratioMetric: {rawType: success, raw: {metricSource: …}}",
    "timeWindow": "is missing; write for example timeWindow: [{duration: 30d, isRolling: true}]",
    "timeZone": "is missing: a local time means nothing without it; write for example timeZone: America/New_York",
}
_UNKNOWN: Final[Mapping[str, str]] = {
    "/spec/alertPolicies": "alerts come from the gauges of /metrics (deploy/prometheus); remove alertPolicies",
    "/spec/indicatorRef": "can't be followed; write the indicator itself in its place",
    "/spec/indicator/spec/thresholdMetric": (
        "is no ratio; write ratioMetric: {rawType: success, raw: {metricSource: …}} with the same metricSource"
    ),
    "/spec/indicator/spec/ratioMetric/good": "windows are counted by this service; write raw, with rawType: success",
    "/spec/indicator/spec/ratioMetric/total": "windows are counted by this service; write raw, with rawType: success",
    "/spec/indicator/spec/ratioMetric/raw/metricSource/spec/labels": "stands under metadata; move it there",
    "/spec/metricSource/spec/labels": "stands under metadata; move it there",
    "/spec/objectives": "an Invariant has the target 1 and no other; remove objectives",
    "/spec/indicator": "an Invariant has its metricSource directly under spec; move it there",
}
_MESSAGES: Final[Mapping[str, str]] = {
    "missing": "is missing; write it",
    "string_type": "must be text; put it in quotes",
    "int_type": "must be a whole number, without quotes",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number, without quotes",
    "bool_type": "must be true or false, without quotes",
    "list_type": "must be a list; write it like [a, b]",
    "model_type": "must be a mapping; write its members as name: value",
    "dict_type": "must be a mapping; write its members as name: value",
    "finite_number": "must be a finite number",
    "too_short": "must not be empty; write one",
    "string_too_long": "is too long; shorten it to 1,050 characters",
}


def shape_problems(source: Source, error: ValidationError) -> list[Problem]:
    """One for each place, sorted by line."""
    found = set()
    for each in error.errors(include_url=False, include_input=False):
        pointer = _pointer(each["loc"])
        found.add(Problem(line_of(source.lines, pointer), pointer, "error", _message(pointer, each)))
    return sorted(found)


def _pointer(location: tuple[int | str, ...]) -> str:
    # A wrong key of a mapping is told at the key.
    return child("", *(part for part in location if part != "[key]"))


def _message(pointer: str, error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    name = pointer.rpartition("/")[2]
    match error["type"]:
        case "missing":
            return _MISSING.get(name, _MESSAGES["missing"])
        case "extra_forbidden":
            return _UNKNOWN.get(
                pointer, f"is no member of a definition here; remove it, or correct its name{_like(name)}"
            )
        case "literal_error":
            return f"must be {context.get('expected')}"
        case "model_type" | "model_attributes_type" if "/exclusions/" in pointer:
            return (
                "must say id, from, to and reason; what is over already is taken out by an approver, with POST "
                "/v1/slos/{name}/exclusions"
            )
        case "string_pattern_mismatch":
            return _pattern_message(str(context.get("pattern")))
        case "too_long":
            return f"has too many entries; {context.get('max_length')} is the most"
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            return error["msg"].replace("Input should be", "must be")
        case "value_error":
            return str(context.get("error"))
        case kind:
            return _MESSAGES.get(kind, f"{error['msg'].lower()}; docs/slo.md shows how to write it")


def _pattern_message(pattern: str) -> str:
    if "{0,61}" in pattern:
        return (
            "must be a name of at most 63 lower-case letters, digits and -, such as data-by-cutoff (RFC 1123)"
        )
    return "must be one line of letters, digits and . _ : @ / -, and start with a letter or digit"


def _like(name: str) -> str:
    near = difflib.get_close_matches(name, _members(), n=1, cutoff=0.65)
    return f" (did you mean {near[0]}?)" if near and near[0] != name else ""


@lru_cache(maxsize=1)
def _members() -> list[str]:
    """The names of all members of a definition."""
    names: set[str] = set()
    for part in SloPart.__subclasses__():
        names.update(field.alias or name for name, field in part.model_fields.items())
    return sorted(names)
