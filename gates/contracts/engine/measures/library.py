"""The library metrics of the Open Data Contract Standard 3.1 (docs/data-quality.md of bitol-io's repository).

"Counts duplicate values": here the values, not null, that repeat another one, so values minus distinct values.
`unit: percent` is of all rows.
"""

from collections.abc import Mapping

from gates.contracts.engine.measures.keys import named_columns
from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged
from gates.contracts.engine.measures.operators import operator_test
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.rounding import rounded
from gates.contracts.engine.sql import identifier, one_of, text_literal
from gates.contracts.engine.table import Column


def library_metric(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """nullValues, missingValues, invalidValues, duplicateValues or rowCount, compared by an operator."""
    metric = kwargs.get("metric")
    test = operator_test(kwargs.get("operator"), kwargs.get("value"))
    percent = kwargs.get("unit") == "percent"
    if kwargs.get("unit") not in (None, "rows", "percent"):
        raise CheckRefused("`unit` has to be rows or percent.")
    columns, aggregate, query = _counted(metric, kwargs, circumstances)

    def judge(facts: Facts) -> Verdict:
        rows = facts.profile.rows
        if metric == "rowCount":
            return judged(test(rows), f"The data has {rows} rows.", observed=rows, rows=rows)
        if rows == 0:
            return Verdict("not_evaluated", "The data has no rows, so nothing was counted.", rows=0)
        count = facts.count("count") if query is None else _first(facts)
        value: float = rounded(100 * count / rows) if percent else count
        unit = " %" if percent else ""
        sentence = f"{metric} of {', '.join(map(repr, columns))} is {value:.12g}{unit} in {rows} rows."
        return judged(test(value), sentence, observed=value, rows=rows, unexpected=count)

    return Measure(
        judge,
        {} if aggregate is None else {"count": aggregate},
        {} if query is None else {"count": query},
    )


def _counted(
    metric: object, kwargs: Mapping[str, object], circumstances: Circumstances
) -> tuple[list[str], str | None, str | None]:
    """Column names, the aggregate or else the query that counts."""
    if metric == "rowCount":
        return [], None, None
    if metric == "duplicateValues":
        several = kwargs.get("columns")
        names = named_columns(kwargs, circumstances) if several else [circumstances.column(kwargs).name]
        return names, None, _duplicates(names)
    column = circumstances.column(kwargs)
    given = kwargs.get("arguments")
    arguments = given if isinstance(given, Mapping) else {}
    name = identifier(column.name)
    if metric == "nullValues":
        condition = f"{name} IS NULL"
    elif metric == "missingValues":
        condition = _missing(column, arguments.get("missingValues"))
    elif metric == "invalidValues":
        condition = f"{name} IS NOT NULL AND NOT ({_valid(column, arguments)})"
    else:
        raise CheckRefused(f"{metric!r} is no library metric of the standard.")
    return [column.name], f"count_if({condition})", None


def _missing(column: Column, values: object) -> str:
    if not isinstance(values, list | tuple) or not values:
        raise CheckRefused(
            "missingValues needs the argument missingValues: a list such as [null, '', 'N/A']."
        )
    listed = one_of(column, [value for value in values if value is not None])
    name = identifier(column.name)
    return (
        f"({name} IS NULL OR coalesce({listed}, false))" if None in values else f"coalesce({listed}, false)"
    )


def _valid(column: Column, arguments: Mapping[object, object]) -> str:
    values, pattern = arguments.get("validValues"), arguments.get("pattern")
    conditions = []
    if isinstance(values, list | tuple) and values:
        conditions.append(one_of(column, list(values)))
    if isinstance(pattern, str):
        text = f"CAST({identifier(column.name)} AS VARCHAR)"
        conditions.append(f"regexp_matches({text}, {text_literal(pattern)})")
    if not conditions:
        raise CheckRefused(
            "invalidValues needs the argument validValues (a list) or pattern (a regular expression)."
        )
    return " AND ".join(conditions)


def _duplicates(names: list[str]) -> str:
    keys = ", ".join(identifier(name) for name in names)
    complete = " AND ".join(f"{identifier(name)} IS NOT NULL" for name in names)
    return (
        "SELECT CAST(coalesce(sum(n - 1), 0) AS BIGINT) FROM "
        f"(SELECT count(*) AS n FROM data WHERE {complete} GROUP BY {keys} HAVING count(*) > 1)"
    )


def _first(facts: Facts) -> int:
    value = facts.rows["count"][0][0]
    return int(value) if isinstance(value, int) else 0
