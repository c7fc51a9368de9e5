"""`kill -9` of the real server under load: nothing that it acknowledged is lost, and the log stays whole."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks.support.crashes import check_ledger, crash_repeatedly
from tests.support.databases import DatabaseUrls
from tests.support.postgres import SERVICE_ROLE, PostgresServer
from tests.support.templates import prepare_template

KILLS = 2
"""`make bench` kills 20 times."""


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On a disk: that of other tests lies in memory."""
    with TemporaryDirectory(prefix="shipworthy-", dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def postgresql_urls() -> Iterator[DatabaseUrls]:
    """On a server that writes to the disk before it confirms, unlike that of other tests."""
    server = PostgresServer.start()
    try:
        owner_url = server.create_database("durable")
        prepare_template(owner_url, SERVICE_ROLE)
        yield DatabaseUrls("postgresql", server.url(SERVICE_ROLE, "durable"), owner_url)
    finally:
        server.stop()


def test_killed_server_loses_no_acknowledged_record(database_urls: DatabaseUrls, tmp_path: Path) -> None:
    outcome = crash_repeatedly(tmp_path / "data", database_urls, KILLS)
    assert outcome.acknowledged > 0
    assert (outcome.lost, outcome.gaps, outcome.unexpected) == ([], 0, [])
    checked = check_ledger(tmp_path / "data", database_urls)
    assert checked.returncode == 0, checked.stdout + checked.stderr
