"""A ledger that holds a varied history, on either database, and the way of somebody who rewrites it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from models.database import Database
from models.keys.key_files import KeyRing, ensure_key_files
from models.ledger.findings import Report
from models.ledger.fsck import fsck
from models.ledger.head import HeadFile
from models.ledger.opening import open_ledger
from models.ledger.schema import LEDGER_TABLES, upgrade
from tests.support.databases import DatabaseUrls
from tests.support.histories import History, write_history
from tests.support.postgres import SERVICE_ROLE


def migrated(urls: DatabaseUrls) -> Database:
    """A database as the service sees it, its schema up to date."""
    owner = Database(urls.migration_url)
    upgrade(owner, SERVICE_ROLE if urls.dialect == "postgresql" else None)
    owner.dispose()
    return Database(urls.service_url)


@dataclass(frozen=True)
class Written:
    """A database with a history whose writer was closed."""

    urls: DatabaseUrls
    database: Database
    ring: KeyRing
    head_file: HeadFile
    history: History

    def checked(self) -> Report:
        return fsck(self.database, self.ring.log_key, self.head_file)

    def rewrite(self, *statements: str, **values: object) -> None:
        """Changes rows past the guards, as the owner of the tables can, and leaves the guards as they were."""
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
    triggers = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all()
    for name, _ in triggers:
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    return [sql for _, sql in triggers]


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return ensure_key_files(tmp_path / "keys")


@pytest.fixture
def written(database_urls: DatabaseUrls, ring: KeyRing, tmp_path: Path) -> Iterator[Written]:
    database = migrated(database_urls)
    head_file = HeadFile(tmp_path / "log-head")
    ledger = open_ledger(database, ring.log_key, head_file)
    try:
        history = write_history(ledger, ring)
    finally:
        ledger.close()
    yield Written(database_urls, database, ring, head_file, history)
    database.dispose()
