"""One expectation, of a GX suite or of a custom rule: checked against the allow-list, then a check or a refusal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from gates.contracts import bounds
from gates.contracts.drafting import Draft, Notes
from gates.contracts.gx_expectations import ALLOWED, IGNORED_KWARGS
from gates.contracts.kwargs import Expectation, holds_beyond_json, parameter_name
from gates.contracts.odcs_types import foreign_types
from gates.contracts.own_expectations import OWN
from gates.contracts.partitions import infinity_reason
from gates.contracts.suite import About
from gates.documents.pointers import Json, as_list, as_mapping, child

_COLUMN_KWARGS: Final = ("column", "column_A", "column_B")
_COLUMNS_KWARGS: Final = ("column_list", "columns", "column_set")
# What a parameter may not fill in: it could not be looked over before the check runs.
_FIXED_KWARGS: Final = frozenset(
    {*_COLUMN_KWARGS, *_COLUMNS_KWARGS, "regex", "regex_list", "partition_object", "unexpected_rows_query"}
    | {"quantile_ranges", "quantiles", "ranges", "type_", "type_list"}
    # A share of 0 asks for nothing: whoever asks for a check must not be able to turn it off.
    | {"mostly"}
)


@dataclass(frozen=True, slots=True)
class Expected:
    """An expectation at its place. `kwargs_at` points to its kwargs; `column` is that of the property it stands
    under, used when a type needs a column and none is given."""

    rule: str
    kwargs_at: str
    type: str
    kwargs: Mapping[str, Json]
    about: About
    column: str | None = None


_Replacement: TypeAlias = Callable[[Draft, Expected, Mapping[str, Json]], None]


def compile_expectation(draft: Draft, expected: Expected) -> None:
    """Adds the check of an expectation, or the reason why there is none."""
    specification = OWN.get(expected.type) or ALLOWED.get(expected.type)
    if specification is None:
        near = draft.notes.nearest(expected.type, [*OWN, *ALLOWED])
        hint = f"; did you mean {near}?" if near else "; docs/contracts.md lists those that are"
        draft.refuse(
            expected.rule, f"{expected.type[:100]!r} is no expectation that is run{hint}", expected.about
        )
        return
    if specification.refused is not None:
        message = f"{expected.type} is not run: {specification.refused}"
        draft.refuse(expected.rule, message, expected.about)
        return
    kwargs = _given(draft, expected, specification)
    if fault := _fault(draft.notes, specification, expected, kwargs):
        name, message = fault
        at = child(expected.kwargs_at, name) if name in expected.kwargs else None
        draft.refuse(expected.rule, f"{name or expected.type}: {message}", expected.about, at=at)
        return
    if specification.baseline and draft.notes.baseline is None:
        draft.notes.problem(
            expected.rule,
            f"{expected.type} compares with a baseline, and the contract pins none; set `shipworthy.baseline` to "
            "the digest of a published baseline, or name one with each check",
            "warning",
        )
    for name in (*_COLUMN_KWARGS, *_COLUMNS_KWARGS):
        if name in kwargs:
            kwargs[name] = _named_columns(draft, kwargs[name], child(expected.kwargs_at, name))
    _REPLACED.get(expected.type, _as_it_is)(draft, expected, kwargs)


def _given(draft: Draft, expected: Expected, specification: Expectation) -> dict[str, Json]:
    """The kwargs that are set: null is the same as absent; those about results are told and left out."""
    given: dict[str, Json] = {name: value for name, value in expected.kwargs.items() if value is not None}
    for name in IGNORED_KWARGS & given.keys():
        message = f"{name} is not used: results hold counts and no values; remove it"
        draft.notes.problem(child(expected.kwargs_at, name), message, "warning")
        del given[name]
    if "column" in specification.required and expected.column is not None:
        given.setdefault("column", expected.column)
    return given


def _fault(
    notes: Notes, specification: Expectation, expected: Expected, kwargs: Mapping[str, Json]
) -> tuple[str, str] | None:
    """The kwarg and what is wrong with it, "" when it is none in particular; None when all is well."""
    for name, value in kwargs.items():
        check = specification.kwargs.get(name)
        if check is None:
            return name, _unknown(notes, name, specification)
        asked = parameter_name(value)
        if asked == "" or (asked is not None and name in _FIXED_KWARGS):
            return (
                name,
                "can't be such a parameter; write the value, or {$PARAMETER: a_plain_name} for a bound",
            )
        if asked is None and (message := check(value)) is not None:
            return name, message
    missing = [name for name in specification.required if name not in kwargs]
    if missing:
        return "", f"needs {' and '.join(missing)}; add it to kwargs"
    if specification.bounds and not any(name in kwargs for name in specification.bounds):
        return "", f"gives no bound and would pass on anything; add {' or '.join(specification.bounds)}"
    low, high = (
        (kwargs.get(name) for name in specification.bounds)
        if len(specification.bounds) == 2
        else (None, None)
    )
    if parameter_name(low) is None and parameter_name(high) is None:
        whole = "count" in expected.type or "length" in expected.type or "int64" in expected.type
        strict = (kwargs.get("strict_min") is True, kwargs.get("strict_max") is True)
        message = bounds.order_fault(low, high, strict_low=strict[0], strict_high=strict[1], whole=whole)
        if message is not None:
            return specification.bounds[0] if specification.bounds else "", message
    return _exactness_fault(expected, kwargs)


def _exactness_fault(expected: Expected, kwargs: Mapping[str, Json]) -> tuple[str, str] | None:
    if expected.type in ("expect_column_values_to_be_between", "expect_int64_values_to_be_between"):
        return None
    for name, value in kwargs.items():
        if holds_beyond_json(value) or bounds.wants_int64({name: value}):
            return (
                name,
                "holds an integer beyond ±(2^53-1); only expect_int64_values_to_be_between keeps it exact",
            )
    if expected.type == "expect_quantiles_to_be_between" and len(as_list(kwargs["quantiles"])) != len(
        as_list(kwargs["ranges"])
    ):
        return "ranges", "must have one pair for each of the quantiles"
    return None


def _unknown(notes: Notes, name: str, specification: Expectation) -> str:
    if name in ("row_condition", "condition_parser"):
        return "conditions are code that Great Expectations evaluates; write the condition as an SQL rule"
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    near = snake if snake in specification.kwargs else notes.nearest(name, specification.kwargs)
    hint = f"did you mean {near}?" if near else f"it takes {', '.join(specification.kwargs) or 'none'}"
    return f"is no kwarg of this expectation; {hint}"


def _named_columns(draft: Draft, value: Json, pointer: str) -> Json:
    if isinstance(value, str):
        return draft.column(value, pointer)
    return [draft.column(str(each), child(pointer, index)) for index, each in enumerate(as_list(value))]


def _as_it_is(draft: Draft, expected: Expected, kwargs: Mapping[str, Json]) -> None:
    if expected.type == "expect_column_kl_divergence_to_be_less_than":
        reason = infinity_reason(
            kwargs["partition_object"],
            kwargs.get("tail_weight_holdout"),
            kwargs.get("internal_weight_holdout"),
        )
        if reason is not None:
            draft.notes.problem(expected.rule, reason, "warning")
    name = expected.type.removeprefix("expect_").removeprefix("column_")
    about = kwargs.get("column") or kwargs.get("column_A")
    draft.check(
        f"{name}:{about}" if isinstance(about, str) else name,
        expected.type,
        kwargs,
        [expected.rule],
        expected.about,
        baseline=expected.type in OWN and OWN[expected.type].baseline,
    )


def _between(draft: Draft, expected: Expected, kwargs: Mapping[str, Json]) -> None:
    if not bounds.wants_int64(kwargs):
        _as_it_is(draft, expected, kwargs)
        return
    column = str(kwargs["column"])
    exact = bounds.int64_kwargs(column, kwargs)
    draft.check(
        f"between:{column}", "expect_int64_values_to_be_between", exact, [expected.rule], expected.about
    )


def _int64(draft: Draft, expected: Expected, kwargs: Mapping[str, Json]) -> None:
    column = str(kwargs["column"])
    renamed = {**kwargs, "min_value": kwargs.get("min"), "max_value": kwargs.get("max")}
    exact = bounds.int64_kwargs(column, renamed)
    for ours, theirs in (("min", "min_value"), ("max", "max_value")):
        if parameter_name(renamed[theirs]) is not None:
            exact[ours] = renamed[theirs]
    draft.check(f"between:{column}", expected.type, exact, [expected.rule], expected.about)


def _quantiles(draft: Draft, expected: Expected, kwargs: Mapping[str, Json]) -> None:
    wanted = as_mapping(kwargs["quantile_ranges"])
    ours: dict[str, Json] = {
        "column": kwargs["column"],
        "quantiles": wanted["quantiles"],
        "ranges": wanted["value_ranges"],
    }
    name = f"quantiles_to_be_between:{kwargs['column']}"
    draft.check(name, "expect_quantiles_to_be_between", ours, [expected.rule], expected.about)


def _types(draft: Draft, expected: Expected, kwargs: Mapping[str, Json]) -> None:
    names = as_list(kwargs.get("type_list")) or [kwargs.get("type_")]
    found = {str(name): foreign_types(str(name)) for name in names}
    unknown = [name for name, types in found.items() if types is None]
    if unknown:
        message = (
            f"{unknown[0]!r} is no type that is known; write an Arrow type such as int64, string or timestamp"
        )
        draft.refuse(expected.rule, message, expected.about)
        return
    types: list[Json] = [*sorted({name for each in found.values() for name in each or ()})]
    ours: dict[str, Json] = {"column": kwargs["column"], "type_list": types}
    name = f"type:{kwargs['column']}"
    draft.check(name, "expect_column_values_to_be_in_type_list", ours, [expected.rule], expected.about)


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever signs it has."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _unexpected_rows(draft: Draft, expected: Expected, kwargs: Mapping[str, Json]) -> None:
    inner = str(kwargs["unexpected_rows_query"]).strip().rstrip(";")
    query = (
        f"SELECT count(*) FROM ({inner.replace('{batch}', quoted(draft.name or 'data'))}) AS unexpected_rows"
    )
    ours: dict[str, Json] = {"query": query, "operator": "mustBe", "value": 0}
    draft.check("unexpected_rows", "expect_sql_result", ours, [expected.rule], expected.about)


_REPLACED: Final[Mapping[str, _Replacement]] = {
    "expect_column_values_to_be_between": _between,
    "expect_int64_values_to_be_between": _int64,
    "expect_column_quantile_values_to_be_between": _quantiles,
    "expect_column_values_to_be_of_type": _types,
    "expect_column_type_to_be": _types,
    "expect_column_values_to_be_in_type_list": _types,
    "unexpected_rows_expectation": _unexpected_rows,
}
