"""A page far down a list costs what the first one costs, and a list is one statement."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from sqlmodel import Session

from models.bulk import insert_rows
from models.database import Database
from models.ledger.schema import upgrade
from models.lineage.queries import list_datasets
from models.lineage.run_queries import RunFilter, list_runs
from models.lineage.tables import DataSnapshot, Run, SnapshotName
from tests.models.test_run_state import make_row
from tests.support.databases import DatabaseUrls
from tests.support.facts import digest
from tests.support.postgres import SERVICE_ROLE, PostgresServer

PAGE = 10
PAGES = 1000
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
Query = Callable[[Session], list[Any]]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer
) -> Iterator[Database]:
    """Filled once for all: these tests only read."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('pages') / 'pages.sqlite3'}"
        urls = DatabaseUrls("sqlite", url, url)
    else:
        name = "pages"
        template = request.getfixturevalue("postgres_template")
        owner = postgres_server.create_database(name, template=template)
        urls = DatabaseUrls("postgresql", postgres_server.url(SERVICE_ROLE, name), owner)
    with filled(urls) as database:
        yield database


@contextmanager
def filled(urls: DatabaseUrls) -> Iterator[Database]:
    """Half as many runs again as page 1,000 needs, in two namespaces each; a data set of 5,000 snapshots."""
    owner = Database(urls.migration_url)
    if urls.dialect == "sqlite":
        upgrade(owner)
    database = Database(urls.service_url)
    runs = []
    for number in range(PAGE * PAGES * 3):
        run = make_row(number, "completed", NOW, 600)
        runs.append(run | {"namespace": "team-a" if number % 2 else "team-b", "team": f"team {number % 7}"})
    with database.connection() as connection:
        insert_rows(connection, Run, runs)
        insert_rows(connection, DataSnapshot, [make_snapshot_row(number) for number in range(5020)])
        insert_rows(connection, SnapshotName, [make_name_row(number) for number in range(5020)])
    with owner.connection() as connection:
        connection.execute(text("ANALYZE"))
    owner.dispose()
    yield database
    database.dispose()


def make_snapshot_row(number: int) -> dict[str, object]:
    return {
        "namespace": "team-a",
        "digest": digest(number),
        "dataset_name": "one of its names",
        "grade": "content",
        "position": number,
        "changed": number,
        "document": "{}",
    }


def make_name_row(number: int) -> dict[str, object]:
    return {
        "namespace": "team-a",
        "digest": digest(number),
        "dataset_namespace": "lake",
        "dataset_name": "a large one" if number < 5000 else f"small {number}",
        "position": number,
    }


@contextmanager
def statements_of(connection: Connection) -> Iterator[list[tuple[str, Any]]]:
    seen: list[tuple[str, Any]] = []

    def remember(_c: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        seen.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", remember)
    try:
        yield seen
    finally:
        event.remove(connection, "before_cursor_execute", remember)


def cost(database: Database, query: Query) -> int:
    """What one statement costs: instructions of SQLite's machine, or pages that PostgreSQL touched."""
    with database.read() as session:
        connection = session.connection()
        if database.dialect == "sqlite":
            return _instructions(connection, lambda: query(session))
        with statements_of(connection) as seen:
            query(session)
        ((statement, parameters),) = seen
        plan = _explained(connection, statement, parameters)
        return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


def _instructions(connection: Connection, run: Callable[[], object]) -> int:
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    driver: Any = connection.connection.driver_connection
    driver.set_progress_handler(tick, 1)
    try:
        run()
    finally:
        driver.set_progress_handler(None, 0)
    return count


def _explained(connection: Connection, statement: str, parameters: Any) -> dict[str, Any]:
    rows = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters)
    found = rows.scalar_one()
    plan: dict[str, Any] = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    return plan


def page_at(position: int | None, filters: RunFilter) -> Query:
    return lambda session: list_runs(session, "team-a", filters, NOW, position, PAGE)


@pytest.mark.parametrize("filters", [RunFilter(), RunFilter(job_namespace="ci", job="train")])
def test_page_1000_costs_what_page_1_costs(database: Database, filters: RunFilter) -> None:
    deep = PAGE * PAGES
    first, thousandth = cost(database, page_at(None, filters)), cost(database, page_at(deep, filters))
    assert thousandth <= first * 1.5
    with database.read() as session:
        runs = list_runs(session, "team-a", filters, NOW, deep, PAGE)
    assert [run.position for run in runs] == [deep - 1 - 2 * step for step in range(PAGE)]


def test_lists_are_one_statement(database: Database) -> None:
    queries: list[Query] = [
        page_at(None, RunFilter(team="team 3", state="completed")),
        lambda session: list_datasets(session, "team-a", None, 500),
    ]
    for query in queries:
        with database.read() as session, statements_of(session.connection()) as seen:
            assert query(session)
        assert len(seen) == 1


def test_large_dataset_costs_no_more_to_list_than_a_small_one(database: Database) -> None:
    def names(after: tuple[str, str] | None) -> Query:
        return lambda session: list_datasets(session, "team-a", after, 5)

    large, small = cost(database, names(None)), cost(database, names(("lake", "small 5007")))
    assert large <= small * 1.5


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_list_walks_the_index_on_postgresql(database: Database) -> None:
    with database.read() as session:
        with statements_of(session.connection()) as seen:
            page_at(PAGE * PAGES, RunFilter())(session)
        plan = _explained(session.connection(), *seen[0])
    assert plan["Node Type"] == "Limit"
    scan = plan["Plans"][0]
    assert (scan["Node Type"], scan["Index Name"]) == ("Index Scan", "ix_run_namespace_position")
    assert scan["Actual Rows"] == PAGE
