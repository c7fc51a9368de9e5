"""Runs measures on a table: every aggregate in one pass, then grouped queries; errors stay with their own check."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gates.contracts.engine.measures.measure import Facts, Measure, Verdict
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.sql import identifier
from gates.contracts.engine.table import Profile, Rows, Table


@dataclass(frozen=True, slots=True)
class Measured:
    profile: Profile
    verdicts: Mapping[str, Verdict]


def measure(
    table: Table, measures: Mapping[str, Measure], columns: Collection[str], guessed: Collection[str] = ()
) -> Measured:
    """The profile of the named columns, and a verdict for each measure by its key.

    `guessed` are those columns whose number of distinct values is wanted.
    Raises CheckRefused when not even the rows can be counted.
    """
    described = [column for column in table.shape.columns if column.name in columns and not column.ambiguous]
    basis = {"rows": "count(*)"}
    for column in described:
        basis[f"filled:{column.name}"] = f"count({identifier(column.name)})"
        if column.kind == "float":
            basis[f"nans:{column.name}"] = f"count_if(isnan({identifier(column.name)}))"
        if column.name in guessed:
            basis[f"distinct:{column.name}"] = f"approx_count_distinct({identifier(column.name)})"
    wanted = {
        (key, name): expression
        for key, each in measures.items()
        for name, expression in each.aggregates.items()
    }
    try:
        found = _aggregated(table, [*basis.values(), *wanted.values()])
    except CheckRefused:
        # One expression that does not fit spoils the query: then each measure is asked alone.
        found = _aggregated(table, list(basis.values()))
        wanted = {}
    profile = _profile(dict(zip(basis, found, strict=False)))
    together = dict(zip(wanted, found[len(basis) :], strict=True))
    verdicts = {}
    for key, each in measures.items():
        own = {name: together[key, name] for name in each.aggregates} if wanted else None
        verdicts[key] = _verdict(table, each, profile, own)
    return Measured(profile, verdicts)


def _verdict(table: Table, each: Measure, profile: Profile, own: Mapping[str, object] | None) -> Verdict:
    try:
        if own is None:
            found = _aggregated(table, list(each.aggregates.values())) if each.aggregates else ()
            own = dict(zip(each.aggregates, found, strict=True))
        rows: dict[str, Rows] = {name: table.select(query) for name, query in each.queries.items()}
        return each.judge(Facts(profile, own, rows))
    except CheckRefused as refused:
        return Verdict("error", refused.reason)


def _aggregated(table: Table, expressions: Sequence[str]) -> tuple[object, ...]:
    rows = table.select(f"SELECT {', '.join(expressions)} FROM data")
    return rows[0]


def _profile(basis: Mapping[str, object]) -> Profile:
    numbers = {name: int(value) for name, value in basis.items() if isinstance(value, int)}

    def named(kind: str) -> dict[str, int]:
        return {name.removeprefix(kind): value for name, value in numbers.items() if name.startswith(kind)}

    return Profile(numbers["rows"], named("filled:"), named("nans:"), named("distinct:"))
