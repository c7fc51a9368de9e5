"""The queue of work by its functions: time is an argument, each claim is one worker's alone, and costs little."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import insert, text

from models.contracts import queries
from models.database import Database
from models.errors import WorkLeaseLost
from models.work.leases import Claimed, claim_work, give_back, lease_digest, renew_work
from models.work.queue import add_work, get_work, list_work, may_claim
from models.work.states import LEASE_SECONDS, MAX_ATTEMPTS, RETRY_SECONDS, WorkState
from models.work.tables import Work
from tests.models.test_page_cost import statements_of
from tests.support.bodies import digest_of
from tests.support.databases import DatabaseUrls
from tests.support.templates import migrated

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KINDS, ROOTS = ["contract_check"], ["lake"]


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.fixture
def database(database_urls: DatabaseUrls) -> Iterator[Database]:
    database = migrated(database_urls)
    yield database
    database.dispose()


def add(database: Database, now: datetime = NOW, key: str | None = None) -> str:
    with database.connection() as connection:
        return add_work(
            connection,
            namespace="team-a",
            kind="contract_check",
            root="lake",
            request="{}",
            content=digest_of("request"),
            key=key,
            owner=None,
            now=now,
        ).id


def claim(database: Database, now: datetime, worker: str = "w1") -> Claimed | None:
    with database.connection() as connection:
        return claim_work(connection, "team-a", KINDS, ROOTS, worker, now)


def claimed(database: Database, now: datetime) -> Claimed:
    found = claim(database, now)
    assert found is not None
    return found


def state(database: Database, id: str, now: datetime) -> tuple[WorkState, str | None]:
    with database.read() as session:
        return get_work(session.connection(), "team-a", id).state_at(now)


def test_lease_holds_to_its_last_moment_and_then_work_is_taken_over(database: Database) -> None:
    id = add(database)
    first = claimed(database, NOW)
    assert claim(database, after(LEASE_SECONDS - 0.001)) is None
    assert state(database, id, after(LEASE_SECONDS - 0.001))[0] is WorkState.RUNNING
    assert state(database, id, after(LEASE_SECONDS))[0] is WorkState.QUEUED
    second = claimed(database, after(LEASE_SECONDS))
    assert (second.id, second.attempt) == (id, 2)
    assert second.lease != first.lease
    with database.connection() as connection, pytest.raises(WorkLeaseLost, match="another worker"):
        renew_work(connection, "team-a", id, first.lease, None, after(LEASE_SECONDS + 1))


def test_renewing_counts_from_the_time_of_the_renewal(database: Database) -> None:
    add(database)
    work = claimed(database, NOW)
    with database.connection() as connection:
        assert not renew_work(connection, "team-a", work.id, work.lease, None, after(50))
    assert claim(database, after(50 + LEASE_SECONDS - 0.001)) is None
    assert claim(database, after(50 + LEASE_SECONDS)) is not None


def test_work_rests_longer_after_each_attempt_and_dies_after_the_third(database: Database) -> None:
    id = add(database)
    now = NOW
    for attempt in range(1, MAX_ATTEMPTS + 1):
        work = claimed(database, now)
        with database.connection() as connection:
            given = give_back(connection, "team-a", id, work.lease, "the disk is full", True, now)
        assert given is (WorkState.DEAD if attempt == MAX_ATTEMPTS else WorkState.QUEUED)
        rests = timedelta(seconds=RETRY_SECONDS * attempt)
        assert claim(database, now + rests - timedelta(milliseconds=1)) is None
        now += rests
    assert claim(database, now + timedelta(days=1)) is None
    assert state(database, id, now) == (WorkState.DEAD, "the disk is full")


def test_last_lease_that_ends_makes_work_dead_for_readers_at_once_and_in_the_table_at_the_next_claim(
    database: Database,
) -> None:
    id, now = add(database), NOW
    for _ in range(MAX_ATTEMPTS):
        claimed(database, now)
        now += timedelta(seconds=LEASE_SECONDS)
    assert state(database, id, now)[0] is WorkState.DEAD
    assert stored_state(database, id) == "running"
    assert claim(database, now) is None
    assert stored_state(database, id) == "dead"
    assert state(database, id, NOW) == state(database, id, now)


def stored_state(database: Database, id: str) -> str:
    with database.read() as session:
        return get_work(session.connection(), "team-a", id).state


@pytest.mark.parametrize("expired", [False, True])
def test_claimers_at_the_same_moment_never_get_one_item(database: Database, expired: bool) -> None:
    items, claimers = 40, 8
    asked = {add(database) for _ in range(items)}
    now = NOW
    if expired:
        assert {claimed(database, NOW).id for _ in range(items)} == asked
        now = after(LEASE_SECONDS)
    start = Barrier(claimers)

    def work(number: int) -> list[Claimed]:
        start.wait(30)
        found = []
        while (got := claim(database, now, f"w{number}")) is not None:
            found.append(got)
        return found

    with ThreadPoolExecutor(claimers) as pool:
        shares = list(pool.map(work, range(claimers)))
    got = [each for share in shares for each in share]
    assert sorted(each.id for each in got) == sorted(asked)
    assert len({each.lease for each in got}) == items


def test_same_key_asked_for_at_the_same_moment_is_one_piece_of_work(database: Database) -> None:
    start = Barrier(8)

    def ask(_: int) -> str:
        start.wait(30)
        return add(database, key="night-1")

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


def test_token_of_a_lease_is_kept_as_its_digest_only(database: Database) -> None:
    add(database)
    work = claimed(database, NOW)
    with database.read() as session:
        stored = session.connection().execute(text("SELECT * FROM work")).one()
    assert lease_digest(work.lease) in stored
    assert work.lease not in [str(value) for value in stored]


def fill_with_ended(database: Database, count: int) -> None:
    """So much work that was done before."""
    row: dict[str, object] = dict.fromkeys(Work.model_fields)
    row |= {
        "namespace": "team-a",
        "kind": "contract_check",
        "state": "done",
        "root": "lake",
        "request": "{}",
        "content_digest": digest_of("request"),
        "available_at": NOW,
        "attempt": 1,
    }
    rows = [
        row | {"id": str(uuid.uuid4()), "created_at": NOW - timedelta(seconds=number)}
        for number in range(count)
    ]
    with database.connection() as connection:
        connection.execute(insert(Work), rows)


def test_claiming_walks_past_no_work_that_has_ended(database: Database) -> None:
    fill_with_ended(database, 3000)
    add(database)
    with database.connection() as connection, statements_of(connection) as seen:
        may_claim(connection, "team-a", KINDS, ROOTS, NOW)
        claim_work(connection, "team-a", KINDS, ROOTS, "w1", NOW)
        selects = [(statement, given) for statement, given in seen if statement.startswith("SELECT")]
        assert len(seen) == 4
        explain = "EXPLAIN QUERY PLAN" if database.dialect == "sqlite" else "EXPLAIN"
        for statement, given in selects:
            plan = connection.exec_driver_sql(f"{explain} {statement}", given).all()
            # Either index leaves out what has ended.
            assert "ix_work_open" in str(plan) or "kind=? AND state=?" in str(plan), plan


def test_lists_are_one_statement(database: Database) -> None:
    fill_with_ended(database, 20)
    with database.read() as session, statements_of(session.connection()) as seen:
        assert len(list_work(session, "team-a", "contract_check", "done", None, 10)) == 10
        queries.list_contracts(session, "team-a", None, 50)
        queries.list_contract_versions(session, "team-a", "orders", None, 50)
        queries.list_baselines(session, "team-a", None, 50)
        queries.list_results(session, "team-a", None, 50, contract="orders", outcome="failed")
    assert len(seen) == 5


def test_pages_of_work_follow_on_each_other(database: Database) -> None:
    fill_with_ended(database, 25)
    found: list[str] = []
    start: tuple[datetime, str] | None = None
    with database.read() as session:
        while rows := list_work(session, "team-a", "contract_check", "done", start, 10):
            found += [row.id for row in rows]
            start = rows[-1].created_at, rows[-1].id
    assert len(found) == len(set(found)) == 25
