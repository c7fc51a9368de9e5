"""A ledger with a log, a key ring and the tables of keys, on either database."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

import models.keys.tables
import models.ledger.tables  # noqa: F401
from models.columns import metadata
from models.database import Database
from models.keys.key_files import KeyRing, ensure_key_files
from models.ledger.head import read_head, write_head
from models.ledger.writer import Ledger
from shipworthy.formats.merkle import Frontier
from tests.support.databases import DatabaseUrls
from tests.support.postgres import SERVICE_ROLE


@pytest.fixture
def database(database_urls: DatabaseUrls) -> Iterator[Database]:
    """The tables of keys and of the ledger, as the service's role sees them."""
    owner = Database(database_urls.migration_url)
    metadata.create_all(owner.engine)
    if database_urls.dialect == "postgresql":
        with owner.connection() as connection:
            connection.execute(text(f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO {SERVICE_ROLE}"))
            connection.execute(text(f"GRANT UPDATE ON api_key TO {SERVICE_ROLE}"))
    owner.dispose()
    database = Database(database_urls.service_url)
    yield database
    database.dispose()


@pytest.fixture
def sqlite_database(sqlite_urls: DatabaseUrls) -> Iterator[Database]:
    """For what asks a database but doesn't depend on which."""
    database = Database(sqlite_urls.service_url)
    metadata.create_all(database.engine)
    yield database
    database.dispose()


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return ensure_key_files(tmp_path / "keys")


@pytest.fixture
def ledger(database: Database, ring: KeyRing) -> Iterator[Ledger]:
    with database.connection() as connection:
        if read_head(connection) is None:
            write_head(
                connection,
                ring.log_key,
                origin="log.example/test",
                id=0,
                frontier=Frontier(),
                now=datetime.now(UTC),
            )
    ledger = Ledger(database, ring.log_key)
    yield ledger
    ledger.close()
