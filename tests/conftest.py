"""Fixtures that every test may ask for: databases, real ones."""

import gc
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests.support.compiled import share_compiled
from tests.support.databases import DatabaseUrls, sqlite_copy
from tests.support.memory import roomy_memory
from tests.support.postgres import SERVICE_ROLE, PostgresServer
from tests.support.service import RunningService, running_service
from tests.support.templates import prepare_template

_LIVE_FOLDER = Path(__file__).parent / "live"
_TEMPLATE = "shipworthy_template"
_numbers = itertools.count(1)


def pytest_configure() -> None:
    """Let `tmp_path` lie in memory (tests/live/test_durability.py takes the disk all the same), and tracebacks be
    short: the default draws every local value of every frame, for seconds."""
    structlog.configure(
        processors=[
            *structlog.get_config()["processors"][:-1],
            structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
        ]
    )
    share_compiled()
    memory = roomy_memory()
    if memory is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
    gc.disable()


def pytest_collection_finish() -> None:
    """A million objects of imported modules and collected tests are never garbage: to walk over them again and again
    was a sixth of all processor time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies under tests/live: a forgotten marker would put a minute into `make test`."""
    for item in items:
        if item.path.is_relative_to(_LIVE_FOLDER):
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server for each pytest process, so with xdist for each worker: nothing to agree on or to lock."""
    server = PostgresServer.start(fsync=False, parent=roomy_memory())
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> str:
    """The name of the database that tests copy."""
    prepare_template(postgres_server.create_database(_TEMPLATE), SERVICE_ROLE)
    postgres_server.make_template(_TEMPLATE)
    return _TEMPLATE


@pytest.fixture
def postgresql_urls(postgres_server: PostgresServer, postgres_template: str) -> Iterator[DatabaseUrls]:
    """A new PostgreSQL database, a copy of the template; dropped after the test."""
    name = f"test_{next(_numbers)}"
    owner_url = postgres_server.create_database(name, template=postgres_template)
    yield DatabaseUrls("postgresql", postgres_server.url(SERVICE_ROLE, name), owner_url, is_migrated=True)
    postgres_server.drop_database(name)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that tests copy."""
    path = tmp_path_factory.mktemp("template") / "shipworthy.sqlite3"
    prepare_template(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_urls(sqlite_template: Path, tmp_path: Path) -> DatabaseUrls:
    """A new SQLite database, a copy of the template."""
    return sqlite_copy(sqlite_template, tmp_path / "shipworthy.sqlite3")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_urls(request: pytest.FixtureRequest) -> DatabaseUrls:
    """A new database; the test runs twice, as [sqlite] and as [postgresql]."""
    urls: DatabaseUrls = request.getfixturevalue(f"{request.param}_urls")
    return urls


@pytest.fixture
def service(database_urls: DatabaseUrls, tmp_path: Path) -> Iterator[RunningService]:
    """The running service over a new database: `service.client("recorder", namespace="team-a")`."""
    with running_service(database_urls, tmp_path / "data") as running:
        yield running


@pytest.fixture
def sqlite_service(sqlite_urls: DatabaseUrls, tmp_path: Path) -> Iterator[RunningService]:
    """For what passes through HTTP but doesn't depend on which database."""
    with running_service(sqlite_urls, tmp_path / "data") as running:
        yield running
