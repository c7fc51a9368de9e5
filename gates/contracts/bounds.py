"""Bounds that nothing, or everything, can keep; and 64-bit bounds as text, exact beyond what JSON numbers hold."""

import math
from collections.abc import Mapping

from gates.contracts.kwargs import is_beyond_json, is_digits
from gates.documents.pointers import Json, as_number


def exact(value: Json) -> Json:
    """A bound as a number, also when it is written as a text of digits; other texts stay."""
    return int(value) if isinstance(value, str) and is_digits(value) else value


def order_fault(
    low: Json, high: Json, *, strict_low: bool, strict_high: bool, whole: bool = False
) -> str | None:
    """What is wrong with two bounds together; None when a value can lie between. Null is no bound.

    `whole`: only whole numbers count, so that nothing lies strictly between 5 and 6.
    """
    low, high = exact(low), exact(high)
    if low is None or high is None:
        return None
    comparable = (as_number(low) is not None) == (as_number(high) is not None)
    if not comparable:
        return f"{low!r} and {high!r} can't be compared; write both as numbers or both as dates"
    if isinstance(low, str) and isinstance(high, str):
        later = low > high if len(low) == len(high) else False
        return f"the least, {low}, lies after the most, {high}; swap them" if later else None
    least, most = as_number(low), as_number(high)
    if least is None or most is None:
        return None
    if least > most:
        return f"the least, {least}, is above the most, {most}; swap them"
    between = f"no {'whole number' if whole else 'number'} lies between {least} and {most}"
    if least == most and (strict_low or strict_high):
        return f"{between} when a bound itself is excluded; widen them"
    if whole and strict_low and strict_high and math.floor(least) + 1 > math.ceil(most) - 1:
        return f"{between} when both bounds are excluded; widen them"
    return None


def int64_kwargs(column: str, kwargs: Mapping[str, Json]) -> dict[str, Json]:
    """Kwargs of expect_int64_values_to_be_between from min_value, max_value and their strictness.

    A fraction is rounded inwards: a whole number above 0.5 is at least 1.
    """
    low, strict_low = _whole(kwargs.get("min_value"), kwargs.get("strict_min") is True, up=True)
    high, strict_high = _whole(kwargs.get("max_value"), kwargs.get("strict_max") is True, up=False)
    return {
        "column": column,
        "min": low,
        "max": high,
        "strict_min": strict_low,
        "strict_max": strict_high,
        "mostly": kwargs.get("mostly", 1),
    }


def wants_int64(kwargs: Mapping[str, Json]) -> bool:
    """Whether a bound is an integer that JSON numbers and floats don't hold exactly."""
    ends = [exact(kwargs.get(name)) for name in ("min_value", "max_value")]
    return any(is_beyond_json(end) for end in ends) or any(
        is_digits(kwargs.get(name)) for name in ("min_value", "max_value")
    )


def _whole(value: Json, strict: bool, *, up: bool) -> tuple[str | None, bool]:
    number = as_number(exact(value))
    if number is None:
        return None, False
    if isinstance(number, float) and not number.is_integer():
        return str(math.ceil(number) if up else math.floor(number)), False
    return str(int(number)), strict
