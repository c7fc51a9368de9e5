"""A database that was set back does not start; accepting the loss is a record for ever."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from models.actor import SYSTEM
from models.database import Database
from models.errors import InvalidInput, LedgerDamaged, StartRefused
from models.keys.administration import create_key
from models.ledger.backup import backup
from models.ledger.head import HeadFile
from models.ledger.opening import open_ledger
from models.ledger.restore import restore
from models.ledger.restore_log import accept_restore
from tests.ledger.conftest import Written
from tests.support.databases import DatabaseUrls
from tests.support.histories import History
from tests.support.templates import migrated


def _go_on(written: Written, database: Database | None = None) -> int:
    """A few more records; gives the size of the log."""
    ledger = open_ledger(database or written.database, written.ring.log_key, written.head_file)
    try:
        history = History(ledger, written.ring)
        recorder = history.actor("recorder")
        body = {"dataset": {"namespace": "s3", "name": "late"}, "grade": "none"}
        return history.add(recorder, "snapshot", body).position + 1
    finally:
        ledger.close()


@pytest.fixture
def set_back(written: Written, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Written]:
    """The history restored from a backup, under the head of a log that had gone on since."""
    backup(written.database, None, tmp_path / "backup")
    _go_on(written)
    urls: DatabaseUrls = request.getfixturevalue(f"{written.urls.dialect}_urls")
    restored = migrated(urls)
    report = restore(tmp_path / "backup", restored, None, written.ring.log_key, written.head_file)
    assert [problem for problem in report.problems if "head kept outside" in problem]
    yield Written(urls, restored, written.ring, written.head_file)
    restored.dispose()


def test_service_does_not_start_on_a_database_that_was_set_back(set_back: Written) -> None:
    with pytest.raises(
        StartRefused, match=r"the log has 4\d\d records, the head kept outside says 4\d\d.*accept-restore"
    ):
        open_ledger(set_back.database, set_back.ring.log_key, set_back.head_file)


def test_accepted_loss_is_the_first_record_of_a_new_origin(set_back: Written) -> None:
    lost = set_back.head_file.path.read_text()

    restored = accept_restore(set_back.database, set_back.ring.log_key, set_back.head_file, "the disk died")

    with set_back.database.read() as session:
        payload, position = session.execute(
            text("SELECT payload, position FROM record WHERE kind = 'log.restored'")
        ).one()
        origins = session.execute(text("SELECT origin FROM tree_head ORDER BY id")).scalars().all()
    body = json.loads(payload)["body"]
    assert position == restored.kept == body["kept_size"]
    assert body["reason"] == "the disk died"
    assert (body["lost_note"], body["lost_size"]) == (lost, restored.lost)
    assert body["previous_origin"] == lost.split("\n")[0] == origins[-2]
    assert restored.origin == origins[-1] == set_back.head_file.path.read_text().split("\n")[0]
    assert set_back.checked().problems == ()
    assert _go_on(set_back) > restored.kept + 1
    assert set_back.checked().problems == ()


def test_second_loss_after_an_accepted_one_is_accepted_too(set_back: Written, tmp_path: Path) -> None:
    """The head outside then is of an origin that the restored database never had."""
    accept_restore(set_back.database, set_back.ring.log_key, set_back.head_file, "the disk died")
    _go_on(set_back)
    url = f"sqlite:///{tmp_path / 'again.sqlite3'}"
    again = migrated(DatabaseUrls("sqlite", url, url))
    restore(tmp_path / "backup", again, None, set_back.ring.log_key, set_back.head_file)
    with pytest.raises(StartRefused, match="accept-restore"):
        open_ledger(again, set_back.ring.log_key, set_back.head_file)

    accept_restore(again, set_back.ring.log_key, set_back.head_file, "the disk died")

    open_ledger(again, set_back.ring.log_key, set_back.head_file).close()
    assert Written(set_back.urls, again, set_back.ring, set_back.head_file).checked().problems == ()
    again.dispose()


def test_another_history_under_the_same_key_is_refused_and_can_be_accepted(
    written_sqlite: Written, sqlite_urls: DatabaseUrls
) -> None:
    """More records than the lost log, but not those."""
    written, database = written_sqlite, migrated(sqlite_urls)
    other = open_ledger(database, written.ring.log_key, None)
    for number in range(int(written.head_file.path.read_text().split("\n")[1]) + 1):
        create_key(other, written.ring, namespace=f"n{number}", roles=["reader"], actor=SYSTEM)
    other.close()
    with pytest.raises(StartRefused, match="are not those of the head kept outside"):
        open_ledger(database, written.ring.log_key, written.head_file)
    accept_restore(database, written.ring.log_key, written.head_file, "wrong database, on purpose")
    open_ledger(database, written.ring.log_key, written.head_file).close()
    database.dispose()


def test_empty_database_can_go_on_after_everything_was_lost(
    written_sqlite: Written, sqlite_urls: DatabaseUrls
) -> None:
    written, database = written_sqlite, migrated(sqlite_urls)
    with pytest.raises(StartRefused, match="the log has 0 records"):
        open_ledger(database, written.ring.log_key, written.head_file)
    assert accept_restore(database, written.ring.log_key, written.head_file, "no backup").kept == 0
    assert Written(sqlite_urls, database, written.ring, written.head_file).checked().problems == ()
    database.dispose()


def test_nothing_is_accepted_where_nothing_was_lost(written: Written, tmp_path: Path) -> None:
    before = written.head_file.path.read_text()
    with pytest.raises(InvalidInput, match="nothing was lost"):
        accept_restore(written.database, written.ring.log_key, written.head_file, "just to be sure")
    with pytest.raises(InvalidInput, match="no head outside the database"):
        accept_restore(written.database, written.ring.log_key, HeadFile(tmp_path / "none"), "just to be sure")
    assert written.head_file.path.read_text() == before


def test_loss_is_not_accepted_without_a_reason(set_back: Written) -> None:
    before = set_back.head_file.path.read_text()
    for reason in ("", "x" * 4097, "bell \x07"):
        with pytest.raises(InvalidInput, match="reason of 1 to 4,096 characters"):
            accept_restore(set_back.database, set_back.ring.log_key, set_back.head_file, reason)
    assert set_back.head_file.path.read_text() == before
    with set_back.database.read() as session:
        assert session.execute(text("SELECT count(*) FROM record WHERE kind = 'log.restored'")).scalar() == 0


def test_loss_is_not_accepted_with_another_log_key(set_back: Written) -> None:
    with pytest.raises(StartRefused, match="not a log head signed by this service's log key"):
        accept_restore(set_back.database, Ed25519PrivateKey.generate(), set_back.head_file, "new key")


def test_loss_is_not_accepted_on_a_log_that_was_rewritten(set_back: Written) -> None:
    set_back.rewrite("DELETE FROM record WHERE position > 400")
    with pytest.raises(StartRefused, match=r"the log's head says 4\d\d records, the table holds 401"):
        accept_restore(set_back.database, set_back.ring.log_key, set_back.head_file, "hush")


def test_missing_tree_hash_is_a_reason_not_to_start(written: Written) -> None:
    written.rewrite("DELETE FROM tree_node")
    with pytest.raises(LedgerDamaged, match=r"hashes of the log's first 4\d\d records are missing.*fsck"):
        open_ledger(written.database, written.ring.log_key, written.head_file)
