"""The operators of the Open Data Contract Standard 3.1. `mustBeBetween` excludes both of its bounds."""

from collections.abc import Callable
from typing import Final

from gates.contracts.engine.refusals import CheckRefused

_ONE: Final[dict[str, Callable[[float, float], bool]]] = {
    "mustBe": lambda value, bound: value == bound,
    "mustNotBe": lambda value, bound: value != bound,
    "mustBeGreaterThan": lambda value, bound: value > bound,
    "mustBeGreaterOrEqualTo": lambda value, bound: value >= bound,
    "mustBeLessThan": lambda value, bound: value < bound,
    "mustBeLessOrEqualTo": lambda value, bound: value <= bound,
}
_TWO: Final = ("mustBeBetween", "mustNotBeBetween")


def operator_test(operator: object, bound: object) -> Callable[[float], bool]:
    """The test that an operator of a rule stands for; CheckRefused when it or its bound is none."""
    if operator in _TWO:
        if not isinstance(bound, list | tuple) or len(bound) != 2 or not all(map(_is_number, bound)):
            raise CheckRefused(f"{operator} needs two numbers.")
        low, high = bound
        inside = operator == "mustBeBetween"
        return lambda value: (low < value < high) == inside
    test = _ONE.get(str(operator))
    if test is None:
        raise CheckRefused(
            f"{operator!r} is no operator of the standard. Write mustBe, mustBeLessThan or another."
        )
    if not _is_number(bound) or not isinstance(bound, int | float):
        raise CheckRefused(f"{operator} needs a number.")
    limit: float = bound
    return lambda value: test(value, limit)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
