"""From a result of Great Expectations to a Finding: counts and statistics, never a value."""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from duckdb import Error as DuckDbError
from sqlalchemy.exc import DBAPIError

from gates.contracts.engine.duck_errors import explained
from gates.contracts.engine.gx_expectations import type_of
from gates.contracts.engine.refusals import without_values
from gates.contracts.engine.rounding import rounded
from gates.contracts.engine.table import Finding

if TYPE_CHECKING:
    from great_expectations.core.expectation_validation_result import ExpectationValidationResult

_OBSERVED: Final = frozenset(
    f"expect_column_{name}_to_be_{bound}"
    for name, bound in (
        *(
            (each, "between")
            for each in ("mean", "median", "stdev", "sum", "min", "max", "unique_value_count")
        ),
        ("proportion_of_unique_values", "between"),
        ("proportion_of_non_null_values", "between"),
        ("kl_divergence", "less_than"),
    )
)
"""Types whose observed value is a statistic. Those of others are values of the data, or lists of them."""


def finding_of(result: "ExpectationValidationResult") -> Finding:
    """Reads the counts that the answer was made of. `success` is a numpy.bool for some types, hence bool()."""
    raised = result.exception_info or {}
    if raised and raised.get("raised_exception") is not False:
        return Finding(success=False, error=_raised(raised))
    assert result.expectation_config is not None
    details: Mapping[str, Any] = result.result or {}
    named = type_of(result.expectation_config) in _OBSERVED
    return Finding(
        success=bool(result.success),
        observed=_statistic(details.get("observed_value")) if named else None,
        rows=_count(details.get("element_count")),
        nulls=_count(details.get("missing_count")),
        unexpected=_count(details.get("unexpected_count")),
    )


def sentence_of(error: BaseException) -> str:
    """Why a check raised, without a value of the data."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, DBAPIError) and isinstance(seen.orig, DuckDbError):
            return explained(seen.orig)
        if isinstance(seen, DuckDbError):
            return explained(seen)
        seen = seen.__cause__ or seen.__context__
    return f"Great Expectations refused the check: {without_values(str(error)) or type(error).__name__}"


def _raised(info: Mapping[str, Any]) -> str:
    """From exception_info: of the check itself, or of each metric that it needed."""
    entries = (
        [info] if "exception_message" in info else [each for each in info.values() if isinstance(each, dict)]
    )
    message = next((str(each["exception_message"]) for each in entries if each.get("exception_message")), "")
    if "duckdb." in message or "sqlalche.me" in message or "(_duckdb" in message:
        # GX keeps only texts; DuckDB's hold values.
        return "DuckDB could not compute what this check needs: the columns' types do not fit it, or a limit was met."
    return f"Great Expectations could not judge the check: {without_values(message) or 'it raised an error'}"


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float | Decimal) else None


def _statistic(value: object) -> float | int | None:
    """Numbers only: the greatest text or day would be a value of the data."""
    if isinstance(value, bool | str | datetime.date) or value is None:
        return None
    if isinstance(value, int):
        return value
    number = float(value) if isinstance(value, Decimal) or hasattr(value, "__float__") else None
    return None if number is None else rounded(number)
