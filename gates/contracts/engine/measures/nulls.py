"""Checks of what is missing: nulls, and NaN, which is neither a null nor a value within any range."""

from collections.abc import Mapping

from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged, number
from gates.contracts.engine.rounding import rounded


def null_share(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """Nulls divided by rows, at most `max`. Fails without rows. A NaN is not a null."""
    name = circumstances.column(kwargs).name
    highest = number(kwargs, "max")

    def judge(facts: Facts) -> Verdict:
        rows = facts.profile.rows
        if rows == 0:
            return Verdict("failed", "The data has no rows, so no share of nulls.", rows=0)
        nulls = facts.profile.nulls(name)
        share = rounded(nulls / rows)
        sentence = f"{nulls} of {rows} rows have no value in {name!r}: a share of {share:.4g}."
        return judged(share <= highest, sentence, observed=share, rows=rows, nulls=nulls, unexpected=nulls)

    return Measure(judge)


def no_nan(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    column = circumstances.column(kwargs)

    def judge(facts: Facts) -> Verdict:
        rows, nans = facts.profile.rows, facts.profile.nans.get(column.name, 0)
        sentence = f"{nans} of {rows} rows have NaN in {column.name!r}."
        return judged(nans == 0, sentence, observed=nans, rows=rows, unexpected=nans)

    return Measure(judge)
