"""The test server: what other tests rely on without saying so."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, make_url, text

from tests.support.databases import DatabaseUrls
from tests.support.postgres import NAMED_BINARIES, OWNER_ROLE, SERVICE_ROLE, PostgresServer

ROOT = Path(__file__).resolve().parents[2]

_START_AND_WAIT = """
from tests.support.postgres import PostgresServer
server = PostgresServer.start()
print(server.folder, server.port, flush=True)
input()
"""


def _answers(url: str, *statements: str) -> list[str]:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return [str(connection.execute(text(statement)).scalar_one()) for statement in statements]
    finally:
        engine.dispose()


def test_database_is_of_the_named_dialect(database_urls: DatabaseUrls) -> None:
    for url in (database_urls.service_url, database_urls.migration_url):
        assert make_url(url).get_backend_name() == database_urls.dialect
        assert _answers(url, "SELECT 1") == ["1"]


@pytest.mark.parametrize("name", ["first", "second"])
def test_database_holds_nothing_of_another_test(database_urls: DatabaseUrls, name: str) -> None:
    engine = create_engine(database_urls.migration_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE left_behind (name varchar(10))"))
    engine.dispose()


def test_server_writes_to_disk_before_it_confirms() -> None:
    """As the one of every benchmark does; that of the tests takes the risk."""
    settings = ("fsync", "synchronous_commit", "server_version")
    server = PostgresServer.start()
    try:
        answers = _answers(server.superuser_url, *(f"SHOW {name}" for name in settings))
    finally:
        server.stop()
    assert answers[:2] == ["on", "on"]
    assert NAMED_BINARIES or answers[2].startswith("18.")


def test_service_is_neither_superuser_nor_owner(postgresql_urls: DatabaseUrls) -> None:
    database_owner = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
    superuser = "SELECT usesuper FROM pg_user WHERE usename = current_user"
    user, owner, is_superuser = _answers(
        postgresql_urls.service_url, "SELECT current_user", database_owner, superuser
    )
    assert (user, owner, is_superuser) == (SERVICE_ROLE, OWNER_ROLE, "False")


def test_server_refuses_a_wrong_password(postgres_server: PostgresServer) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(host="127.0.0.1", port=postgres_server.port, user="postgres", password="guess")


def test_server_and_folder_go_when_the_process_is_killed() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _START_AND_WAIT],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    folder, port = process.stdout.readline().split()
    assert Path(folder).is_dir()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 60
    while Path(folder).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(folder).exists()
    with pytest.raises(psycopg.OperationalError, match="refused"):
        psycopg.connect(host="127.0.0.1", port=int(port), user="postgres")
