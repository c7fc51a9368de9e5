"""The writer: group commit, neighbours of a poisonous item, shutdown, overload, and a database that goes away."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg import sql
from sqlalchemy import Executable, make_url, text

from api.recording import Recorder
from models.actor import Actor, EvidenceLevel, Role
from models.database import Database
from models.errors import RunNotFound, TokenInvalid, Unavailable, WriteFailed
from models.keys.administration import create_key, revoke_key
from models.keys.key_files import KeyRing, ensure_key_files
from models.ledger import schema
from models.ledger.drafts import Item, Stored
from models.ledger.fsck import fsck
from models.ledger.opening import open_ledger
from models.ledger.workspace import Workspace
from models.ledger.writer import LOG_LOCK, MAX_QUEUED_ITEMS, Ledger
from tests.support.bodies import make_event, make_run, make_start, new_run_id
from tests.support.databases import DatabaseUrls
from tests.support.postgres import SERVICE_ROLE, PostgresServer

PEPPER = bytes(32)
RECORDER = Actor("open", "team-a", frozenset({Role.RECORDER}), EvidenceLevel.SELF_REPORTED, auth="open")


@pytest.fixture
def database(database_urls: DatabaseUrls) -> Iterator[Database]:
    owner = Database(database_urls.migration_url)
    schema.upgrade(owner, SERVICE_ROLE if database_urls.dialect == "postgresql" else None)
    owner.dispose()
    database = Database(database_urls.service_url)
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


def start(actor: Actor = RECORDER) -> Item:
    return Recorder(PEPPER).item("run.registered", actor, make_start(), None)


def poisoned(
    *statements: Executable, check: Callable[[Workspace], None] | None = None, actor: Actor = RECORDER
) -> Item:
    return Item(start(actor).drafts, check=check, statements=statements)


def positions(database: Database) -> list[int]:
    with database.read() as session:
        rows = session.connection().execute(text("SELECT position FROM record ORDER BY position"))
        return [row[0] for row in rows]


def signed_size(database: Database) -> int:
    with database.read() as session:
        return int(session.connection().execute(text("SELECT max(size) FROM tree_head")).scalar_one())


def heads(database: Database) -> int:
    with database.read() as session:
        return int(session.connection().execute(text("SELECT count(*) FROM tree_head")).scalar_one())


def assert_contiguous(database: Database, size: int) -> None:
    assert positions(database) == list(range(size))
    assert signed_size(database) == size


@contextmanager
def writing_held(database: Database) -> Iterator[None]:
    """As long as another writer holds the log, nothing that is queued is committed."""
    with database.connection() as connection:
        if database.dialect == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOG_LOCK})
        yield


def is_stored(database: Database, stored: Stored) -> bool:
    with database.read() as session:
        found = session.connection().execute(
            text("SELECT position FROM record WHERE digest = :digest"), {"digest": stored.digest}
        )
        return found.scalar() == stored.position


def test_answers_come_after_the_commit_and_the_log_is_contiguous(ledger: Ledger, database: Database) -> None:
    def work(_: int) -> list[Stored]:
        answered = []
        for _ in range(6):
            (stored,) = ledger.append(start()).result(30)
            assert is_stored(database, stored)
            answered.append(stored)
        return answered

    with ThreadPoolExecutor(32) as pool:
        answered = [stored for each in pool.map(work, range(32)) for stored in each]
    assert sorted(stored.position for stored in answered) == list(range(32 * 6))
    assert_contiguous(database, 32 * 6)


def test_what_waits_is_committed_together(ledger: Ledger, database: Database) -> None:
    before = heads(database)
    with writing_held(database):
        futures = [ledger.append(start()) for _ in range(200)]
    assert len({future.result(30)[0].position for future in futures}) == 200
    assert heads(database) - before <= 3


def test_item_may_rest_on_an_earlier_one_of_the_same_commit(ledger: Ledger) -> None:
    run, recorder = make_start(), Recorder(PEPPER)
    event = make_event(run_id=run["run_id"])
    items = [
        recorder.item("run.event", RECORDER, event, None),
        recorder.item("run.registered", RECORDER, run, None),
        recorder.item("run.event", RECORDER, event, None),
        recorder.item("run.event", RECORDER, event, None),
    ]
    early, registered, late, again = asyncio.run(ledger.append_all(items))
    assert isinstance(early, RunNotFound)
    assert isinstance(registered, tuple)
    assert isinstance(late, tuple)
    assert isinstance(again, tuple)
    assert (late[0].created, again[0].created) == (True, False)
    assert late[0].digest == again[0].digest


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


def test_queued_record_of_a_revoked_key_is_refused(
    ledger: Ledger, database: Database, tmp_path: Path
) -> None:
    ring: KeyRing = ensure_key_files(tmp_path / "keys")
    created = create_key(ledger, ring, namespace="team-a", roles=["recorder"])
    actor = Actor(created.key_id, "team-a", frozenset({Role.RECORDER}), EvidenceLevel.SELF_REPORTED)
    assert ledger.append(start(actor)).result(30)[0].created
    queued = start(actor)
    revoke_key(ledger, created.key_id, namespace="team-a", reason="lost")
    size = signed_size(database)
    with pytest.raises(TokenInvalid):
        ledger.append(queued).result(30)
    assert signed_size(database) == size


def test_two_processes_make_one_contiguous_log(database_urls: DatabaseUrls, database: Database) -> None:
    key = Ed25519PrivateKey.generate()
    other = Database(database_urls.service_url)
    ledgers = [open_ledger(database, key, None), open_ledger(other, key, None)]
    try:
        with ThreadPoolExecutor(16) as pool:
            futures = list(pool.map(lambda number: ledgers[number % 2].append(start()), range(200)))
        answered = [future.result(30)[0].position for future in futures]
    finally:
        for ledger in ledgers:
            ledger.close()
        other.dispose()
    assert sorted(answered) == list(range(200))
    assert_contiguous(database, 200)


def test_same_content_to_two_processes_is_stored_once(
    database_urls: DatabaseUrls, database: Database
) -> None:
    key = Ed25519PrivateKey.generate()
    other = Database(database_urls.service_url)
    ledgers = [open_ledger(database, key, None), open_ledger(other, key, None)]
    run, recorder = make_start(run_id=new_run_id()), Recorder(PEPPER)
    try:
        futures = [
            ledger.append(recorder.item("run.registered", RECORDER, run, "once")) for ledger in ledgers * 10
        ]
        answered = [future.result(30)[0] for future in futures]
    finally:
        for ledger in ledgers:
            ledger.close()
        other.dispose()
    assert len({stored.digest for stored in answered}) == 1
    assert sum(stored.created for stored in answered) == 1
    assert_contiguous(database, 1)


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


def test_log_of_many_threads_passes_fsck(ledger: Ledger, database: Database, key: Ed25519PrivateKey) -> None:
    recorder = Recorder(PEPPER)
    with ThreadPoolExecutor(16) as pool:
        futures = pool.map(
            lambda _: ledger.append(recorder.item("run.registered", RECORDER, make_run(), None)), range(40)
        )
    assert all(future.result(30)[0].created for future in futures)
    assert fsck(database, key).problems == ()
