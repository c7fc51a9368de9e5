"""The fixed words of outcomes and states, worst first, and checks as a person would call them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Word:
    """`tone` picks colour and shape, which only repeat the word."""

    code: str
    text: str
    tone: str


def by_code(*words: Word) -> Mapping[str, Word]:
    return {word.code: word for word in words}


OUTCOMES: Final = by_code(
    Word("failed", "Failed", "bad"),
    Word("error", "Error", "broken"),
    Word("not_evaluated", "Not evaluated", "open"),
    Word("passed", "Passed", "good"),
)
"""Worst first. What was not evaluated is not passed."""

STATES: Final = by_code(
    Word("dead", "Given up", "broken"),
    Word("failed", "Broke off", "broken"),
    Word("cancelled", "Cancelled", "open"),
    Word("running", "Running", "busy"),
    Word("queued", "Waiting", "busy"),
    Word("done", "Done", "good"),
)

_CHECKS: Final[Mapping[str, str]] = {
    "expect_schema_to_match": "columns, types and nullability",
    "expect_row_count_at_least_one": "at least one row",
    "expect_table_row_count_to_be_between": "number of rows",
    "expect_table_row_count_to_equal": "number of rows",
    "expect_table_columns_to_match_set": "set of columns",
    "expect_table_column_count_to_equal": "number of columns",
    "expect_row_count_change_to_be_between": "change of volume against the baseline",
    "expect_no_nan": "no NaN",
    "expect_column_to_exist": "column exists",
    "expect_column_values_to_not_be_null": "no nulls",
    "expect_column_values_to_be_null": "nulls only",
    "expect_null_share_to_be_at_most": "share of nulls",
    "expect_column_values_to_be_unique": "no duplicates",
    "expect_composite_key_to_be_unique": "no duplicate keys",
    "expect_compound_columns_to_be_unique": "no duplicate keys",
    "expect_column_values_to_be_between": "range of values",
    "expect_int64_values_to_be_between": "range of values, exact",
    "expect_column_values_to_be_in_set": "allowed values",
    "expect_column_values_to_not_be_in_set": "forbidden values",
    "expect_column_distinct_values_to_be_in_set": "allowed values",
    "expect_column_values_to_match_regex": "pattern",
    "expect_column_values_to_not_match_regex": "forbidden pattern",
    "expect_column_value_lengths_to_be_between": "length of values",
    "expect_column_mean_to_be_between": "mean",
    "expect_column_median_to_be_between": "median",
    "expect_column_min_to_be_between": "smallest value",
    "expect_column_max_to_be_between": "largest value",
    "expect_column_sum_to_be_between": "sum",
    "expect_column_stdev_to_be_between": "standard deviation",
    "expect_quantiles_to_be_between": "quantiles",
    "expect_column_unique_value_count_to_be_between": "number of different values",
    "expect_label_shares_to_match_baseline": "shares of labels against the baseline",
    "expect_population_stability_index_to_be_at_most": "drift (PSI) against the baseline",
    "expect_binned_ks_to_be_at_most": "drift (binned KS) against the baseline",
    "expect_age_to_be_at_most": "age of the newest row",
    "expect_library_metric": "measure of the standard’s library",
    "expect_sql_result": "result of an SQL query",
    "rule": "a rule that nothing checks",
}


def marked(effect: str) -> Word:
    """What a revocation made of a record: `revoked` or `contested`; it is no evidence either way."""
    return Word(effect, effect.capitalize(), "bad")


def check_in_words(kind: str) -> str:
    """What an expectation looks at; an unknown one is its own name without underscores."""
    return _CHECKS.get(kind) or kind.removeprefix("expect_").replace("_", " ")


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 check`, `2 checks`, `1,204 checks`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def person_in_words(pseudonym: str | None) -> str:
    """By the beginning of the pseudonym, which tells persons apart."""
    return "nobody known" if pseudonym is None else f"person {pseudonym[:8]}"


def bytes_in_words(value: int) -> str:
    """In powers of 1,024 with three digits; below 1 KiB the number itself."""
    size, unit = float(value), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return (
        f"{value} bytes" if unit == "bytes" else f"{size:.3g} {unit}" if size < 1000 else f"{size:.0f} {unit}"
    )


def duration_in_words(seconds: float) -> str:
    """The largest unit that fits and the next one: "31 min", "2 h 5 min", "3 d 4 h"; below a minute "34 s"."""
    left = int(seconds)
    for name, size, below, below_size in (("d", 86400, "h", 3600), ("h", 3600, "min", 60)):
        if left >= size:
            rest = left % size // below_size
            return f"{left // size:,} {name} {rest} {below}" if rest else f"{left // size:,} {name}"
    return f"{left // 60} min" if left >= 60 else f"{left} s"
