"""Baselines: what data was like when it was right, to compare later data with."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

from gates.contracts.engine.duck import DuckDbEngine
from gates.contracts.engine.measures.binning import bin_aggregates
from gates.contracts.engine.measures.quantiles import DEFINITION, quantile_expression
from gates.contracts.engine.opened import Format, Limits, OpenFile, Source
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.results import plain_number
from gates.contracts.engine.rounding import rounded
from gates.contracts.engine.sql import identifier
from gates.contracts.engine.table import NUMBERS, Column, Engine, Table
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue
from shipworthy.formats.manifest import ManifestEntry, manifest_bytes

MOST_LABELS: Final = 200
MOST_BINS: Final = 100
_LONGEST_LABEL: Final = 200
"""Characters; longer values count as "other": such a column holds texts, not labels."""
_QUANTILES: Final = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def make_baseline(
    files: Sequence[OpenFile],
    format: Format,
    numbers: Sequence[str],
    labels: Sequence[str],
    bins: int,
    limits: Limits,
    engine: Engine | None = None,
) -> dict[str, JsonValue]:
    """The baseline of the named columns. Bins hold about as many values each; fewer where values repeat.

    Only columns named as labels get their values listed. Raises CheckRefused (DataUnreadable among them) when a
    column is missing or of another kind, or the data has no rows.
    """
    if not 2 <= bins <= MOST_BINS:
        raise CheckRefused(f"`bins` has to be from 2 to {MOST_BINS}.")
    if not numbers and not labels:
        raise CheckRefused("A baseline describes columns: name some as numbers or labels.")
    if twice := sorted(set(numbers) & set(labels)):
        raise CheckRefused(f"{', '.join(twice)} can't be both numbers and labels. Choose one.")
    chosen = engine or DuckDbEngine()
    with chosen.open(Source(files, format), limits) as table:
        rows = int(str(table.select("SELECT count(*) FROM data")[0][0]))
        if rows == 0:
            raise CheckRefused("The data has no rows, so it is no baseline.")
        columns: list[JsonValue] = [_number(table, table.shape.column(name), bins) for name in numbers]
        columns += [_labels(table, table.shape.column(name)) for name in labels]
        schema_digest = table.shape.schema_digest
    entries = [ManifestEntry(file.path, file.size, file.sha256) for file in files]
    data: dict[str, JsonValue] = {
        "manifest": sha256_digest(manifest_bytes(entries)),
        "schema_digest": schema_digest,
        "rows": rows,
        "files": len(files),
    }
    return {
        "schema": "shipworthy.baseline/1",
        "data": data,
        "engine": {"name": chosen.name, "version": chosen.versions()[chosen.name]},
        "columns": columns,
    }


def _number(table: Table, column: Column, bins: int) -> dict[str, JsonValue]:
    if column.kind not in NUMBERS:
        raise CheckRefused(f"Column {column.name!r} is {column.types[0]}, no number. Name it as a label.")
    shares = [place / bins for place in range(bins + 1)]
    counted = _counts(table, column)
    asked = sorted({*shares, *_QUANTILES})
    found = table.select(f"SELECT {quantile_expression(column, asked)} FROM data")[0][0]
    by_share = dict(zip(asked, found, strict=True)) if isinstance(found, list) else {}
    quantiles: dict[str, JsonValue] = {
        f"{share:g}": plain_number(rounded(float(by_share[share])))
        for share in _QUANTILES
        if share in by_share
    }
    finite = [float(by_share[share]) for share in shares if share in by_share]
    edges = sorted({edge for edge in finite if abs(edge) != float("inf")})
    described: dict[str, JsonValue] = {
        "name": column.name,
        "kind": "number",
        **counted,
        "bins": _bins(table, column, edges) if edges else None,
        "labels": None,
        "other": 0,
        "quantiles": {"definition": DEFINITION, "values": quantiles} if quantiles else None,
    }
    return described


def _bins(table: Table, column: Column, edges: list[float]) -> dict[str, JsonValue]:
    """The counts between the edges; a single value is one bin from itself to itself."""
    edges = edges if len(edges) > 1 else [edges[0], edges[0]]
    aggregates = bin_aggregates(column, edges)
    numbers_only = f"WHERE NOT isnan({identifier(column.name)})" if column.kind == "float" else ""
    total = (
        f"count({identifier(column.name)}) FILTER ({numbers_only})"
        if numbers_only
        else f"count({identifier(column.name)})"
    )
    found = [
        int(str(value))
        for value in table.select(f"SELECT {', '.join([*aggregates.values(), total])} FROM data")[0]
    ]
    *below, up_to_last, values = found
    marks = [*below[:-1], up_to_last]
    counts: list[JsonValue] = [after - before for before, after in itertools.pairwise(marks)]
    return {"edges": list(edges), "counts": counts, "below": below[0], "above": values - up_to_last}


def _labels(table: Table, column: Column) -> dict[str, JsonValue]:
    name = identifier(column.name)
    shown = name if column.kind in ("integer", "boolean", "text") else f"CAST({name} AS VARCHAR)"
    if column.kind in ("float", "decimal"):
        # 1.0 is the label 1: the same data read as integers has the same baseline.
        integral = f"CAST(TRY_CAST({name} AS HUGEINT) AS VARCHAR)"
        shown = f"CASE WHEN {name} = trunc({name}) THEN {integral} ELSE CAST({name} AS VARCHAR) END"
    some = f"{name} IS NOT NULL" + (f" AND NOT isnan({name})" if column.kind == "float" else "")
    short = f" AND length(CAST({name} AS VARCHAR)) <= {_LONGEST_LABEL}"
    found = table.select(
        f"SELECT {shown} AS label, count(*) AS n FROM data WHERE {some}{short} GROUP BY 1 "
        f"ORDER BY n DESC, label LIMIT {MOST_LABELS}"
    )
    listed: list[JsonValue] = [[_label(label), int(str(count))] for label, count in found]
    counted = _counts(table, column)
    named = sum(int(str(count)) for _, count in found)
    values = int(str(counted["n"])) - int(str(counted["nulls"])) - int(str(counted["nans"]))
    return {
        "name": column.name,
        "kind": "label",
        **counted,
        "bins": None,
        "labels": listed,
        "other": values - named,
        "quantiles": None,
    }


def _counts(table: Table, column: Column) -> Mapping[str, JsonValue]:
    """n (all rows), nulls, nans, distinct (values that are not null)."""
    name = identifier(column.name)
    nans = f"count_if(isnan({name}))" if column.kind == "float" else "0"
    found = table.select(
        f"SELECT count(*), count(*) - count({name}), {nans}, count(DISTINCT {name}) FROM data"
    )[0]
    n, nulls, not_numbers, distinct = (int(str(value)) for value in found)
    return {"n": n, "nulls": nulls, "nans": not_numbers, "distinct": distinct}


def _label(value: object) -> JsonValue:
    return (
        value
        if isinstance(value, bool | str)
        else plain_number(value)
        if isinstance(value, int)
        else str(value)
    )
