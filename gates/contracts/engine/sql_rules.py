"""A contract's own SQL: off unless the worker allows it, one SELECT, one number back."""

from collections.abc import Mapping
from decimal import Decimal

from gates.contracts.engine.measures.measure import Verdict, judged
from gates.contracts.engine.measures.operators import operator_test
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.rounding import rounded
from gates.contracts.engine.table import Table


def judge_rule(table: Table, kwargs: Mapping[str, object], table_name: str, rows: int) -> Verdict:
    """`query` names the table by the object's name or `data`. A truth value counts as 0 or 1."""
    try:
        test = operator_test(kwargs.get("operator"), kwargs.get("value"))
        query = kwargs.get("query")
        if not isinstance(query, str):
            raise CheckRefused("The SQL rule has no query. Add `query`.")
        answer = table.select_rule(query, table_name)
        if len(answer) != 1 or len(answer[0]) != 1:
            raise CheckRefused("A SQL rule has to give exactly one row with one number.")
        value = answer[0][0]
        if not isinstance(value, int | float | Decimal):
            raise CheckRefused("A SQL rule has to give a number or a truth value, such as count(*).")
    except CheckRefused as refused:
        return Verdict("error", refused.reason, rows=rows)
    number = rounded(float(value)) if isinstance(value, float | Decimal) else int(value)
    return judged(test(number), f"The query gives {number:.12g}.", observed=number, rows=rows)
