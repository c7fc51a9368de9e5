"""Which types are our own, and what builds the measure of each."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

from gates.contracts.engine.measures import (
    ages,
    drift,
    keys,
    labels,
    library,
    nulls,
    quantiles,
    ranges,
    structure,
    volume,
)
from gates.contracts.engine.measures.measure import Circumstances, Measure
from gates.contracts.engine.table import TIMES

Builder: TypeAlias = Callable[[Mapping[str, object], Circumstances], Measure]

_BUILDERS: Final[Mapping[str, Builder]] = {
    "expect_age_to_be_at_most": ages.age_at_most,
    "expect_binned_ks_to_be_at_most": drift.ks_at_most,
    "expect_composite_key_to_be_unique": keys.composite_key,
    "expect_int64_values_to_be_between": ranges.int64_between,
    "expect_label_shares_to_match_baseline": labels.label_shares,
    "expect_library_metric": library.library_metric,
    "expect_no_nan": nulls.no_nan,
    "expect_null_share_to_be_at_most": nulls.null_share,
    "expect_population_stability_index_to_be_at_most": drift.psi_at_most,
    "expect_quantiles_to_be_between": quantiles.quantiles_between,
    "expect_row_count_at_least_one": volume.row_count_at_least_one,
    "expect_row_count_change_to_be_between": volume.row_count_change,
    # Standard types that are exact only this way; see docs.
    "expect_column_quantile_values_to_be_between": quantiles.quantiles_between,
    "expect_column_to_exist": structure.column_exists,
    "expect_column_values_to_be_in_type_list": structure.column_type,
    "expect_column_values_to_be_of_type": structure.column_type,
    "expect_compound_columns_to_be_unique": keys.compound_columns,
    "expect_table_column_count_to_be_between": structure.column_count,
    "expect_table_column_count_to_equal": structure.column_count,
    "expect_table_columns_to_match_ordered_list": structure.column_names,
    "expect_table_columns_to_match_set": structure.column_names,
    "expect_table_row_count_to_be_between": volume.row_count_between,
    "expect_table_row_count_to_equal": volume.row_count_between,
}
_EXTREMES: Final = {
    f"expect_column_{which}_to_be_between": partial(ranges.extreme_between, which) for which in ("min", "max")
}


def builder_for(type_name: str, kwargs: Mapping[str, object], circumstances: Circumstances) -> Builder | None:
    """What makes the measure of a check; None when Great Expectations judges it.

    Raises CheckRefused for a column that the data lacks.
    """
    if (extreme := _EXTREMES.get(type_name)) is not None:
        return extreme if circumstances.column(kwargs).kind in TIMES else None
    return _BUILDERS.get(type_name)
