"""Quality rules of ODCS: library metrics, SQL, custom engines and text.

Source: docs/data-quality.md of the standard (bitol-io/open-data-contract-standard, v3.1.0). `mustBeBetween` "is
the equivalent to mustBeGreaterThan and mustBeLessThan": both ends are excluded. `duplicateValues` "counts
duplicate values in a column", and at schema level "checks for duplicate rows based on a combination of
properties", in the unit rows: here it counts the values (or combinations) that repeat another one, so that two
equal rows hold one duplicate. The standard leaves open whether the first occurrence counts too (Soda counts the
distinct values that recur, others every row of a group); all of them are 0 exactly when the column is unique. A
null, or a combination that holds one, repeats nothing.
"""

import re
from collections.abc import Mapping
from typing import Final

from gates.contracts.drafting import Draft
from gates.contracts.expecting import Expected, compile_expectation, quoted
from gates.contracts.kwargs import holds_beyond_json, regex, scalars, texts
from gates.contracts.odcs_members import QUALITY, refuse_unknown
from gates.contracts.odcs_thresholds import thresholds
from gates.contracts.own_expectations import OWN
from gates.contracts.suite import About, Severity
from gates.documents.pointers import Json, as_list, as_mapping, as_text, child
from gates.documents.problems import DocumentError
from gates.documents.yaml_reading import read_yaml

_COLUMN_METRICS: Final = ("nullValues", "missingValues", "invalidValues", "duplicateValues")
_OBJECT_METRICS: Final = ("duplicateValues", "rowCount")
_METRICS: Final = ("nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount")
_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "missingValues": ("missingValues",),
    "invalidValues": ("validValues", "pattern"),
}
_SEVERITIES: Final[Mapping[str, Severity]] = {
    "error": "error",
    "critical": "error",
    "warning": "warning",
    "warn": "warning",
    "info": "info",
}
_PLACEHOLDER: Final = re.compile(r"\$?\{(object|table|property|column)\}")


def severity_of(draft: Draft, members: Mapping[str, Json], pointer: str) -> Severity:
    """error, warning or info; a rule without one blocks. An unknown word is a problem, and blocks."""
    written = members.get("severity")
    if written is None:
        return "error"
    severity = _SEVERITIES.get(str(written).lower())
    if severity is None:
        message = f"{str(written)[:60]!r} is no severity; write error, warning or info (until then it blocks)"
        draft.notes.problem(child(pointer, "severity"), message)
        return "error"
    return severity


def compile_quality(draft: Draft, members: Mapping[str, Json], pointer: str, column: str | None) -> None:
    """All quality rules of an object (column None) or of one of its top-level properties."""
    for index, each in enumerate(as_list(members.get("quality"))):
        place = child(pointer, "quality", index)
        rule = as_mapping(each)
        about = About(
            severity_of(draft, rule, place),
            as_text(rule.get("dimension")),
            as_text(rule.get("description")) or as_text(rule.get("name")),
            as_text(rule.get("id")),
        )
        refuse_unknown(draft, rule, place, QUALITY)
        _compile_rule(draft, rule, place, column, about)


def _compile_rule(
    draft: Draft, rule: Mapping[str, Json], place: str, column: str | None, about: About
) -> None:
    match rule.get("type") or "library":
        case "text":
            blocking = about.blocking and rule.get("severity") is not None
            draft.leave(place, "a text rule is for people", blocking=blocking)
        case "library":
            _library(draft, rule, place, column, about)
        case "sql":
            _sql(draft, rule, place, column, about)
        case "custom":
            _custom(draft, rule, place, column, about)
        case other:
            at = child(place, "type")
            message = f"{str(other)[:60]!r} is no type of rule; write library, sql, custom or text"
            draft.refuse(place, message, about, at=at)


def _library(draft: Draft, rule: Mapping[str, Json], place: str, column: str | None, about: About) -> None:
    metric = as_text(rule.get("metric")) or as_text(rule.get("rule"))
    unit = rule.get("unit") or "rows"
    if metric not in _METRICS:
        at = child(place, "metric") if "metric" in rule else place
        found = f"{metric[:60]!r} is no metric" if metric else "names no metric"
        draft.refuse(place, f"{found}; write one of {', '.join(_METRICS)}", about, at=at)
        return
    if metric not in (_OBJECT_METRICS if column is None else _COLUMN_METRICS):
        where = "a property" if column is None else "the object"
        message = f"{metric} is measured of {where}; move the rule there"
        draft.refuse(place, message, about, at=child(place, "metric"))
        return
    if unit not in ("rows", "percent") or (unit == "percent" and metric == "rowCount"):
        message = f"{metric} can't be counted in {str(unit)[:60]!r}; write rows" + (
            "" if metric == "rowCount" else " or percent"
        )
        draft.refuse(place, message, about, at=child(place, "unit"))
        return
    arguments = _set_arguments(rule)
    columns: list[Json] | None = None
    if metric == "duplicateValues" and column is None:
        columns = _columns(draft, arguments.pop("properties", None), place, about)
        if columns is None:
            return
    if fault := _argument_fault(metric, arguments):
        draft.refuse(place, fault, about, at=child(place, "arguments") if "arguments" in rule else place)
        return
    name = f"{metric}:{column or ','.join(map(str, columns or ()))}".rstrip(":")
    for operator, value in thresholds(draft, rule, place, about, whole=unit == "rows", numeric=True):
        kwargs: dict[str, Json] = {
            "metric": metric,
            "column": column,
            "columns": columns,
            "arguments": arguments,
            "operator": operator,
            "value": value,
            "unit": unit,
        }
        draft.check(name, "expect_library_metric", kwargs, [place], about)


def _set_arguments(rule: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in as_mapping(rule.get("arguments")).items() if value is not None}


def _columns(draft: Draft, value: Json, place: str, about: About) -> list[Json] | None:
    at = child(place, "arguments", "properties")
    if fault := texts(value):
        draft.refuse(place, f"duplicateValues of an object needs arguments.properties, which {fault}", about)
        return None
    named = [str(each) for each in as_list(value)]
    if len(set(named)) < len(named):
        draft.refuse(place, "arguments.properties names a property twice; remove one", about, at=at)
        return None
    return [draft.column(name, child(at, index)) for index, name in enumerate(named)]


def _argument_fault(metric: str, arguments: Mapping[str, Json]) -> str | None:
    wanted = _ARGUMENTS.get(metric, ())
    unknown = sorted(arguments.keys() - set(wanted))
    if unknown:
        hint = f"it takes {' and '.join(wanted)}" if wanted else "it takes none"
        return f"{metric} has no argument `{unknown[0][:60]}`; {hint}"
    if wanted and not arguments:
        return f"{metric} needs arguments.{' or arguments.'.join(wanted)}"
    for name, value in arguments.items():
        fault = regex(value) if name == "pattern" else scalars(value)
        if fault is not None:
            return f"arguments.{name}: {fault}"
        if holds_beyond_json(value):
            return f"arguments.{name} holds an integer beyond ±(2^53-1); write it as text, or write a range"
    return None


def _sql(draft: Draft, rule: Mapping[str, Json], place: str, column: str | None, about: About) -> None:
    query = as_text(rule.get("query"))
    if query is None or not query.strip():
        draft.refuse(place, "an SQL rule needs a `query`", about)
        return
    names = {"object": draft.name, "table": draft.name, "property": column, "column": column}
    if column is None and any(found[1] in ("property", "column") for found in _PLACEHOLDER.finditer(query)):
        message = "the query names {property}, and the rule stands at the object; move it to the property"
        draft.refuse(place, message, about, at=child(place, "query"))
        return
    filled = _PLACEHOLDER.sub(lambda found: quoted(names[found[1]] or ""), query)
    for operator, value in thresholds(draft, rule, place, about, whole=False, numeric=False):
        # A truth value that a query gives is counted as 0 or 1.
        compared = int(value) if isinstance(value, bool) else value
        kwargs: dict[str, Json] = {"query": filled, "operator": operator, "value": compared}
        draft.check(f"sql:{column or draft.name}", "expect_sql_result", kwargs, [place], about)


def _custom(draft: Draft, rule: Mapping[str, Json], place: str, column: str | None, about: About) -> None:
    engine = as_text(rule.get("engine")) or ""
    at = child(place, "implementation")
    kind = re.sub(r"[^a-z]", "", engine.lower())
    if kind not in ("greatexpectations", "gx", "shipworthy"):
        reason = f"the engine {engine[:60]!r} is not run; write the rule as a library metric or for greatExpectations"
        if not engine:
            reason = "a custom rule needs an `engine`: shipworthy or greatExpectations"
            draft.notes.problem(place, reason)
        draft.leave(place, reason, blocking=about.blocking)
        return
    implementation = _implementation(rule.get("implementation"))
    if isinstance(implementation, str):
        draft.refuse(place, implementation, about, at=at)
        return
    if kind == "shipworthy":
        kwargs = {name: value for name, value in implementation.items() if name != "expectation"}
        named, kwargs_at = as_text(implementation.get("expectation")), at
        if named is not None and named not in OWN:
            message = f"{named[:100]!r} is none of Shipworthy's expectations: {', '.join(OWN)}"
            draft.refuse(place, message, about, at=child(at, "expectation"))
            return
    else:
        named = as_text(implementation.get("type")) or as_text(implementation.get("expectation_type"))
        kwargs, kwargs_at = dict(as_mapping(implementation.get("kwargs"))), child(at, "kwargs")
        for name in implementation.keys() - {
            "type",
            "expectation_type",
            "kwargs",
            "meta",
            "id",
            "description",
        }:
            draft.notes.problem(
                child(at, name), f"`{name[:60]}` is not used; put arguments into kwargs", "warning"
            )
    if named is None:
        wanted = "`expectation`" if kind == "shipworthy" else "`type`"
        draft.refuse(place, f"the implementation needs {wanted}, such as expect_…", about, at=at)
        return
    compile_expectation(draft, Expected(place, kwargs_at, named, kwargs, about, column))


def _implementation(value: Json) -> Mapping[str, Json] | str:
    """The mapping, also when it is written as a text of YAML or JSON; else what is wrong with it."""
    if isinstance(value, str):
        try:
            value = read_yaml(value.encode()).value
        except DocumentError as error:
            return f"implementation: {error.problems[0].message}"
    return (
        value
        if isinstance(value, dict)
        else "implementation must be a mapping, or a text of YAML that is one"
    )
