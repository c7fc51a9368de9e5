"""Empty ledgers, ledgers that hold a varied history, on either database, and somebody who rewrites them."""

import itertools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Connection, text

from models.database import Database
from models.keys.key_files import KeyRing, create_key_files, load_key_files
from models.ledger.findings import Report
from models.ledger.fsck import fsck
from models.ledger.head import HeadFile
from models.ledger.opening import open_ledger
from models.ledger.schema import LEDGER_TABLES
from models.ledger.writer import Ledger
from tests.support.attempt_history import write_attempts
from tests.support.databases import DatabaseUrls, sqlite_copy
from tests.support.gate_history import write_gates
from tests.support.histories import History, write_history
from tests.support.postgres import SERVICE_ROLE, PostgresServer
from tests.support.promotion_history import write_promotions
from tests.support.slo_history import write_slos
from tests.support.templates import migrated

_numbers = itertools.count(1)


@pytest.fixture
def database(database_urls: DatabaseUrls) -> Iterator[Database]:
    """A database with its tables and nothing in them."""
    database = migrated(database_urls)
    yield database
    database.dispose()


@pytest.fixture
def key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


@pytest.fixture
def ledger(database: Database, key: Ed25519PrivateKey) -> Iterator[Ledger]:
    opened = open_ledger(database, key, None)
    yield opened
    opened.close()


@dataclass(frozen=True)
class Written:
    """A database with a history (tests/support/histories.py) and nobody who writes to it."""

    urls: DatabaseUrls
    database: Database
    ring: KeyRing
    head_file: HeadFile

    def checked(self) -> Report:
        return fsck(self.database, self.ring.log_key, self.head_file)

    def rewrite(self, *statements: str, **values: object) -> None:
        """Changes rows past the guards, as the owner of the tables can, and puts the guards back."""
        owner = Database(self.urls.migration_url)
        try:
            with owner.connection() as connection:
                triggers = _switch_off(connection)
                for statement in statements:
                    assert connection.execute(text(statement), values).rowcount > 0
                for statement in triggers:
                    connection.exec_driver_sql(statement)
        finally:
            owner.dispose()


def _switch_off(connection: Connection) -> list[str]:
    """Disables the guards of the ledger's tables and gives the statements that bring them back."""
    if connection.dialect.name == "postgresql":
        for table in LEDGER_TABLES:
            connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        return [
            f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_{name}"
            for table in LEDGER_TABLES
            for name in ("no_change", "no_truncate")
        ]
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    triggers = connection.exec_driver_sql(query).all()
    for name, _ in triggers:
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    return [sql for _, sql in triggers]


@contextmanager
def _opened(urls: DatabaseUrls, folder: Path) -> Iterator[Written]:
    database = Database(urls.service_url)
    yield Written(urls, database, load_key_files(folder / "keys"), HeadFile(folder / "log-head"))
    database.dispose()


def _write(urls: DatabaseUrls, folder: Path) -> None:
    """A history in a new database; keys and head file go to the folder."""
    create_key_files(folder / "keys")
    with _opened(urls, folder) as written:
        ledger = open_ledger(written.database, written.ring.log_key, written.head_file)
        try:
            write_history(ledger, written.ring)
            write_attempts(History(ledger, written.ring))
            write_gates(History(ledger, written.ring))
            write_slos(History(ledger, written.ring))
            write_promotions(History(ledger, written.ring))
        finally:
            ledger.close()


@pytest.fixture(scope="session")
def sqlite_history(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with database, keys and head, for tests to copy."""
    folder = tmp_path_factory.mktemp("history")
    _write(sqlite_copy(sqlite_template, folder / "shipworthy.sqlite3"), folder)
    return folder


@pytest.fixture(scope="session")
def postgresql_history(
    postgres_server: PostgresServer, postgres_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with keys and head of the database `history`, for tests to copy."""
    folder = tmp_path_factory.mktemp("history")
    owner_url = postgres_server.create_database("history", template=postgres_template)
    _write(DatabaseUrls("postgresql", postgres_server.url(SERVICE_ROLE, "history"), owner_url), folder)
    postgres_server.make_template("history")
    return folder


@pytest.fixture
def written_sqlite(sqlite_history: Path, tmp_path: Path) -> Iterator[Written]:
    folder = tmp_path / "written"
    shutil.copytree(sqlite_history, folder)
    url = f"sqlite:///{folder / 'shipworthy.sqlite3'}"
    with _opened(DatabaseUrls("sqlite", url, url), folder) as written:
        yield written


@pytest.fixture
def written_postgresql(
    postgres_server: PostgresServer, postgresql_history: Path, tmp_path: Path
) -> Iterator[Written]:
    folder = tmp_path / "written"
    shutil.copytree(postgresql_history, folder)
    name = f"written_{next(_numbers)}"
    owner_url = postgres_server.create_database(name, template="history")
    with _opened(
        DatabaseUrls("postgresql", postgres_server.url(SERVICE_ROLE, name), owner_url), folder
    ) as written:
        yield written
    postgres_server.drop_database(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def written(request: pytest.FixtureRequest) -> Written:
    """A database with a history; the test runs twice, as [sqlite] and as [postgresql]."""
    found: Written = request.getfixturevalue(f"written_{request.param}")
    return found
