"""Checks that hold for any data unless a contract waives them by id: what Great Expectations lets pass in silence."""

from typing import Final

from gates.contracts.engine.suite import Check, SuiteObject
from gates.contracts.engine.table import TableShape

ROWS: Final = "row_count_at_least_one"
SCHEMA: Final = "schema_to_match"
NAN: Final = "no_nan"
SCHEMA_TYPE: Final = "expect_schema_to_match"


def implicit_checks(stated: SuiteObject, shape: TableShape | None) -> tuple[Check, ...]:
    """At least one row; the stated schema, or at least no name twice; no NaN in any float column.

    Without a shape (the data could not be read) only the checks that do not depend on it.
    """
    columns = () if shape is None else shape.columns
    wanted = [Check(ROWS, "expect_row_count_at_least_one", {}, implicit=True)]
    if stated.columns is not None or any(column.ambiguous for column in columns):
        # What a contract says about its columns is not implicit: it is stated.
        wanted.append(Check(SCHEMA, SCHEMA_TYPE, {}, implicit=stated.columns is None))
    wanted += [
        Check(f"{NAN}:{column.name}", "expect_no_nan", {"column": column.name}, implicit=True)
        for column in columns
        if column.kind == "float" and not column.ambiguous
    ]
    present = {check.id for check in stated.checks}
    types = {check.type for check in stated.checks} & {"expect_row_count_at_least_one", SCHEMA_TYPE}
    return tuple(
        check
        for check in wanted
        if check.id not in stated.waived and check.id not in present and check.type not in types
    )
