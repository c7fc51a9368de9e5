"""Uniqueness over several columns, as one check: each column alone may repeat."""

from collections.abc import Mapping

from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged, number
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.rounding import rounded
from gates.contracts.engine.sql import identifier


def composite_key(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """Unexpected are all rows that share their key with another, and those with a null in any part of it."""
    names = named_columns(kwargs, circumstances)
    incomplete = " OR ".join(f"{identifier(name)} IS NULL" for name in names)
    return _unique(names, f"NOT ({incomplete})", incomplete, 1.0)


def compound_columns(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """GX's expect_compound_columns_to_be_unique: nulls equal each other, in rows that `ignore_row_if` leaves."""
    names = named_columns(kwargs, circumstances)
    nulls = [f"{identifier(name)} IS NULL" for name in names]
    ignored = {
        "all_values_are_missing": " AND ".join(nulls),
        "any_value_is_missing": " OR ".join(nulls),
        "never": "false",
    }.get(str(kwargs.get("ignore_row_if", "all_values_are_missing")))
    if ignored is None:
        raise CheckRefused("`ignore_row_if` has to be all_values_are_missing, any_value_is_missing or never.")
    return _unique(names, f"NOT ({ignored})", "false", number(kwargs, "mostly", 1.0))


def _unique(names: list[str], compared: str, wrong: str, mostly: float) -> Measure:
    keys = ", ".join(identifier(name) for name in names)

    def judge(facts: Facts) -> Verdict:
        rows, compared_rows, incomplete = facts.profile.rows, facts.count("compared"), facts.count("wrong")
        if compared_rows + incomplete == 0:
            return Verdict("not_evaluated", "The data has no rows with such a key.", rows=rows)
        first = facts.rows["repeated"][0][0]
        repeated = int(first) if isinstance(first, int) else 0
        unexpected = repeated + incomplete
        share = rounded(1 - unexpected / (compared_rows + incomplete))
        nulls = f"; {incomplete} have a null in it" if incomplete else ""
        sentence = f"{repeated} rows share their key ({', '.join(names)}) with another{nulls}."
        return judged(share >= mostly, sentence, observed=unexpected, rows=rows, unexpected=unexpected)

    return Measure(
        judge,
        {
            "compared": f"count_if({compared})",
            "wrong": f"count_if({wrong})",
        },
        {
            "repeated": "SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM (SELECT count(*) AS n FROM data "
            f"WHERE {compared} GROUP BY {keys} HAVING count(*) > 1)"
        },
    )


def named_columns(kwargs: Mapping[str, object], circumstances: Circumstances) -> list[str]:
    """The columns of `columns` or `column_list`; CheckRefused when there is none, or one that the data lacks."""
    listed = kwargs.get("columns", kwargs.get("column_list"))
    if not isinstance(listed, list | tuple) or not listed:
        raise CheckRefused("The check names no columns. Add `columns`.")
    return [circumstances.shape.column(str(name)).name for name in listed]
