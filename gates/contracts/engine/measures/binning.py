"""Counts by bins and by labels that a baseline fixed, as SQL, and read back."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gates.contracts.engine.measures.measure import Circumstances, Facts, Verdict
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.sql import as_double, comparable, double_literal, identifier, literal_for
from gates.contracts.engine.table import NUMBERS, Column, Rows

_UNLISTED: Final = -1


@dataclass(frozen=True, slots=True)
class NumberBins:
    """k + 1 ascending edges; `counts` are k + 2: below the first edge, each bin, above the last.

    A bin holds its lower edge and not its upper one, but the last bin holds both.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The labels that a baseline lists, their counts, and the count of all others."""

    labels: tuple[object, ...]
    counts: tuple[int, ...]
    other: int


def bin_aggregates(column: Column, edges: Sequence[float]) -> dict[str, str]:
    """Counts of values below each edge, and up to the last: one comparison a value and edge. NaN is in none."""
    if column.kind not in NUMBERS:
        raise CheckRefused(f"Column {column.name!r} is {column.types[0]}; bins are of numbers.")
    value = as_double(column)
    # NaN sorts above every number, so that it is below no edge and not up to the last.
    below = {
        f"below_{place}": f"count_if({value} < {double_literal(edge)})" for place, edge in enumerate(edges)
    }
    return below | {"up_to_last": f"count_if({value} <= {double_literal(edges[-1])})"}


def read_bins(facts: Facts, column: str, edges: Sequence[float]) -> NumberBins:
    total = facts.profile.filled[column] - facts.profile.nans.get(column, 0)
    below = [facts.count(f"below_{place}") for place in range(len(edges))]
    marks = [*below[:-1], facts.count("up_to_last")]
    inner = [after - before for before, after in itertools.pairwise(marks)]
    return NumberBins(tuple(edges), (below[0], *inner, total - marks[-1]))


def label_query(column: Column, labels: Sequence[object]) -> str:
    """Rows (place in `labels` or -1, count), without nulls and NaN: labels themselves never leave the engine."""
    cases = " ".join(
        f"WHEN k = {literal} THEN {place}"
        for place, label in enumerate(labels)
        if (literal := literal_for(column, label)) is not None
    )
    name = identifier(column.name)
    some = f"{name} IS NOT NULL" + (f" AND NOT isnan({name})" if column.kind == "float" else "")
    place = f"CASE {cases} ELSE {_UNLISTED} END" if cases else str(_UNLISTED)
    return (
        f"SELECT {place} AS place, CAST(sum(n) AS BIGINT) FROM "
        f"(SELECT {comparable(column)} AS k, count(*) AS n FROM data WHERE {some} GROUP BY 1) GROUP BY 1"
    )


def read_labels(rows: Rows, labels: Sequence[object]) -> LabelCounts:
    found = {place: count for place, count in rows if isinstance(place, int) and isinstance(count, int)}
    counts = tuple(found.get(place, 0) for place in range(len(labels)))
    return LabelCounts(tuple(labels), counts, found.get(_UNLISTED, 0))


def baseline_column(circumstances: Circumstances, name: str) -> Mapping[str, object]:
    """What the baseline says about a column; CheckRefused when there is none."""
    if circumstances.baseline is None:
        raise CheckRefused("The check compares with a baseline, and none is given. Pin one in the contract.")
    columns = circumstances.baseline.get("columns")
    for column in columns if isinstance(columns, list | tuple) else ():
        if isinstance(column, Mapping) and column.get("name") == name:
            return column
    raise CheckRefused(f"The baseline says nothing about {name!r}. Make one that names this column.")


def baseline_bins(described: Mapping[str, object]) -> NumberBins | None:
    bins = described.get("bins")
    if not isinstance(bins, Mapping):
        return None
    edges = tuple(float(edge) for edge in bins["edges"])
    return NumberBins(edges, (int(bins["below"]), *(int(n) for n in bins["counts"]), int(bins["above"])))


def baseline_labels(described: Mapping[str, object]) -> LabelCounts | None:
    listed = described.get("labels")
    if not isinstance(listed, list | tuple):
        return None
    other = described.get("other")
    return LabelCounts(
        tuple(label for label, _ in listed),
        tuple(int(count) for _, count in listed),
        other if isinstance(other, int) else 0,
    )


def no_values(facts: Facts, column: str) -> Verdict | None:
    """A failed verdict when there is nothing to compare: no rows, or only nulls and NaN."""
    if facts.profile.filled[column] - facts.profile.nans.get(column, 0) > 0:
        return None
    rows = facts.profile.rows
    return Verdict("failed", f"Column {column!r} has no values to compare with the baseline.", rows=rows)
