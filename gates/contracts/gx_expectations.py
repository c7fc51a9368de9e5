"""The expectation types of Great Expectations 1.24 that run, with their kwargs; and why the others don't.

Read from `great_expectations/expectations/core`: kwargs are a class's own fields less those that every
expectation has. A type or kwarg that is not here is refused, so that no later version of the package can open
a door (its query expectations run SQL, others evaluate conditions as code).
"""

from collections.abc import Mapping
from typing import Final

from gates.contracts import kwargs as kinds
from gates.contracts.kwargs import Expectation, ValueCheck

_COLUMN: Final[Mapping[str, ValueCheck]] = {"column": kinds.text}
_MAP: Final[Mapping[str, ValueCheck]] = {**_COLUMN, "mostly": kinds.mostly}
_STRICT: Final[Mapping[str, ValueCheck]] = {"strict_min": kinds.boolean, "strict_max": kinds.boolean}
_BOUNDS: Final[Mapping[str, ValueCheck]] = {"min_value": kinds.bound, "max_value": kinds.bound, **_STRICT}
_NUMBERS: Final[Mapping[str, ValueCheck]] = {
    "min_value": kinds.optional_number,
    "max_value": kinds.optional_number,
    **_STRICT,
}
_COUNTS: Final[Mapping[str, ValueCheck]] = {
    "min_value": kinds.optional_count,
    "max_value": kinds.optional_count,
    **_STRICT,
}
_SHARES: Final[Mapping[str, ValueCheck]] = {
    "min_value": kinds.optional_share,
    "max_value": kinds.optional_share,
    **_STRICT,
}
_ENDS: Final = ("min_value", "max_value")
_PAIR: Final[Mapping[str, ValueCheck]] = {
    "column_A": kinds.text,
    "column_B": kinds.text,
    "mostly": kinds.mostly,
    "ignore_row_if": kinds.one_of("both_values_are_missing", "either_value_is_missing", "neither"),
}
_ROW: Final[Mapping[str, ValueCheck]] = {
    "column_list": kinds.columns,
    "mostly": kinds.mostly,
    "ignore_row_if": kinds.one_of("all_values_are_missing", "any_value_is_missing", "never"),
}
_SET: Final[Mapping[str, ValueCheck]] = {"value_set": kinds.scalars}


def _aggregate(bounds: Mapping[str, ValueCheck]) -> Expectation:
    return Expectation({**_COLUMN, **bounds}, ("column",), _ENDS)


def _refused(reason: str) -> Expectation:
    return Expectation({}, refused=reason)


_LIKE: Final = Expectation({**_MAP, "like_pattern": kinds.text}, ("column", "like_pattern"))
_TABLE_BETWEEN: Final = Expectation(_COUNTS, (), _ENDS)
_NOT_IN_SQL: Final = "Great Expectations has no SQL for it, so that no query engine can run it"
_ORDER: Final = (
    "rows of a table have no order; compare two columns, or check the order where the file is written"
)
_OTHER_TABLE: Final = "it reads a second table; a check is bound to the bytes of one"

ALLOWED: Final[Mapping[str, Expectation]] = {
    "expect_column_to_exist": Expectation({**_COLUMN, "column_index": kinds.optional_count}, ("column",)),
    "expect_column_values_to_not_be_null": Expectation(_MAP, ("column",)),
    "expect_column_values_to_be_null": Expectation(_MAP, ("column",)),
    "expect_column_values_to_be_unique": Expectation(_MAP, ("column",)),
    "expect_column_values_to_be_between": Expectation({**_MAP, **_BOUNDS}, ("column",), _ENDS),
    "expect_column_values_to_be_in_set": Expectation({**_MAP, **_SET}, ("column", "value_set")),
    "expect_column_values_to_not_be_in_set": Expectation({**_MAP, **_SET}, ("column", "value_set")),
    "expect_column_values_to_match_regex": Expectation({**_MAP, "regex": kinds.regex}, ("column", "regex")),
    "expect_column_values_to_not_match_regex": Expectation(
        {**_MAP, "regex": kinds.regex}, ("column", "regex")
    ),
    "expect_column_values_to_match_regex_list": Expectation(
        {**_MAP, "regex_list": kinds.regexes, "match_on": kinds.one_of("any", "all")},
        ("column", "regex_list"),
    ),
    "expect_column_values_to_not_match_regex_list": Expectation(
        {**_MAP, "regex_list": kinds.regexes}, ("column", "regex_list")
    ),
    # Without `escape`, which dialects read differently.
    "expect_column_values_to_match_like_pattern": _LIKE,
    "expect_column_values_to_not_match_like_pattern": _LIKE,
    "expect_column_values_to_match_like_pattern_list": Expectation(
        {**_MAP, "like_pattern_list": kinds.texts, "match_on": kinds.one_of("any", "all")},
        ("column", "like_pattern_list"),
    ),
    "expect_column_values_to_not_match_like_pattern_list": Expectation(
        {**_MAP, "like_pattern_list": kinds.texts}, ("column", "like_pattern_list")
    ),
    "expect_column_value_lengths_to_be_between": Expectation({**_MAP, **_COUNTS}, ("column",), _ENDS),
    "expect_column_value_lengths_to_equal": Expectation({**_MAP, "value": kinds.count}, ("column", "value")),
    "expect_column_value_z_scores_to_be_less_than": Expectation(
        {**_MAP, "threshold": kinds.positive, "double_sided": kinds.boolean},
        ("column", "threshold", "double_sided"),
    ),
    "expect_column_distinct_values_to_be_in_set": Expectation({**_COLUMN, **_SET}, ("column", "value_set")),
    "expect_column_distinct_values_to_contain_set": Expectation({**_COLUMN, **_SET}, ("column", "value_set")),
    "expect_column_distinct_values_to_equal_set": Expectation({**_COLUMN, **_SET}, ("column", "value_set")),
    "expect_column_most_common_value_to_be_in_set": Expectation(
        {**_COLUMN, **_SET, "ties_okay": kinds.boolean}, ("column", "value_set")
    ),
    "expect_column_max_to_be_between": _aggregate(_BOUNDS),
    "expect_column_min_to_be_between": _aggregate(_BOUNDS),
    "expect_column_mean_to_be_between": _aggregate(_NUMBERS),
    "expect_column_median_to_be_between": _aggregate(_NUMBERS),
    "expect_column_stdev_to_be_between": _aggregate(_NUMBERS),
    "expect_column_sum_to_be_between": _aggregate(_NUMBERS),
    "expect_column_unique_value_count_to_be_between": _aggregate(_COUNTS),
    "expect_column_proportion_of_unique_values_to_be_between": _aggregate(_SHARES),
    "expect_column_proportion_of_non_null_values_to_be_between": _aggregate(_SHARES),
    "expect_column_kl_divergence_to_be_less_than": Expectation(
        {
            **_COLUMN,
            "partition_object": kinds.partition,
            "threshold": kinds.positive,
            "internal_weight_holdout": kinds.optional_share,
            "tail_weight_holdout": kinds.optional_share,
            "bucketize_data": kinds.boolean,
        },
        ("column", "partition_object", "threshold"),
    ),
    "expect_column_pair_values_to_be_equal": Expectation(_PAIR, ("column_A", "column_B")),
    "expect_column_pair_values_a_to_be_greater_than_b": Expectation(
        {**_PAIR, "or_equal": kinds.boolean}, ("column_A", "column_B")
    ),
    "expect_column_pair_values_to_be_in_set": Expectation(
        {**_PAIR, "value_pairs_set": kinds.pairs}, ("column_A", "column_B", "value_pairs_set")
    ),
    "expect_compound_columns_to_be_unique": Expectation(_ROW, ("column_list",)),
    "expect_select_column_values_to_be_unique_within_record": Expectation(_ROW, ("column_list",)),
    "expect_multicolumn_sum_to_equal": Expectation(
        {**_ROW, "sum_total": kinds.number}, ("column_list", "sum_total")
    ),
    "expect_table_row_count_to_be_between": _TABLE_BETWEEN,
    "expect_table_row_count_to_equal": Expectation({"value": kinds.count}, ("value",)),
    "expect_table_column_count_to_be_between": Expectation(
        {"min_value": kinds.optional_count, "max_value": kinds.optional_count}, (), _ENDS
    ),
    "expect_table_column_count_to_equal": Expectation({"value": kinds.count}, ("value",)),
    "expect_table_columns_to_match_ordered_list": Expectation({"column_list": kinds.texts}, ("column_list",)),
    "expect_table_columns_to_match_set": Expectation(
        {"column_set": kinds.texts, "exact_match": kinds.boolean}, ("column_set",)
    ),
    # Four that are replaced by our own, see gx_replacing.
    "expect_column_quantile_values_to_be_between": Expectation(
        {**_COLUMN, "quantile_ranges": kinds.quantile_ranges, "allow_relative_error": kinds.only_false},
        ("column", "quantile_ranges"),
    ),
    "expect_column_values_to_be_of_type": Expectation({**_COLUMN, "type_": kinds.text}, ("column", "type_")),
    "expect_column_type_to_be": Expectation({**_COLUMN, "type_": kinds.text}, ("column", "type_")),
    "expect_column_values_to_be_in_type_list": Expectation(
        {**_COLUMN, "type_list": kinds.texts}, ("column", "type_list")
    ),
    "unexpected_rows_expectation": Expectation(
        {"unexpected_rows_query": kinds.text}, ("unexpected_rows_query",)
    ),
    # Refused.
    "expect_column_values_to_match_strftime_format": _refused(_NOT_IN_SQL),
    "expect_column_values_to_be_dateutil_parseable": _refused(_NOT_IN_SQL),
    "expect_column_values_to_be_json_parseable": _refused(_NOT_IN_SQL),
    "expect_column_values_to_match_json_schema": _refused(_NOT_IN_SQL),
    "expect_column_values_to_be_increasing": _refused(_ORDER),
    "expect_column_values_to_be_decreasing": _refused(_ORDER),
    "expect_column_values_to_not_be_outliers": _refused(
        "its quartiles differ between engines; use expect_quantiles_to_be_between or a baseline"
    ),
    "expect_column_bootstrapped_ks_test_p_value_to_be_greater_than": _refused(
        "its random draws give another answer each time; use expect_binned_ks_to_be_at_most"
    ),
    "expect_column_parameterized_distribution_ks_test_p_value_to_be_greater_than": _refused(_NOT_IN_SQL),
    "expect_column_chisquare_test_p_value_to_be_greater_than": _refused(
        "it is not implemented in Great Expectations 1.x; use expect_label_shares_to_match_baseline"
    ),
    "expect_column_pair_cramers_phi_value_to_be_less_than": _refused(
        "it is not implemented in Great Expectations 1.x"
    ),
    "expect_multicolumn_values_to_be_unique": _refused(
        "it is deprecated; use expect_select_column_values_to_be_unique_within_record"
    ),
    "expect_multicolumn_values_to_be_equal": _refused(
        "use expect_column_pair_values_to_be_equal for each pair"
    ),
    "expect_query_results_to_match_comparison": _refused(_OTHER_TABLE),
    "expect_table_row_count_to_equal_other_table": _refused(_OTHER_TABLE),
}

IGNORED_KWARGS: Final = frozenset({"result_format", "catch_exceptions", "batch_id", "include_config"})
"""Kwargs that old suites carry: how a result looks, not what is expected. Results hold counts only."""
