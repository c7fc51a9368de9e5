"""SQLite takes anything anywhere: whatever is found there, commands say sentences and nothing false is served."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typer.testing import Result

from tests.ledger.conftest import Written
from tests.ledger.test_cli import run
from tests.support.service import running_service

GUARDED = ("record", "tree_node", "tree_head")


@pytest.fixture
def data(written_sqlite: Written, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHIPWORTHY_DATABASE_URL", written_sqlite.urls.service_url)
    monkeypatch.delenv("SHIPWORTHY_MIGRATION_URL", raising=False)
    monkeypatch.delenv("SHIPWORTHY_BLOBS", raising=False)
    return written_sqlite.head_file.path.parent


@contextmanager
def _as_owner_of(data: Path) -> Iterator[sqlite3.Connection]:
    """The file with its triggers and CHECKs out of the way, which are put back."""
    connection = sqlite3.connect(data / "shipworthy.sqlite3", isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints=ON")
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    yield connection
    for _, statement in triggers:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("attack", "sentences"),
    [
        (
            "UPDATE record SET payload = replace(payload, '2026', '2025') WHERE position = 5",
            (
                "record (5) keeps payload as text, not as blob",
                "record 5 has bytes that do not hash to its digest",
            ),
        ),
        (
            "UPDATE record SET digest = CAST(digest AS BLOB), leaf_hash = hex(leaf_hash) WHERE position = 5",
            (
                "record (5) keeps digest as blob, not as text",
                "record (5) keeps leaf_hash as text, not as blob",
            ),
        ),
        (
            "UPDATE record SET recorded_at = 'soon' WHERE position = 5",
            ("record 5 was recorded before record 4",),
        ),
        (
            "UPDATE record SET kind = x'ff00' WHERE position = 5",
            ("record (5) keeps kind as blob, not as text",),
        ),
        (
            "UPDATE record SET namespace = CAST(x'ff' AS TEXT) WHERE position = 5",
            ("record 5 says namespace 'team-a', its row \ufffd",),
        ),
        (
            "UPDATE record SET position = 'five' WHERE position = 5",
            (
                "record ('five') keeps position as text, not as integer",
                "position 5 is missing, the next record is at 6",
            ),
        ),
        (
            "UPDATE tree_head SET frontier = 'none' WHERE id = 3",
            (
                "tree_head (3) keeps frontier as text, not as blob",
                "the log's tree can't be checked to the end",
            ),
        ),
        (
            "UPDATE tree_head SET committed_at = 7 WHERE id = 3",
            ("the log's tree can't be checked to the end",),
        ),
        ("UPDATE tree_node SET hash = 'x'", ("the log's tree can't be checked to the end",)),
        ("UPDATE disclosure SET salt = 'x'", ("the table disclosure can't be checked to the end",)),
        ("UPDATE api_key SET secret_hmac = 'x'", ("the table of keys can't be checked to the end",)),
        ("UPDATE api_key SET roles = x'00'", ("keeps roles as blob, not as text",)),
        ("UPDATE run_link SET role = x'00'", ("keeps role as blob, not as text",)),
        (
            "UPDATE evaluation SET document = CAST(x'ff' AS TEXT)",
            ("the table evaluation can't be checked to the end",),
        ),
    ],
)
def test_fsck_names_whatever_kind_of_value_it_meets(
    data: Path, attack: str, sentences: tuple[str, ...]
) -> None:
    with _as_owner_of(data) as connection:
        assert connection.execute(attack).rowcount > 0
    result = run(data, "fsck")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    for sentence in sentences:
        assert sentence in result.stdout
    assert "  records" in result.stdout


def test_forged_record_is_not_served_not_built_upon_and_not_backed_up(
    data: Path, written_sqlite: Written, tmp_path: Path
) -> None:
    with _as_owner_of(data) as connection:
        (digest,) = connection.execute("SELECT digest FROM record WHERE position = 5").fetchone()
        connection.execute("UPDATE record SET payload = replace(payload, '2026', '2025') WHERE position = 5")
    assert_refused(run(data, "db", "rebuild"), "record (5) keeps payload as text")
    assert_refused(
        run(data, "backup", str(tmp_path / "backup")), "the database holds text in the place of bytes"
    )
    for storage in ("TEXT", "BLOB"):
        with _as_owner_of(data) as connection:
            connection.execute(f"UPDATE record SET payload = CAST(payload AS {storage}) WHERE position = 5")
        with running_service(written_sqlite.urls, data) as service, capture_logs() as logged:
            answer = service.client("reader").get(f"/v1/records/{digest}")
        assert (answer.status_code, answer.json()["code"]) == (500, "ledger_damaged")
        assert "shipworthy-server fsck" in answer.json()["detail"]
        assert [line["event"] for line in logged if line["log_level"] == "error"] == ["ledger damaged"]


def test_file_that_was_cut_short_is_a_sentence(data: Path, written_sqlite: Written, tmp_path: Path) -> None:
    written_sqlite.database.dispose()
    file = data / "shipworthy.sqlite3"
    whole = file.read_bytes()
    for kept in (len(whole) // 2, 5000, 90):
        file.write_bytes(whole[:kept])
        for command in (
            ("fsck",),
            ("keys", "list"),
            ("db", "rebuild"),
            ("backup", str(tmp_path / str(kept))),
        ):
            assert_refused(run(data, *command), "the database file can't be read")


def test_schema_that_was_broken_is_a_sentence(data: Path) -> None:
    connection = sqlite3.connect(data / "shipworthy.sqlite3", isolation_level=None)
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_master SET sql = 'CREATE TRIGGER x' WHERE name = 'record_no_update'")
    connection.close()
    for command in ("fsck",), ("keys", "list"), ("db", "upgrade"):
        assert_refused(run(data, *command), "the database file can't be read (malformed database schema")


def assert_refused(result: Result, sentence: str) -> None:
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    assert sentence in result.stderr + result.stdout
