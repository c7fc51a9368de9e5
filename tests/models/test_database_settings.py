"""What a connection to PostgreSQL has whatever its role, its database and its server were set to."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg import sql
from sqlalchemy import text

from models.database import Database
from models.errors import StartRefused, Unavailable
from models.ledger.opening import open_ledger
from models.ledger.schema import upgrade
from tests.ledger.writing import start
from tests.support.databases import DatabaseUrls
from tests.support.postgres import OWNER_ROLE, SERVICE_ROLE, PostgresServer


@contextmanager
def _set(server: PostgresServer, urls: DatabaseUrls, setting: str, value: str) -> Iterator[Database]:
    """The service's connections while its role has this default in its database."""
    name = urls.service_url.rpartition("/")[2]
    server.execute(
        sql.SQL("ALTER ROLE {} IN DATABASE {} SET {} = {}").format(
            sql.Identifier(SERVICE_ROLE), sql.Identifier(name), sql.Identifier(setting), sql.Literal(value)
        )
    )
    database = Database(urls.service_url)
    yield database
    database.dispose()


@pytest.mark.parametrize(
    ("default", "used"),
    [
        ("off", "on"),
        ("local", "on"),
        ("remote_write", "remote_write"),
        ("on", "on"),
        ("remote_apply", "remote_apply"),
    ],
)
def test_commit_waits_for_the_disk_whatever_the_role_was_set_to(
    postgres_server: PostgresServer, postgresql_urls: DatabaseUrls, default: str, used: str
) -> None:
    with _set(postgres_server, postgresql_urls, "synchronous_commit", default) as database:
        for opened in (database, database.apart()):
            for reader in (opened.connection, opened.reading):
                with reader() as connection:
                    assert connection.execute(text("SHOW synchronous_commit")).scalar_one() == used
            opened.dispose()


def test_text_is_kept_whatever_encoding_the_role_was_set_to(
    postgres_server: PostgresServer, postgresql_urls: DatabaseUrls
) -> None:
    with (
        _set(postgres_server, postgresql_urls, "client_encoding", "LATIN1") as database,
        database.reading() as connection,
    ):
        assert (
            connection.execute(text("SELECT CAST(:given AS text)"), {"given": "Ελλάδα ✓"}).scalar_one()
            == "Ελλάδα ✓"
        )


def test_database_that_takes_no_writes_is_unavailable_and_can_be_read(
    postgres_server: PostgresServer, postgresql_urls: DatabaseUrls
) -> None:
    with _set(postgres_server, postgresql_urls, "default_transaction_read_only", "on") as database:
        with pytest.raises(Unavailable, match="takes no writes now"), database.connection() as connection:
            connection.execute(text("DELETE FROM run"))
        with database.reading() as connection:
            assert connection.execute(text("SELECT count(*) FROM run")).scalar_one() == 0


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_database_of_another_encoding_is_refused_before_anything_is_written(
    postgres_server: PostgresServer, encoding: str
) -> None:
    name = f"encoding_{encoding.lower()}"
    postgres_server.execute(
        sql.SQL(
            "CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING {} LOCALE_PROVIDER libc LOCALE 'C'"
        ).format(sql.Identifier(name), sql.Identifier(OWNER_ROLE), sql.Literal(encoding))
    )
    owner = Database(postgres_server.url(OWNER_ROLE, name))
    try:
        with pytest.raises(StartRefused, match=f"keeps text as {encoding}.*ENCODING 'UTF8'"):
            upgrade(owner, SERVICE_ROLE)
        with owner.reading() as connection:
            assert (
                connection.execute(
                    text("SELECT count(*) FROM pg_class WHERE relname = 'record'")
                ).scalar_one()
                == 0
            )
    finally:
        owner.dispose()
        postgres_server.drop_database(name)


def test_record_for_a_database_that_takes_no_writes_is_unavailable(
    postgres_server: PostgresServer, postgresql_urls: DatabaseUrls
) -> None:
    key = Ed25519PrivateKey.generate()
    opened = Database(postgresql_urls.service_url)
    open_ledger(opened, key, None).close()
    opened.dispose()
    with _set(postgres_server, postgresql_urls, "default_transaction_read_only", "on") as database:
        ledger = open_ledger(database, key, None)
        with pytest.raises(Unavailable, match="takes no writes now"):
            ledger.append(start()).result()
        ledger.close()
