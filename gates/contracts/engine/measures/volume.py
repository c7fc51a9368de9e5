"""Checks of the number of rows."""

from collections.abc import Mapping

from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged, number
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.rounding import rounded


def row_count_at_least_one(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    def judge(facts: Facts) -> Verdict:
        rows = facts.profile.rows
        return judged(rows >= 1, f"The data has {rows} rows.", observed=rows, rows=rows)

    return Measure(judge)


def row_count_between(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """GX's expect_table_row_count_to_be_between and …_to_equal, bounds included unless strict."""
    exact = kwargs.get("value")
    low = exact if exact is not None else kwargs.get("min_value")
    high = exact if exact is not None else kwargs.get("max_value")
    if low is None and high is None:
        raise CheckRefused("A row count needs min_value, max_value or both. Without any it says nothing.")
    for name, bound in (("min_value", low), ("max_value", high)):
        if bound is not None:
            number({name: bound}, name)

    def judge(facts: Facts) -> Verdict:
        rows = facts.profile.rows
        holds = _inside(rows, low, high, bool(kwargs.get("strict_min")), bool(kwargs.get("strict_max")))
        return judged(holds, f"The data has {rows} rows.", observed=rows, rows=rows)

    return Measure(judge)


def row_count_change(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """Rows divided by the rows of the baseline, within [min_ratio, max_ratio]."""
    low, high = kwargs.get("min_ratio"), kwargs.get("max_ratio")
    if low is None and high is None:
        raise CheckRefused("A change of volume needs min_ratio, max_ratio or both.")
    data = (circumstances.baseline or {}).get("data")
    before = data.get("rows") if isinstance(data, Mapping) else None
    if not isinstance(before, int) or before < 1:
        raise CheckRefused(
            "A change of volume needs a baseline with at least one row. Pin one in the contract."
        )

    def judge(facts: Facts) -> Verdict:
        rows = facts.profile.rows
        ratio = rounded(rows / before)
        sentence = f"The data has {rows} rows, {ratio:.4g} times the {before} of the baseline."
        return judged(_inside(ratio, low, high), sentence, observed=ratio, rows=rows)

    return Measure(judge)


def _inside(
    value: float, low: object, high: object, strict_low: bool = False, strict_high: bool = False
) -> bool:
    above = not isinstance(low, int | float) or (value > low if strict_low else value >= low)
    below = not isinstance(high, int | float) or (value < high if strict_high else value <= high)
    return above and below
