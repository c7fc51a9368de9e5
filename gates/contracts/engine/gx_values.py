"""What Great Expectations is given: only types known to be right on DuckDB, with bounds in the column's own type."""

import math
from typing import Final

from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.table import TIMES, Column, TableShape, ValueCheck
from gates.contracts.engine.time_bounds import lower_bound, upper_bound

JUDGED: Final = frozenset(
    {
        "expect_column_distinct_values_to_be_in_set",
        "expect_column_distinct_values_to_contain_set",
        "expect_column_distinct_values_to_equal_set",
        "expect_column_kl_divergence_to_be_less_than",
        "expect_column_max_to_be_between",
        "expect_column_mean_to_be_between",
        "expect_column_median_to_be_between",
        "expect_column_min_to_be_between",
        "expect_column_most_common_value_to_be_in_set",
        "expect_column_pair_values_a_to_be_greater_than_b",
        "expect_column_pair_values_to_be_equal",
        "expect_column_pair_values_to_be_in_set",
        "expect_column_proportion_of_non_null_values_to_be_between",
        "expect_column_proportion_of_unique_values_to_be_between",
        "expect_column_stdev_to_be_between",
        "expect_column_sum_to_be_between",
        "expect_column_unique_value_count_to_be_between",
        "expect_column_value_lengths_to_be_between",
        "expect_column_value_lengths_to_equal",
        "expect_column_value_z_scores_to_be_less_than",
        "expect_column_values_to_be_between",
        "expect_column_values_to_be_in_set",
        "expect_column_values_to_be_null",
        "expect_column_values_to_be_unique",
        "expect_column_values_to_match_like_pattern",
        "expect_column_values_to_match_like_pattern_list",
        "expect_column_values_to_match_regex",
        "expect_column_values_to_match_regex_list",
        "expect_column_values_to_not_be_in_set",
        "expect_column_values_to_not_be_null",
        "expect_column_values_to_not_match_like_pattern",
        "expect_column_values_to_not_match_like_pattern_list",
        "expect_column_values_to_not_match_regex",
        "expect_column_values_to_not_match_regex_list",
        "expect_multicolumn_sum_to_equal",
        "expect_select_column_values_to_be_unique_within_record",
    }
)
NULLS_TOO: Final = frozenset(
    {
        "expect_column_proportion_of_non_null_values_to_be_between",
        "expect_column_values_to_be_null",
        "expect_column_values_to_not_be_null",
    }
)
"""Types that say something about a column without any value; others are vacuous there."""
NAN_SAFE: Final = frozenset(
    {
        "expect_column_values_to_be_between",
        "expect_column_values_to_be_in_set",
        "expect_column_values_to_be_null",
        "expect_column_values_to_be_unique",
        "expect_column_values_to_not_be_null",
    }
)
"""Types with one meaning where there is NaN: of means, extremes and comparisons every engine has its own."""
LISTING: Final = frozenset(
    {
        "expect_column_kl_divergence_to_be_less_than",
        "expect_column_most_common_value_to_be_in_set",
    }
)
"""Types for which Great Expectations takes every distinct value into memory."""
MOST_LISTED: Final = 10_000
_ORDERED: Final = "expect_column_values_to_be_between"
_EXACT_INTEGERS: Final = 2**53


def prepared(check: ValueCheck, shape: TableShape) -> dict[str, object]:
    """kwargs for GX. CheckRefused for an unknown type, a missing column, or bounds of another kind than the column."""
    if check.type not in JUDGED:
        raise CheckRefused(f"{check.type} is not a type this engine judges. Use one that docs list.")
    for name in columns_of(check.kwargs):
        shape.column(name)
    kwargs = dict(check.kwargs)
    if check.type == _ORDERED:
        kwargs |= _bounds(kwargs, shape.column(str(kwargs.get("column"))))
    return kwargs


def columns_of(kwargs: object) -> list[str]:
    """Every column that kwargs name, in their order."""
    if not isinstance(kwargs, dict):
        return []
    single = [kwargs[key] for key in ("column", "column_A", "column_B") if isinstance(kwargs.get(key), str)]
    many = [each for key in ("column_list", "columns") for each in kwargs.get(key) or ()]
    return [str(name) for name in (*single, *many)]


def _bounds(kwargs: dict[str, object], column: Column) -> dict[str, object]:
    low, high = kwargs.get("min_value"), kwargs.get("max_value")
    if low is None and high is None:
        raise CheckRefused("A range needs min_value, max_value or both. Without any it says nothing.")
    if column.kind in TIMES:
        changed: dict[str, object] = {}
        if low is not None:
            start, strict = lower_bound(low, bool(kwargs.get("strict_min")), column)
            changed |= {"min_value": start, "strict_min": strict}
        if high is not None:
            end, strict = upper_bound(high, bool(kwargs.get("strict_max")), column)
            changed |= {"max_value": end, "strict_max": strict}
        return changed
    return {
        key: _exact(kwargs[key], column) for key in ("min_value", "max_value") if kwargs.get(key) is not None
    }


def _exact(bound: object, column: Column) -> object:
    """Integers are compared as integers: as a double, 2^53 + 1 would equal 2^53."""
    if column.kind != "integer" or not isinstance(bound, float) or not math.isfinite(bound):
        return bound
    if abs(bound) >= _EXACT_INTEGERS:
        raise CheckRefused(
            "A bound of 2^53 or more is not exact as a JSON number. "
            "Use expect_int64_values_to_be_between with a decimal text."
        )
    return int(bound) if bound.is_integer() else bound
