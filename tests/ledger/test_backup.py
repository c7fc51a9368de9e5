"""Backup and restore, on and across both databases."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from models.blobs import BlobStore
from models.database import Database
from models.errors import InvalidInput, StartRefused
from models.ledger.backup import backup
from models.ledger.backup_files import read_manifest
from models.ledger.head import HeadFile
from models.ledger.opening import open_ledger
from models.ledger.restore import restore
from shipworthy.formats.digests import sha256_digest
from tests.ledger.conftest import Written
from tests.support.databases import DatabaseUrls
from tests.support.histories import run_id
from tests.support.templates import migrated

CONTENT = b"a manifest of files"
DIGEST = sha256_digest(CONTENT)


@pytest.fixture
def blobs(tmp_path: Path) -> Path:
    """The folder of a blob store with one blob and one that is still being received."""
    folder = tmp_path / "blobs"
    store = BlobStore(folder)
    writer = store.writer("team-a", DIGEST)
    writer.update(CONTENT)
    writer.commit()
    (folder / "incoming" / "half.part").write_bytes(b"half")
    return folder


def _everything(database: Database) -> dict[str, list[tuple[object, ...]]]:
    with database.read() as session:
        return {
            name: sorted((tuple(row) for row in session.execute(text(f"SELECT * FROM {name}"))), key=repr)
            for name in (
                "record",
                "tree_node",
                "tree_head",
                "api_key",
                "disclosure",
                "run_progress",
                "run",
                "run_link",
            )
        }


def test_backup_restores_into_either_database(
    written: Written, blobs: Path, database_urls: DatabaseUrls, tmp_path: Path
) -> None:
    with written.database.connection() as connection:
        connection.execute(
            text(
                "INSERT INTO run_progress VALUES "
                "('team-a', :run, 'rank 0', 7, NULL, '2026-05-01 12:00:00.000001')"
            ),
            {"run": run_id(4)},
        )
    target = tmp_path / "backup"
    told: list[str] = []
    manifest = backup(written.database, blobs, target, told.append)
    assert f"record: {manifest.size:,} rows" in told
    restored, head_file = migrated(database_urls), HeadFile(tmp_path / "elsewhere" / "log-head")

    report = restore(target, restored, tmp_path / "new" / "blobs", written.ring.log_key, head_file)

    assert report.problems == ()
    assert report.checked["records"] == manifest.size
    if written.urls.dialect == database_urls.dialect:
        assert _everything(restored) == _everything(written.database)
    size, chunks = BlobStore(tmp_path / "new" / "blobs").read("team-a", DIGEST)
    assert (size, b"".join(chunks)) == (len(CONTENT), CONTENT)
    assert not list((tmp_path / "new").rglob("half.part"))
    open_ledger(restored, written.ring.log_key, head_file).close()
    restored.dispose()


def test_backup_holds_no_secret_and_is_private(written: Written, blobs: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    backup(written.database, blobs, target)
    files = [path for path in target.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o077 for path in (target, *files)} == {0}
    assert not [path for path in files if "key" in path.name and "api_key" not in path.name]
    assert b"PRIVATE KEY" not in b"".join(path.read_bytes() for path in files)


def test_two_backups_of_one_state_have_equal_files(written: Written, tmp_path: Path) -> None:
    first = backup(written.database, None, tmp_path / "first")
    second = backup(written.database, None, tmp_path / "second")
    assert first.files == second.files


def test_backup_refuses_a_folder_that_holds_something(written: Written, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "notes").write_text("mine")
    with pytest.raises(InvalidInput, match="is not empty; name a new folder"):
        backup(written.database, None, tmp_path / "backup")
    assert [path.name for path in (tmp_path / "backup").iterdir()] == ["notes"]


def test_backup_with_a_damaged_blob_is_not_finished(
    written_sqlite: Written, blobs: Path, tmp_path: Path
) -> None:
    damaged = next(path for path in blobs.rglob("*") if path.name == DIGEST.removeprefix("sha256:"))
    damaged.write_bytes(b"other bytes")
    with pytest.raises(InvalidInput, match=f"damaged.*PUT /v1/blobs/{DIGEST}"):
        backup(written_sqlite.database, blobs, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


def test_backup_that_failed_leaves_the_folder_as_it_was_for_the_next_try(
    written: Written, blobs: Path, tmp_path: Path
) -> None:
    target = tmp_path / "backup"
    target.mkdir()
    damaged = next(path for path in blobs.rglob("*") if path.name == DIGEST.removeprefix("sha256:"))
    damaged.write_bytes(b"other bytes")
    with pytest.raises(InvalidInput, match="damaged"):
        backup(written.database, blobs, target)
    assert list(target.iterdir()) == []
    damaged.write_bytes(CONTENT)
    assert backup(written.database, blobs, target) == read_manifest(target)


def test_database_without_a_log_has_nothing_to_back_up(sqlite_urls: DatabaseUrls, tmp_path: Path) -> None:
    database = migrated(sqlite_urls)
    with pytest.raises(StartRefused, match="no log yet"):
        backup(database, None, tmp_path / "backup")
    database.dispose()


def _cut_manifest(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes()[:-100])


def _climb(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"blobs/', '"blobs/../../'))


def _other_schema(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"schema_revision": "0000", "server_version": "9.9"}))


def _other_columns(folder: Path) -> None:
    path = folder / "tables" / "run_progress.jsonl.gz"
    path.write_bytes(gzip.compress(b'["namespace","other"]\n'))
    manifest = json.loads((folder / "manifest.json").read_text())
    for file in manifest["files"]:
        if file["path"] == "tables/run_progress.jsonl.gz":
            file |= {"size": path.stat().st_size, "sha256": sha256_digest(path.read_bytes())}
    (folder / "manifest.json").write_text(json.dumps(manifest))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "not a finished backup"),
    "half a manifest": (_cut_manifest, "can't be read"),
    "other schema": (_other_schema, "schema 0000.*version 9.9 of the service"),
    "path out of the folder": (_climb, r"blobs/\.\./\.\./.* is missing"),
    "missing table": (
        lambda folder: (folder / "tables" / "run.jsonl.gz").unlink(),
        "run.jsonl.gz is missing",
    ),
    "missing blob": (
        lambda folder: next((folder / "blobs").rglob(DIGEST.removeprefix("sha256:"))).unlink(),
        "is missing",
    ),
    "changed head": (lambda folder: (folder / "log-head").write_text("x"), "log-head has other bytes"),
    "other columns": (_other_columns, "other columns than table run_progress"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_backup_is_refused_and_leaves_nothing(
    written_sqlite: Written, blobs: Path, database_urls: DatabaseUrls, tmp_path: Path, damage: str
) -> None:
    inflict, sentence = DAMAGES[damage]
    backup(written_sqlite.database, blobs, tmp_path / "backup")
    inflict(tmp_path / "backup")
    restored, head_file = migrated(database_urls), HeadFile(tmp_path / "new" / "log-head")

    with pytest.raises(InvalidInput, match=sentence):
        restore(
            tmp_path / "backup", restored, tmp_path / "new" / "blobs", written_sqlite.ring.log_key, head_file
        )

    assert not (tmp_path / "new").exists()
    assert not any(_everything(restored).values())
    restored.dispose()


def test_restore_refuses_a_database_that_was_used(written: Written, tmp_path: Path) -> None:
    backup(written.database, None, tmp_path / "backup")
    with pytest.raises(InvalidInput, match="database is not empty"):
        restore(tmp_path / "backup", written.database, None, written.ring.log_key, written.head_file)
    assert written.checked().clean


def test_restore_refuses_a_folder_with_blobs(
    written_sqlite: Written, blobs: Path, sqlite_urls: DatabaseUrls, tmp_path: Path
) -> None:
    backup(written_sqlite.database, blobs, tmp_path / "backup")
    restored = migrated(sqlite_urls)
    with pytest.raises(InvalidInput, match="holds blobs already"):
        restore(tmp_path / "backup", restored, blobs, written_sqlite.ring.log_key, written_sqlite.head_file)
    assert not any(_everything(restored).values())
    restored.dispose()


def test_restore_that_is_repeated_after_a_crash_succeeds(
    written_sqlite: Written, blobs: Path, sqlite_urls: DatabaseUrls, tmp_path: Path
) -> None:
    backup(written_sqlite.database, blobs, tmp_path / "backup")
    left = tmp_path / "new" / "blobs.restoring" / "half"
    left.mkdir(parents=True)
    (left / "file").write_bytes(b"half")
    restored, head_file = migrated(sqlite_urls), HeadFile(tmp_path / "new" / "log-head")
    folder = tmp_path / "new" / "blobs"
    assert restore(tmp_path / "backup", restored, folder, written_sqlite.ring.log_key, head_file).clean
    assert [path.name for path in folder.rglob("*") if path.is_file()] == [DIGEST.removeprefix("sha256:")]
    restored.dispose()


def test_restore_tells_what_is_wrong_with_the_records_of_a_backup(
    written: Written, sqlite_urls: DatabaseUrls, tmp_path: Path
) -> None:
    written.rewrite("UPDATE record SET level = 'server_run' WHERE position = 5")
    backup(written.database, None, tmp_path / "backup")
    restored = migrated(sqlite_urls)
    report = restore(
        tmp_path / "backup", restored, None, written.ring.log_key, HeadFile(tmp_path / "new" / "log-head")
    )
    assert "record 5 has level server_run, the key that made it self_reported" in report.problems
    restored.dispose()
