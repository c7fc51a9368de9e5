"""The commands that look after a ledger, as an administrator uses them."""

import json
import re
import shutil
from pathlib import Path

import pytest
from sqlalchemy import text
from typer.testing import CliRunner, Result

from api.cli.main import app
from models.database import Database
from tests.ledger.conftest import Written
from tests.support.postgres import SERVICE_ROLE


def run(data: Path, *arguments: str) -> Result:
    """The history's records name blobs that were made up; tests/ledger/test_blob_check.py has real ones."""
    without = ["--no-blobs"] if arguments[0] == "fsck" else []
    return CliRunner().invoke(app, [*arguments, *without, "--data", str(data)])


@pytest.fixture
def data(written: Written, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a deployment on either database."""
    monkeypatch.setenv("SHIPWORTHY_DATABASE_URL", written.urls.service_url)
    monkeypatch.setenv("SHIPWORTHY_MIGRATION_URL", written.urls.migration_url)
    monkeypatch.delenv("SHIPWORTHY_BLOBS", raising=False)
    return written.head_file.path.parent


def test_fsck_tells_a_person_that_all_is_well(data: Path) -> None:
    result = run(data, "fsck")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("Checked", "All is well.")
    assert any(line.endswith("  records") for line in lines)


def test_fsck_lists_what_is_wrong_and_exits_with_1(written: Written, data: Path) -> None:
    written.rewrite("UPDATE record SET level = 'server_run' WHERE position IN (5, 6)")
    result = run(data, "fsck")
    assert result.exit_code == 1
    assert "  - record 5 has level server_run, the key that made it self_reported" in result.stdout
    as_json = run(data, "fsck", "--json")
    report = json.loads(as_json.stdout)
    assert as_json.exit_code == 1
    assert report["clean"] is False
    assert report["problem_count"] == len(report["problems"])
    assert report["checked"]["records"] > 300


def test_fsck_without_the_log_key_says_what_is_missing(data: Path) -> None:
    (data / "keys" / "log-key.pem").unlink()
    result = run(data, "fsck")
    assert result.exit_code == 1
    assert "log-key.pem" in result.stderr
    assert "Traceback" not in result.output


def test_rebuild_makes_lost_projections_again(written: Written, data: Path) -> None:
    with written.database.connection() as connection:
        connection.execute(text("DELETE FROM run"))
    assert run(data, "fsck").exit_code == 1
    result = run(data, "db", "rebuild")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Made the projections of 4")
    assert run(data, "fsck").exit_code == 0


def test_backup_goes_back_into_a_new_sqlite_deployment(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = run(data, "backup", str(tmp_path / "backup"))
    assert made.exit_code == 0, made.output
    assert "keep a copy of them elsewhere" in made.stderr
    monkeypatch.delenv("SHIPWORTHY_DATABASE_URL")
    monkeypatch.delenv("SHIPWORTHY_MIGRATION_URL")
    new = tmp_path / "new"
    shutil.copytree(data / "keys", new / "keys")

    result = run(new, "restore", str(tmp_path / "backup"))

    assert result.exit_code == 0, result.output
    assert "All is well." in result.stdout
    assert run(new, "fsck").exit_code == 0
    again = run(new, "restore", str(tmp_path / "backup"))
    assert again.exit_code == 1
    assert "not empty" in again.stderr


def test_restore_without_the_keys_is_refused_before_anything_is_written(
    written_sqlite: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHIPWORTHY_DATABASE_URL", raising=False)
    result = run(tmp_path / "new", "restore", str(tmp_path / "backup"))
    assert result.exit_code == 1
    assert "key folder" in result.stderr
    assert not (tmp_path / "new").exists()


def test_restored_older_backup_goes_on_only_when_the_loss_is_accepted(data: Path, tmp_path: Path) -> None:
    """`keys create` opens the ledger as `serve` does."""
    nothing = run(data, "log", "accept-restore", "--reason", "to be sure")
    assert nothing.exit_code == 1
    assert "nothing was lost" in nothing.stderr
    with pytest.MonkeyPatch.context() as patch:
        run(data, "backup", str(tmp_path / "backup"))
        assert run(data, "keys", "create", "--role", "reader").exit_code == 0
        new = tmp_path / "new"
        shutil.copytree(data, new, ignore=shutil.ignore_patterns("shipworthy.sqlite3*"))
        patch.setenv("SHIPWORTHY_DATABASE_URL", f"sqlite:///{new / 'shipworthy.sqlite3'}")
        patch.delenv("SHIPWORTHY_MIGRATION_URL")
        restored = run(new, "restore", str(tmp_path / "backup"))
        assert restored.exit_code == 1
        assert "the head kept outside says" in restored.stdout
        refused = run(new, "keys", "create", "--role", "reader")
        assert refused.exit_code == 1
        assert "log accept-restore --reason" in refused.stderr

        accepted = run(new, "log", "accept-restore", "--reason", "the disk died")

        assert accepted.exit_code == 0, accepted.output
        assert "The log goes on as shipworthy/log/" in accepted.stdout
        assert run(new, "keys", "create", "--role", "reader").exit_code == 0
        assert run(new, "fsck").exit_code == 0


def test_printed_roles_are_sql_that_the_owner_can_run(
    written_postgresql: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIPWORTHY_DATABASE_URL", written_postgresql.urls.service_url)
    result = run(tmp_path, "db", "roles")
    assert result.exit_code == 0, result.output
    assert f'TO "{SERVICE_ROLE}";' in result.stdout
    owner = Database(written_postgresql.urls.migration_url)
    with owner.connection() as connection:
        connection.exec_driver_sql(f"GRANT UPDATE ON record TO {SERVICE_ROLE}")
        for statement in result.stdout.splitlines():
            connection.exec_driver_sql(statement)
    owner.dispose()
    assert written_postgresql.checked().clean


def test_upgrade_with_the_service_role_alone_is_refused(
    written_postgresql: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIPWORTHY_DATABASE_URL", written_postgresql.urls.service_url)
    monkeypatch.delenv("SHIPWORTHY_MIGRATION_URL", raising=False)
    refused = run(tmp_path, "db", "upgrade")
    assert refused.exit_code == 1
    assert "SHIPWORTHY_MIGRATION_URL" in refused.stderr
    monkeypatch.setenv("SHIPWORTHY_MIGRATION_URL", written_postgresql.urls.migration_url)
    assert run(tmp_path, "db", "upgrade").exit_code == 0


@pytest.mark.parametrize("begun", [[], [["keys", "init"]], [["keys", "init"], ["db", "upgrade"]]])
def test_fsck_before_the_first_start_says_that_there_is_nothing_yet(
    begun: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHIPWORTHY_DATABASE_URL", raising=False)
    monkeypatch.delenv("SHIPWORTHY_MIGRATION_URL", raising=False)
    new = tmp_path / "new"
    for arguments in begun:
        assert run(new, *arguments).exit_code == 0
    result = run(new, "fsck")
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"there is no deployment in {new} yet; start it once with" in result.stderr


def test_fsck_of_a_database_whose_heads_were_removed_is_no_new_deployment(
    written_sqlite: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIPWORTHY_DATABASE_URL", written_sqlite.urls.service_url)
    written_sqlite.rewrite("DELETE FROM tree_head")
    written_sqlite.head_file.path.unlink()
    result = run(written_sqlite.head_file.path.parent, "fsck")
    assert result.exit_code == 1
    assert "its heads were removed" in result.stdout


def test_version_is_told() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert re.fullmatch(r"shipworthy-server \d+\.\d+\.\d+\n", result.stdout)
