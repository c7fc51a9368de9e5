"""Quantiles by one stated definition: engines differ in theirs, GX asks each for its own."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.rounding import rounded
from gates.contracts.engine.sql import as_double, identifier
from gates.contracts.engine.table import NUMBERS, Column

DEFINITION: Final = "linear between order statistics, Hyndman and Fan 1996 type 7, without nulls and NaN"


def quantile_expression(column: Column, quantiles: list[float]) -> str:
    """An aggregate that gives the list of quantiles; null without values."""
    if column.kind not in NUMBERS:
        raise CheckRefused(f"Column {column.name!r} is {column.types[0]}; quantiles are of numbers.")
    wanted = ", ".join(repr(float(each)) for each in quantiles)
    only_numbers = f" FILTER (WHERE NOT isnan({identifier(column.name)}))" if column.kind == "float" else ""
    return f"quantile_cont({as_double(column)}, [{wanted}]){only_numbers}"


def quantiles_between(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """Each quantile within its [low, high], both included; null is no bound. GX's `quantile_ranges` too."""
    column = circumstances.column(kwargs)
    nested = kwargs.get("quantile_ranges")
    source = nested if isinstance(nested, Mapping) else kwargs
    quantiles, ranges = source.get("quantiles"), source.get("ranges", source.get("value_ranges"))
    if not isinstance(quantiles, list | tuple) or not isinstance(ranges, list | tuple) or not quantiles:
        raise CheckRefused("Quantiles need two lists of the same length, `quantiles` and `ranges`.")
    if len(quantiles) != len(ranges) or not all(
        isinstance(each, list | tuple) and len(each) == 2 for each in ranges
    ):
        raise CheckRefused("Each of `quantiles` needs one range [low, high]; null stands for no bound.")
    wanted = [float(each) for each in quantiles if isinstance(each, int | float) and 0 <= each <= 1]
    if len(wanted) != len(quantiles) or any(a >= b for a, b in pairwise(wanted)):
        raise CheckRefused("`quantiles` have to be numbers from 0 to 1, ascending.")

    def judge(facts: Facts) -> Verdict:
        rows = facts.profile.rows
        found = facts.values["quantiles"]
        if not isinstance(found, list) or not found:
            return Verdict("not_evaluated", f"Column {column.name!r} has no value to judge.", rows=rows)
        values = [rounded(float(each)) for each in found]
        outside = [
            f"{quantile:g}"
            for quantile, value, (low, high) in zip(wanted, values, ranges, strict=True)
            if not (low if low is not None else -math.inf)
            <= value
            <= (high if high is not None else math.inf)
        ]
        shown = ", ".join(
            f"{quantile:g}: {value:.12g}" for quantile, value in zip(wanted, values, strict=True)
        )
        sentence = (
            f"The quantile {', '.join(outside)} lies outside its range." if outside else "All lie within."
        )
        return judged(
            not outside, sentence, observed=shown, rows=rows, nulls=facts.profile.nulls(column.name)
        )

    return Measure(judge, {"quantiles": quantile_expression(column, wanted)})
