"""Great Expectations' execution engine for DuckDB, and the metrics of GX that DuckDB needs otherwise.

The registry of metrics looks for the name of the engine's class first, so each class below takes the place of GX's
own metric for this engine only.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from great_expectations.execution_engine.sqlalchemy_execution_engine import SqlAlchemyExecutionEngine
from great_expectations.expectations.metrics.map_metric_provider.column_condition_partial import (
    column_condition_partial,
)
from great_expectations.expectations.metrics.map_metric_provider.column_map_metric_provider import (
    ColumnMapMetricProvider,
)
from great_expectations.expectations.metrics.metric_provider import MetricProvider, metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from gates.contracts.engine.rounding import rounded

_VALUES = (".unexpected_values", ".unexpected_rows", ".unexpected_index_list", ".unexpected_value_counts")
_FLOATS = ("FLOAT", "DOUBLE", "REAL")
_COLUMN_DOMAIN = ("batch_id", "table", "column", "row_condition", "condition_parser")


class DuckDbExecutionEngine(SqlAlchemyExecutionEngine):
    """Answers every metric but the offending values themselves, which are never asked for."""

    def execute_query(self, query: Any) -> Any:  # noqa: ANN401 (as GX declares it: any selectable, any result)
        # GX reads rows after it gave the connection back; a frozen result has them all.
        with self.get_connection() as connection:
            return self._execute_query_with_recovery(connection, query).freeze()()

    def resolve_metrics(
        self,
        metrics_to_resolve: Iterable[Any],
        metrics: Any = None,  # noqa: ANN401 (GX's own loose types)
        runtime_configuration: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        wanted = list(metrics_to_resolve)
        allowed = [metric for metric in wanted if not metric.metric_name.endswith(_VALUES)]
        found = super().resolve_metrics(allowed, metrics, runtime_configuration)
        # Two threads add up doubles in another order each time: only digits that stay the same are judged.
        for key, value in found.items():
            if isinstance(value, float):
                found[key] = rounded(value)
        return found | {metric.id: [] for metric in wanted if metric.metric_name.endswith(_VALUES)}


class _ColumnTypes(TableMetricProvider):
    """One look at the view. GX reflects keys, comments and defaults too, by queries over all of DuckDB's catalogue."""

    metric_name = "table.column_types"
    value_keys = ("include_nested",)
    default_kwarg_values: dict[str, Any] = {"include_nested": True}

    @metric_value(engine=DuckDbExecutionEngine)
    def _sqlalchemy(
        cls,
        execution_engine: DuckDbExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        **_: object,
    ) -> list[dict[str, str]]:
        rows, _compute, _accessor = execution_engine.get_compute_domain(metric_domain_kwargs, "table")
        described = execution_engine.execute_query(sa.text(f"DESCRIBE {rows}"))
        return [{"name": name, "type": type} for name, type, *_others in described]


class _Between(ColumnMapMetricProvider):
    """NaN lies in no range; DuckDB sorts it above every number, so that an upper bound alone keeps it out."""

    condition_metric_name = "column_values.between"
    condition_value_keys = ("min_value", "max_value", "strict_min", "strict_max")

    @column_condition_partial(engine=DuckDbExecutionEngine)
    def _sqlalchemy(
        cls,
        column: Any,  # noqa: ANN401
        min_value: object = None,
        max_value: object = None,
        strict_min: bool | None = None,
        strict_max: bool | None = None,
        **others: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        inside = []
        if min_value is not None:
            inside.append(column > min_value if strict_min else column >= min_value)
        if max_value is not None:
            inside.append(column < max_value if strict_max else column <= max_value)
        types = {each["name"]: each["type"] for each in others["_metrics"]["table.column_types"]}
        if max_value is None and types.get(str(column.name), "").startswith(_FLOATS):
            inside.append(sa.not_(sa.func.isnan(column)))
        return sa.and_(*inside)


class _MatchesRegex(ColumnMapMetricProvider):
    """RE2, anywhere in the text: GX has no expression for DuckDB's dialect."""

    condition_metric_name = "column_values.match_regex"
    condition_value_keys = ("regex",)

    @column_condition_partial(engine=DuckDbExecutionEngine)
    def _sqlalchemy(cls, column: Any, regex: str, **_: object) -> Any:  # noqa: ANN401
        return sa.func.regexp_matches(column, sa.literal(regex))


class _DoesNotMatchRegex(ColumnMapMetricProvider):
    condition_metric_name = "column_values.not_match_regex"
    condition_value_keys = ("regex",)

    @column_condition_partial(engine=DuckDbExecutionEngine)
    def _sqlalchemy(cls, column: Any, regex: str, **_: object) -> Any:  # noqa: ANN401
        return sa.not_(sa.func.regexp_matches(column, sa.literal(regex)))


class _MatchesRegexList(ColumnMapMetricProvider):
    condition_metric_name = "column_values.match_regex_list"
    condition_value_keys = ("regex_list", "match_on")

    @column_condition_partial(engine=DuckDbExecutionEngine)
    def _sqlalchemy(
        cls,
        column: Any,  # noqa: ANN401
        regex_list: list[str],
        match_on: str | None = None,
        **_: object,
    ) -> Any:  # noqa: ANN401
        matches = [sa.func.regexp_matches(column, sa.literal(regex)) for regex in regex_list]
        return sa.and_(*matches) if match_on == "all" else sa.or_(*matches)


class _DoesNotMatchRegexList(ColumnMapMetricProvider):
    condition_metric_name = "column_values.not_match_regex_list"
    condition_value_keys = ("regex_list",)

    @column_condition_partial(engine=DuckDbExecutionEngine)
    def _sqlalchemy(cls, column: Any, regex_list: list[str], **_: object) -> Any:  # noqa: ANN401
        return sa.and_(*(sa.not_(sa.func.regexp_matches(column, sa.literal(regex))) for regex in regex_list))


class _RepeatedValues(MetricProvider):
    """Rows whose value appears more than once. GX counts over windows, which holds every row in memory."""

    metric_name = "column_values.unique.unexpected_count"
    domain_keys = _COLUMN_DOMAIN
    value_keys = ()

    @metric_value(engine=DuckDbExecutionEngine)
    def _sqlalchemy(
        cls,
        execution_engine: DuckDbExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        **_: object,
    ) -> int:
        rows, _compute, accessor = execution_engine.get_compute_domain(metric_domain_kwargs, "column")
        column: Any = sa.column(str(accessor["column"]))
        groups = (
            sa.select(sa.func.count().label("n"))
            .select_from(rows)
            .where(column.is_not(None))
            .group_by(column)
            .having(sa.func.count() > 1)
            .subquery()
        )
        total = execution_engine.execute_query(sa.select(sa.func.coalesce(sa.func.sum(groups.c.n), 0)))
        return int(total.scalar())


class _Median(MetricProvider):
    """DuckDB's exact median; GX sorts the column and jumps to the middle."""

    metric_name = "column.median"
    domain_keys = _COLUMN_DOMAIN
    value_keys = ()

    @metric_value(engine=DuckDbExecutionEngine)
    def _sqlalchemy(
        cls,
        execution_engine: DuckDbExecutionEngine,
        metric_domain_kwargs: Mapping[str, Any],
        **_: object,
    ) -> float | None:
        rows, _compute, accessor = execution_engine.get_compute_domain(dict(metric_domain_kwargs), "column")
        column: Any = sa.column(str(accessor["column"]))
        found = execution_engine.execute_query(
            sa.select(sa.func.median(sa.cast(column, sa.Double))).select_from(rows)
        ).scalar()
        return None if found is None else rounded(float(found))
