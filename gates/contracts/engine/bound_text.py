"""What a check asks for, as a reader wants it: "at most 0.05", "between 0 and 100, at least 99 % of values"."""

from collections.abc import Mapping
from typing import Final

_LONGEST: Final = 160
_OPERATORS: Final = {
    "mustBe": "is {0}",
    "mustNotBe": "is not {0}",
    "mustBeGreaterThan": "more than {0}",
    "mustBeGreaterOrEqualTo": "at least {0}",
    "mustBeLessThan": "less than {0}",
    "mustBeLessOrEqualTo": "at most {0}",
    "mustBeBetween": "more than {0} and less than {1}",
    "mustNotBeBetween": "not between {0} and {1}",
}
_FIXED: Final = {
    "expect_column_values_to_be_unique": "no value twice",
    "expect_column_values_to_not_be_null": "no nulls",
    "expect_column_values_to_be_null": "only nulls",
    "expect_composite_key_to_be_unique": "no key twice",
    "expect_compound_columns_to_be_unique": "no key twice",
    "expect_no_nan": "no NaN",
    "expect_row_count_at_least_one": "at least 1 row",
    "expect_schema_to_match": "the stated columns, types and nullability",
}


def bound_text(type_name: str, kwargs: Mapping[str, object]) -> str:
    """Texts and lists of the contract are shortened; "" when the type says it all."""
    parts = [_FIXED.get(type_name) or _range(kwargs) or _particular(kwargs)]
    mostly = kwargs.get("mostly")
    if isinstance(mostly, int | float) and mostly < 1:
        parts.append(f"for at least {100 * mostly:g} % of values")
    return ", ".join(part for part in parts if part)[:_LONGEST]


def _range(kwargs: Mapping[str, object]) -> str:
    if (operator := _OPERATORS.get(str(kwargs.get("operator")))) is not None:
        value = kwargs.get("value")
        bounds = value if isinstance(value, list | tuple) and len(value) == 2 else (value, value)
        return operator.format(*map(_shown, bounds)) + (" %" if kwargs.get("unit") == "percent" else "")
    low = next(
        (kwargs[key] for key in ("min_value", "min", "min_ratio") if kwargs.get(key) is not None), None
    )
    high = next(
        (
            kwargs[key]
            for key in ("max_value", "max", "max_ratio", "threshold")
            if kwargs.get(key) is not None
        ),
        None,
    )
    parts = []
    if low is not None:
        parts.append(f"{'more than' if kwargs.get('strict_min') else 'at least'} {_shown(low)}")
    if high is not None:
        parts.append(f"{'less than' if kwargs.get('strict_max') else 'at most'} {_shown(high)}")
    return " and ".join(parts)


def _particular(kwargs: Mapping[str, object]) -> str:
    if "max_difference" in kwargs:
        new = kwargs.get("max_new_share", 0)
        return f"each share within {_shown(kwargs['max_difference'])}, new labels at most {_shown(new)}"
    if "max_seconds" in kwargs:
        return f"at most {_shown(kwargs['max_seconds'])} s old"
    if isinstance(values := kwargs.get("value_set"), list | tuple):
        return f"of a set of {len(values)} values"
    if "regex" in kwargs:
        return f"regular expression {str(kwargs['regex'])[:80]}"
    if isinstance(quantiles := kwargs.get("quantiles"), list | tuple):
        ranges = kwargs.get("ranges")
        pairs = zip(quantiles, ranges if isinstance(ranges, list | tuple) else (), strict=False)
        return "; ".join(f"{quantile}: {_pair(limits)}" for quantile, limits in pairs)
    if "value" in kwargs:
        return f"is {_shown(kwargs['value'])}"
    return ""


def _pair(limits: object) -> str:
    low, high = limits if isinstance(limits, list | tuple) and len(limits) == 2 else (None, None)
    return f"{'' if low is None else _shown(low)} to {'' if high is None else _shown(high)}".strip()


def _shown(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)[:60]
