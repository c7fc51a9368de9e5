"""Ranges that a float would blur or a session's zone would shift: 64-bit integers, extremes of times."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged, number
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.rounding import rounded
from gates.contracts.engine.sql import identifier
from gates.contracts.engine.table import TIMES
from gates.contracts.engine.time_bounds import lower_bound, microseconds, upper_bound


def int64_between(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """Values of an integer column within decimal texts; at least the share `mostly` of those that are not null."""
    column = circumstances.column(kwargs)
    if column.kind not in ("integer", "decimal"):
        raise CheckRefused(
            f"Column {column.name!r} is {column.types[0]}: beyond 2^53 that does not hold every integer. "
            "Store it as int64, or use a range for floats."
        )
    name = identifier(column.name)
    outside = []
    if (low := _integer(kwargs, "min")) is not None:
        outside.append(f"{name} {'<=' if kwargs.get('strict_min') else '<'} {_literal(low)}")
    if (high := _integer(kwargs, "max")) is not None:
        outside.append(f"{name} {'>=' if kwargs.get('strict_max') else '>'} {_literal(high)}")
    if not outside:
        raise CheckRefused("A range needs min, max or both. Without any it says nothing.")
    mostly = number(kwargs, "mostly", 1.0)

    def judge(facts: Facts) -> Verdict:
        rows, filled = facts.profile.rows, facts.profile.filled[column.name]
        if filled == 0:
            return Verdict("not_evaluated", f"Column {column.name!r} has no value to judge.", rows=rows)
        count = facts.count("outside")
        share = rounded((filled - count) / filled)
        sentence = f"{count} of {filled} values of {column.name!r} lie outside."
        return judged(
            share >= mostly, sentence, observed=count, rows=rows, nulls=rows - filled, unexpected=count
        )

    return Measure(judge, {"outside": f"count_if({' OR '.join(outside)})"})


def extreme_between(which: str, kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """The earliest ("min") or latest ("max") time of a column within min_value and max_value."""
    column = circumstances.column(kwargs)
    if column.kind not in TIMES:
        raise CheckRefused(f"Column {column.name!r} holds no times.")
    low, high = kwargs.get("min_value"), kwargs.get("max_value")
    if low is None and high is None:
        raise CheckRefused("A range needs min_value, max_value or both. Without any it says nothing.")
    start = lower_bound(low, bool(kwargs.get("strict_min")), column) if low is not None else None
    end = upper_bound(high, bool(kwargs.get("strict_max")), column) if high is not None else None

    def judge(facts: Facts) -> Verdict:
        at = facts.values["extreme"]
        if not isinstance(at, int):
            return Verdict("not_evaluated", f"Column {column.name!r} has no value to judge.")
        late = start is None or at > microseconds(start[0]) or (at == microseconds(start[0]) and not start[1])
        early = end is None or at < microseconds(end[0]) or (at == microseconds(end[0]) and not end[1])
        word = "earliest" if which == "min" else "latest"
        place = "within" if late and early else "after" if late else "before"
        return judged(late and early, f"The {word} time of {column.name!r} lies {place} the bounds.")

    cast = f"CAST({identifier(column.name)} AS {'TIMESTAMPTZ' if column.kind == 'aware' else 'TIMESTAMP'})"
    return Measure(judge, {"extreme": f"epoch_us({which}({cast}))"})


def _literal(value: int) -> str:
    return f"CAST('{value}' AS HUGEINT)"


def _integer(kwargs: Mapping[str, object], key: str) -> int | None:
    value = kwargs.get(key)
    if value is None:
        return None
    try:
        exact = Decimal(str(value))
    except InvalidOperation:
        exact = Decimal("NaN")
    if isinstance(value, bool) or not exact.is_finite() or exact != exact.to_integral_value():
        raise CheckRefused(f"`{key}` has to be an integer, written as a decimal text.")
    if abs(exact) >= 2**127:
        raise CheckRefused(f"`{key}` is beyond 128 bits; no column holds such a value.")
    return int(exact)
