"""A compiled suite as the engine needs it: one object's checks, declared columns, and what is not evaluated."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gates.contracts.engine.opened import DeclaredColumn
from gates.contracts.engine.refusals import CheckRefused

_PARAMETER: Final = "$PARAMETER"


@dataclass(frozen=True, slots=True)
class Check:
    """One check as compiled. `implicit` ones were added here and stand in no contract."""

    id: str
    type: str
    kwargs: Mapping[str, object]
    blocking: bool = True
    severity: str = "error"
    dimension: str | None = None
    rule: str | None = None
    implicit: bool = False


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A rule of the contract that no machine judges, and why."""

    rule: str
    reason: str
    blocking: bool


@dataclass(frozen=True, slots=True)
class SuiteObject:
    """One table of a compiled suite. `waived` are ids of implicit checks that the contract takes back."""

    name: str
    columns: tuple[DeclaredColumn, ...] | None
    checks: tuple[Check, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    waived: frozenset[str]


def suite_object(suite: Mapping[str, Any], name: str) -> SuiteObject:
    """The object of that name; KeyError when the suite has none."""
    found = next((each for each in suite["objects"] if each["name"] == name), None)
    if found is None:
        raise KeyError(
            f"the suite has no object {name!r}; it has {[each['name'] for each in suite['objects']]}"
        )
    columns = found.get("columns")
    return SuiteObject(
        name=name,
        columns=None if columns is None else declared_columns(columns),
        checks=tuple(
            Check(
                id=each["id"],
                type=each["type"],
                kwargs=each["kwargs"],
                blocking=each.get("blocking", True),
                severity=each.get("severity", "error"),
                dimension=each.get("dimension"),
                rule=each.get("rule"),
            )
            for each in found["checks"]
        ),
        not_evaluated=tuple(
            NotEvaluated(each["rule"], each["reason"], each.get("blocking", True))
            for each in found.get("not_evaluated", ())
        ),
        waived=frozenset(suite.get("waived") or ()),
    )


def declared_columns(columns: Iterable[Mapping[str, Any]]) -> tuple[DeclaredColumn, ...]:
    return tuple(
        DeclaredColumn(
            name=column["name"],
            types=tuple(column.get("types") or ()),
            nullable=column.get("nullable", True),
            fields=declared_columns(column.get("fields") or ()),
        )
        for column in columns
    )


def with_parameters(kwargs: Mapping[str, object], parameters: Mapping[str, object]) -> dict[str, object]:
    """kwargs with each {"$PARAMETER": name} replaced; CheckRefused when one is not given."""
    return {key: _replaced(value, parameters) for key, value in kwargs.items()}


def _replaced(value: object, parameters: Mapping[str, object]) -> object:
    if isinstance(value, Mapping):
        if set(value) == {_PARAMETER}:
            name = str(value[_PARAMETER])
            if name not in parameters:
                raise CheckRefused(f"Parameter {name!r} is not given. Name it in the request's parameters.")
            return parameters[name]
        return {key: _replaced(each, parameters) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(each, parameters) for each in value]
    return value
