"""Shipworthy's own expectation types as a contract may name them, with their kwargs; docs/contracts.md has the
formulas. The compiler emits three more by itself: expect_library_metric, expect_sql_result and expect_schema_to_match.
"""

from collections.abc import Mapping
from typing import Final

from gates.contracts import kwargs as kinds
from gates.contracts.kwargs import Expectation

OWN: Final[Mapping[str, Expectation]] = {
    "expect_row_count_change_to_be_between": Expectation(
        {"min_ratio": kinds.optional_ratio, "max_ratio": kinds.optional_ratio},
        (),
        ("min_ratio", "max_ratio"),
        baseline=True,
    ),
    "expect_label_shares_to_match_baseline": Expectation(
        {"column": kinds.text, "max_difference": kinds.share, "max_new_share": kinds.share},
        ("column", "max_difference"),
        baseline=True,
    ),
    "expect_population_stability_index_to_be_at_most": Expectation(
        {"column": kinds.text, "max": kinds.positive}, ("column", "max"), baseline=True
    ),
    "expect_binned_ks_to_be_at_most": Expectation(
        {"column": kinds.text, "max": kinds.share}, ("column", "max"), baseline=True
    ),
    "expect_age_to_be_at_most": Expectation(
        {
            "column": kinds.text,
            "max_seconds": kinds.positive,
            "time_zone": kinds.time_zone,
            "future_tolerance_seconds": kinds.count,
        },
        ("column", "max_seconds"),
    ),
    "expect_int64_values_to_be_between": Expectation(
        {
            "column": kinds.text,
            "min": kinds.integer_bound,
            "max": kinds.integer_bound,
            "strict_min": kinds.boolean,
            "strict_max": kinds.boolean,
            "mostly": kinds.mostly,
        },
        ("column",),
        ("min", "max"),
    ),
    "expect_quantiles_to_be_between": Expectation(
        {"column": kinds.text, "quantiles": kinds.quantiles, "ranges": kinds.ranges},
        ("column", "quantiles", "ranges"),
    ),
    "expect_null_share_to_be_at_most": Expectation(
        {"column": kinds.text, "max": kinds.share}, ("column", "max")
    ),
    "expect_composite_key_to_be_unique": Expectation({"columns": kinds.key_columns}, ("columns",)),
}
