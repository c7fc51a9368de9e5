"""A ledger with a log and a key ring, on either database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from models.database import Database
from models.keys.key_files import KeyRing, ensure_key_files
from models.ledger.opening import open_ledger
from models.ledger.writer import Ledger
from tests.support.databases import DatabaseUrls
from tests.support.templates import migrated


def _opened(urls: DatabaseUrls) -> Iterator[Database]:
    database = migrated(urls)
    yield database
    database.dispose()


@pytest.fixture
def database(database_urls: DatabaseUrls) -> Iterator[Database]:
    """The service's schema, as the service's role sees it."""
    yield from _opened(database_urls)


@pytest.fixture
def sqlite_database(sqlite_urls: DatabaseUrls) -> Iterator[Database]:
    """For what asks a database but doesn't depend on which."""
    yield from _opened(sqlite_urls)


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return ensure_key_files(tmp_path / "keys")


@pytest.fixture
def ledger(database: Database, ring: KeyRing) -> Iterator[Ledger]:
    ledger = open_ledger(database, ring.log_key, None)
    yield ledger
    ledger.close()
