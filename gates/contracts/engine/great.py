"""Great Expectations on an open DuckDB connection: values in, one finding for each check out, no value of the data.

Each run has an ephemeral context to itself while it runs: a shared asset gave wrong answers under threads. Counts
come with the answer in one pass; the execution engine gives no offending value, so that no query for one is ever made.
"""

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal

# Read at import: no usage events, which would leave the machine.
os.environ["GX_ANALYTICS_ENABLED"] = "false"

import duckdb
import great_expectations as gx
import sqlalchemy as sa
from duckdb_sqlalchemy import ConnectionWrapper
from great_expectations.compatibility.pydantic import PrivateAttr
from great_expectations.core.batch_definition import BatchDefinition
from great_expectations.datasource.fluent.interfaces import Batch
from great_expectations.datasource.fluent.sql_datasource import SQLDatasource
from sqlalchemy.pool import StaticPool

from gates.contracts.engine.findings import finding_of, sentence_of
from gates.contracts.engine.gx_expectations import expectation
from gates.contracts.engine.gx_metrics import DuckDbExecutionEngine
from gates.contracts.engine.gx_values import prepared
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.table import Finding, TableShape, ValueCheck

TRIAL_ROWS: Final = 1_000
_SMALL_ROWS: Final = 100_000
"""Up to here asking again costs no more than a trial does."""
_TABLES: Final = ("data", "head")
_ID: Final = "shipworthy"
"""Our key in an expectation's meta: results come back in another order than they were asked in."""


class DuckDbDatasource(SQLDatasource):
    """Gives GX our connection, which is locked already; it never opens one of its own."""

    type: Literal["shipworthy_duckdb"] = "shipworthy_duckdb"  # type: ignore[assignment]
    _ours: Any = PrivateAttr(None)

    def use(self, engine: sa.Engine) -> None:
        # A temporary table would be a copy of all the data.
        self._ours = DuckDbExecutionEngine(engine=engine, create_temp_table=False)

    def drop(self) -> None:
        self._ours = None

    def get_engine(self) -> sa.Engine:
        engine: sa.Engine = self._ours.engine
        return engine

    def get_execution_engine(self) -> DuckDbExecutionEngine:
        execution_engine: DuckDbExecutionEngine = self._ours
        return execution_engine

    def test_connection(self, test_assets: bool = True) -> None:
        """Nothing to try: the connection is open."""


class _Session:
    """One ephemeral context with its two tables declared, for one connection at a time.

    Great Expectations writes its whole configuration out as YAML at each declaration: 70 ms of processor time that a
    process forked from one that has an idle session need not spend.
    """

    def __init__(self) -> None:
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}  # type: ignore[assignment]
        add = context.data_sources.add_shipworthy_duckdb
        self._datasource: DuckDbDatasource = add(name="duckdb", connection_string="duckdb://")
        self._tables: dict[str, BatchDefinition[Any]] = {}
        with duckdb.connect(":memory:") as scratch, self.over(scratch):
            for table in _TABLES:
                scratch.execute(f"CREATE TABLE {table} (nothing INTEGER)")
                asset = self._datasource.add_table_asset(name=table, table_name=table)
                self._tables[table] = asset.add_batch_definition_whole_table(table)

    @contextmanager
    def over(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Within the block all is asked of this connection. What was learnt of another's tables is forgotten."""
        engine = sa.create_engine(
            "duckdb://",
            creator=lambda: ConnectionWrapper(connection),
            poolclass=StaticPool,
            # GX reads on after the end of a transaction.
            isolation_level="AUTOCOMMIT",
        )
        self._datasource.use(engine)
        try:
            yield
        finally:
            self._datasource.drop()

    def batch(self, table: str) -> Batch:
        return self._tables[table].get_batch()

    def ask(self, batch: Batch, checks: Iterable[ValueCheck]) -> dict[str, Finding]:
        """May raise anything that GX raises; then nothing is known about any of the checks."""
        expectations = [expectation(check.type, check.kwargs, {_ID: check.id}) for check in checks]
        suite = gx.ExpectationSuite(name=uuid.uuid4().hex, expectations=expectations)
        result = batch.validate(suite, result_format="BASIC")
        return {
            str((each.expectation_config.meta or {})[_ID]): finding_of(each)
            for each in result.results
            if each.expectation_config is not None
        }

    def ask_alone(self, batch: Batch, check: ValueCheck) -> Finding:
        # GX raises what its code and any metric's code raise: this is the border that keeps one check's error
        # from becoming all checks' error.
        try:
            answers = self.ask(batch, [check])
        except Exception as error:  # noqa: BLE001
            return Finding(success=False, error=sentence_of(error))
        return answers.get(check.id) or Finding(
            success=False, error="Great Expectations gave no answer to this check."
        )

    def ask_each_if_needed(self, batch: Batch, checks: Sequence[ValueCheck]) -> dict[str, Finding]:
        """All in one graph, so that aggregates share one query; those without an answer once more, alone."""
        try:
            answers = self.ask(batch, checks) if checks else {}
        except Exception:  # noqa: BLE001 (the same border)
            answers = {}
        for check in checks:
            found = answers.get(check.id)
            if found is None or found.error is not None:
                answers[check.id] = self.ask_alone(batch, check)
        return answers


_idle: Final[list[_Session]] = []


def judge(
    connection: duckdb.DuckDBPyConnection, shape: TableShape, checks: Sequence[ValueCheck], rows: int
) -> Mapping[str, Finding]:
    """A finding for every check. A trial on the first rows keeps a check that raises away from the others."""
    findings: dict[str, Finding] = {}
    ready: list[ValueCheck] = []
    for check in checks:
        try:
            ready.append(ValueCheck(check.id, check.type, prepared(check, shape)))
        except CheckRefused as refused:
            findings[check.id] = Finding(success=False, error=refused.reason)
    if not ready:
        return findings
    with _session(connection) as session:
        together = ready
        if rows > _SMALL_ROWS:
            connection.execute(f"CREATE OR REPLACE TABLE head AS SELECT * FROM data LIMIT {TRIAL_ROWS}")
            tried = session.ask_each_if_needed(session.batch("head"), ready)
            together = [check for check in ready if tried[check.id].error is None]
        batch = session.batch("data")
        findings |= session.ask_each_if_needed(batch, together)
        for check in ready:
            if check.id not in findings:
                findings[check.id] = session.ask_alone(batch, check)
    return findings


@contextmanager
def _session(connection: duckdb.DuckDBPyConnection) -> Iterator[_Session]:
    """An idle session or a new one; nobody else has it within the block."""
    try:
        session = _idle.pop()
    except IndexError:
        session = _Session()
    with session.over(connection):
        yield session
    _idle.append(session)
