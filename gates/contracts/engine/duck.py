"""DuckDB as the engine: a private database in memory that can read the given descriptors and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Final

import duckdb

from gates.contracts.engine import csv_table, great
from gates.contracts.engine.arrow_schema import parquet_shape
from gates.contracts.engine.duck_errors import explained
from gates.contracts.engine.opened import Limits, Source
from gates.contracts.engine.refusals import CheckRefused, DataUnreadable
from gates.contracts.engine.sql import identifier, text_literal
from gates.contracts.engine.table import Finding, Rows, Table, TableShape, ValueCheck

_PACKAGES: Final = ("duckdb", "great-expectations", "duckdb-sqlalchemy", "pyarrow")


class DuckDbTable:
    """Data open in one DuckDB connection: `data` is the whole, `head` its first rows for a trial."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, shape: TableShape) -> None:
        self._connection = connection
        self._shape = shape

    @property
    def shape(self) -> TableShape:
        return self._shape

    def select(self, sql: str) -> Rows:
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise CheckRefused(explained(error)) from None

    def select_rule(self, sql: str, table_name: str) -> Rows:
        try:
            statements = self._connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise CheckRefused(
                    "A SQL rule has to be exactly one SELECT statement. Split or rewrite the rule."
                )
            if table_name and table_name.casefold() not in ("data", "head", "data_rows"):
                self._connection.execute(
                    f"CREATE OR REPLACE VIEW {identifier(table_name)} AS SELECT * FROM data"
                )
            return self._connection.execute(statements[0]).fetchmany(2)
        except duckdb.Error as error:
            raise CheckRefused(explained(error)) from None

    def judge_values(self, checks: Sequence[ValueCheck], rows: int) -> Mapping[str, Finding]:
        return great.judge(self._connection, self._shape, checks, rows)


class DuckDbEngine:
    """The default engine: one machine, files of any size that its temporary folder can spill."""

    name = "duckdb"

    def versions(self) -> dict[str, str]:
        return {name: version(name) for name in _PACKAGES}

    @contextmanager
    def open(self, source: Source, limits: Limits) -> Iterator[Table]:
        if not source.files:
            raise DataUnreadable("There is no file to check. Name a file, or a folder that holds some.")
        connection = _locked(source, limits)
        try:
            yield DuckDbTable(connection, _load(connection, source))
        except duckdb.Error as error:
            raise DataUnreadable(explained(error)) from None
        finally:
            connection.close()


def _locked(source: Source, limits: Limits) -> duckdb.DuckDBPyConnection:
    """No file but the given descriptors and the temporary folder, no network, no extension, no way to change that."""
    connection = duckdb.connect(
        ":memory:",
        config={
            "autoload_known_extensions": False,
            "autoinstall_known_extensions": False,
            "allow_community_extensions": False,
            "memory_limit": f"{limits.memory_bytes}B",
            "threads": limits.threads,
            "temp_directory": str(limits.temp_folder),
            # All files of it together; what the kernel limits is each alone.
            "max_temp_directory_size": f"{limits.temp_bytes}B",
        },
    )
    addresses = ", ".join(text_literal(file.address) for file in source.files)
    # A session with another zone would shift what "2019-01-01" means for instants.
    connection.execute("SET TimeZone = 'UTC'")
    # Standard output belongs to the caller.
    connection.execute("SET enable_progress_bar = false")
    # Nothing here relies on the order of rows; keeping it costs memory.
    connection.execute("SET preserve_insertion_order = false")
    # With it DuckDB 2.0 believes a Parquet file's least and greatest values, which leave out NaN: isnan(x) is false
    # for every row, and x <= 10 true, where the statistics say so.
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    connection.execute(f"SET allowed_paths = [{addresses}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _load(connection: duckdb.DuckDBPyConnection, source: Source) -> TableShape:
    """Makes `data` and says what it looks like."""
    if source.format == "csv":
        return csv_table.load(connection, source)
    shape = parquet_shape(source.files)
    addresses = ", ".join(text_literal(file.address) for file in source.files)
    names = ", ".join(identifier(name) for name in query_names(shape))
    options = "hive_partitioning = false, union_by_name = false, binary_as_string = false"
    connection.execute(
        f"CREATE VIEW data AS SELECT * FROM read_parquet([{addresses}], {options}) AS files({names})"
    )
    return shape


def query_names(shape: TableShape) -> list[str]:
    """Column names that no two share, whatever their case: an ambiguous one gets its place, and is never asked for."""
    return [
        f"{column.name} (column {place})" if column.ambiguous else column.name
        for place, column in enumerate(shape.columns, start=1)
    ]
