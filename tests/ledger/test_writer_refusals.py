"""The writer: a poisonous item and its neighbours, shutdown, overload, and a database that goes away."""

import asyncio
import errno
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg import sql
from sqlalchemy import make_url, text

from api.recording import Recorder
from models.database import Database
from models.errors import RunNotFound, Unavailable, WriteFailed
from models.ledger.drafts import Item, Stored
from models.ledger.opening import open_ledger
from models.ledger.workspace import Workspace
from models.ledger.writer import MAX_QUEUED_ITEMS, Ledger
from tests.ledger.writing import (
    PEPPER,
    RECORDER,
    assert_contiguous,
    poisoned,
    signed_size,
    start,
    writing_held,
)
from tests.support.bodies import make_event, make_run
from tests.support.databases import DatabaseUrls
from tests.support.postgres import PostgresServer


def _divide_by_zero(workspace: Workspace) -> None:
    raise ZeroDivisionError


POISONS: dict[str, Callable[[], Item]] = {
    "a statement that the database can't run": lambda: poisoned(text("INSERT INTO nowhere VALUES (1)")),
    "a number that no column holds": lambda: poisoned(text("SELECT CAST(:n AS BIGINT)").bindparams(n=2**70)),
    "a row that breaks a constraint": lambda: poisoned(
        text(
            "INSERT INTO disclosure (digest, namespace, salt, value) "
            "SELECT 'same', 'team-a', payload, 'x' FROM record CROSS JOIN (SELECT 1 AS a UNION SELECT 2) AS twice"
        )
    ),
    "a check that fails unforeseen": lambda: poisoned(check=_divide_by_zero),
    "more than the database can hold": lambda: poisoned(
        text("SELECT digest FROM record WHERE repeat(digest, 100000000) = 'x'")
    ),
}


def _no_file_left(workspace: Workspace) -> None:
    raise OSError(errno.EMFILE, "Too many open files")


def test_record_that_finds_no_file_left_to_open_may_be_sent_again(ledger: Ledger) -> None:
    with pytest.raises(Unavailable, match="as many files"):
        ledger.append(poisoned(check=_no_file_left)).result()


@pytest.mark.parametrize("poison", POISONS)
def test_poison_fails_alone_among_63_good_items(ledger: Ledger, database: Database, poison: str) -> None:
    before = signed_size(database)
    items = [start() for _ in range(64)]
    items[31] = POISONS[poison]()
    outcomes = asyncio.run(ledger.append_all(items))
    assert [place for place, outcome in enumerate(outcomes) if not isinstance(outcome, tuple)] == [31]
    assert isinstance(outcomes[31], WriteFailed)
    assert_contiguous(database, before + 63)
    assert ledger.append(start()).result(30)[0].position == before + 63


def test_refused_item_leaves_nothing_of_what_it_did(ledger: Ledger, database: Database) -> None:
    def refuse(workspace: Workspace) -> None:
        raise Unavailable("not now")

    run, recorder = make_run(), Recorder(PEPPER)
    whole = recorder.item("run.registered", RECORDER, run, None)
    items = [
        start(),
        Item(whole.drafts, check=refuse),
        recorder.item("run.event", RECORDER, make_event(run_id=run["run_id"]), None),
    ]
    _, refused, orphan = asyncio.run(ledger.append_all(items))
    assert isinstance(refused, Unavailable)
    assert isinstance(orphan, RunNotFound)
    assert_contiguous(database, 1)
    with database.read() as session:
        for table in (
            "run_link",
            "checkpoint",
            "artifact",
            "model_version",
            "lineage_manifest",
            "ingredient",
        ):
            assert session.connection().execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 0, (
                table
            )


def test_close_commits_what_is_queued_and_refuses_what_comes_later(
    database: Database, key: Ed25519PrivateKey
) -> None:
    ledger = open_ledger(database, key, None)
    with writing_held(database):
        futures = [ledger.append(start()) for _ in range(300)]
        closing = threading.Thread(target=ledger.close)
        closing.start()
    closing.join()
    assert all(future.done() for future in futures)
    assert_contiguous(database, 300)
    with pytest.raises(Unavailable):
        ledger.append(start())
    assert not ledger.is_open
    assert_contiguous(database, 300)


def test_more_than_the_queue_takes_is_refused_and_not_stored(ledger: Ledger, database: Database) -> None:
    item, refused = start(), start()
    futures: list[Future[tuple[Stored, ...]]] = []
    with writing_held(database):
        with suppress(Unavailable):
            for _ in range(2 * MAX_QUEUED_ITEMS):
                futures.append(ledger.append(item))
        with pytest.raises(Unavailable):
            ledger.append(refused)
    assert len(futures) >= MAX_QUEUED_ITEMS
    assert {future.result(60)[0].position for future in futures} == {0}
    assert_contiguous(database, 1)


def test_waiting_future_can_not_be_cancelled_so_that_the_writer_lives_on(
    ledger: Ledger, database: Database
) -> None:
    with writing_held(database):
        future = ledger.append(start())
        assert not future.cancel()
    assert future.result(30)[0].created
    assert ledger.append(start()).result(30)[0].created


def test_request_that_goes_away_while_it_waits_harms_nobody(ledger: Ledger, database: Database) -> None:
    async def go_away() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ledger.append_all([start()]), 0.05)

    with writing_held(database):
        asyncio.run(go_away())
    assert ledger.append(start()).result(30)[0].position == 1
    assert_contiguous(database, 2)


def test_database_that_goes_away_is_answered_unavailable_and_comes_back(
    postgresql_urls: DatabaseUrls, postgres_server: PostgresServer
) -> None:
    database = Database(postgresql_urls.service_url)
    ledger = open_ledger(database, Ed25519PrivateKey.generate(), None)
    name = str(make_url(postgresql_urls.service_url).database)
    try:
        assert ledger.append(start()).result(30)[0].position == 0
        with connections_refused(postgres_server, name), pytest.raises(Unavailable):
            ledger.append(start()).result(30)
        assert ledger.append(start()).result(30)[0].position == 1
        # Its connections were cut too, and what is asked over one of them says so once.
        database.dispose()
        assert_contiguous(database, 2)
    finally:
        ledger.close()
        database.dispose()


@contextmanager
def connections_refused(server: PostgresServer, name: str) -> Iterator[None]:
    """The database as a network failure shows it: every connection cut and no new one."""

    def allow(answer: str) -> None:
        server.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS " + answer).format(sql.Identifier(name)))

    allow("false")
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {}"
    server.execute(sql.SQL(cut).format(sql.Literal(name)))
    try:
        yield
    finally:
        allow("true")
