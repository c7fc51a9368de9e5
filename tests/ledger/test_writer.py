"""The writer: group commit, items that rest on one another, several processes at one log."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from api.recording import Recorder
from models.actor import Actor, EvidenceLevel, Role
from models.database import Database
from models.errors import RunNotFound, TokenInvalid
from models.keys.administration import create_key, revoke_key
from models.keys.key_files import KeyRing, ensure_key_files
from models.ledger.drafts import Stored
from models.ledger.fsck import fsck
from models.ledger.opening import open_ledger
from models.ledger.writer import Ledger
from tests.ledger.writing import (
    PEPPER,
    RECORDER,
    assert_contiguous,
    heads,
    is_stored,
    signed_size,
    start,
    writing_held,
)
from tests.support.bodies import make_event, make_run, make_start, new_run_id
from tests.support.databases import DatabaseUrls


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


def test_log_of_many_threads_passes_fsck(ledger: Ledger, database: Database, key: Ed25519PrivateKey) -> None:
    recorder = Recorder(PEPPER)
    with ThreadPoolExecutor(16) as pool:
        futures = pool.map(
            lambda _: ledger.append(recorder.item("run.registered", RECORDER, make_run(), None)), range(40)
        )
    assert all(future.result(30)[0].created for future in futures)
    assert fsck(database, key).problems == ()
