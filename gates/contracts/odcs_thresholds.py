"""Operators of ODCS quality rules: what a count or the answer of a query is compared with."""

from collections.abc import Mapping
from typing import Final

from gates.contracts.bounds import order_fault
from gates.contracts.drafting import Draft
from gates.contracts.kwargs import holds_beyond_json
from gates.contracts.suite import About
from gates.documents.pointers import Json, as_list, as_number, child

OPERATORS: Final = (
    "mustBe",
    "mustNotBe",
    "mustBeGreaterThan",
    "mustBeGreaterOrEqualTo",
    "mustBeLessThan",
    "mustBeLessOrEqualTo",
    "mustBeBetween",
    "mustNotBeBetween",
)
_RANGES: Final = ("mustBeBetween", "mustNotBeBetween")


def thresholds(
    draft: Draft, rule: Mapping[str, Json], place: str, about: About, *, whole: bool, numeric: bool
) -> list[tuple[str, Json]]:
    """Operators with their values: one check each. Refuses the rule, and gives none, when any is faulty.

    `whole`: what is compared is a count, so that nothing lies strictly between 5 and 6. `numeric` False: a query
    may also answer true or false.
    """
    given = [(name, rule[name]) for name in OPERATORS if rule.get(name) is not None]
    if not given:
        draft.refuse(place, f"compares with nothing; add one of {', '.join(OPERATORS)}", about)
        return []
    for name, value in given:
        if fault := _value_fault(name, value, whole=whole, numeric=numeric):
            draft.refuse(place, f"{name} {fault}", about, at=child(place, name))
            return []
    return given


def _value_fault(operator: str, value: Json, *, whole: bool, numeric: bool) -> str | None:
    if operator in _RANGES:
        ends = as_list(value)
        numbers = [as_number(end) for end in ends]
        if len(ends) != 2 or None in numbers:
            return "must be a list of two numbers"
        strict = operator == "mustBeBetween"
        fault = order_fault(ends[0], ends[1], strict_low=strict, strict_high=strict, whole=whole)
    elif as_number(value) is None:
        comparable = not numeric and operator in ("mustBe", "mustNotBe") and isinstance(value, bool)
        fault = None if comparable else "must be a number, without quotes"
    else:
        fault = None
    return fault or ("is an integer beyond ±(2^53-1)" if holds_beyond_json(value) else None)
