"""A start that can't go on says which folder, file or database, the reason and what to do; never a traceback."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import make_url
from typer.testing import CliRunner

from api.cli.main import app
from tests.support.databases import DatabaseUrls
from tests.support.postgres import SERVICE_ROLE, PostgresServer

COMMAND = "from api.cli.main import app; app()"
COMMANDS = (
    ["serve", "--port", "0"],
    ["fsck"],
    ["backup", "BACKUP"],
    ["restore", "BACKUP"],
    ["keys", "init"],
    ["keys", "create", "--role", "reader"],
    ["keys", "list"],
    ["db", "upgrade"],
    ["db", "rebuild"],
    ["log", "accept-restore", "--reason", "x"],
)


def bare() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")}


def served(
    data: Path, variables: Mapping[str, str] | None = None, command: str = COMMAND
) -> subprocess.CompletedProcess[str]:
    """A start that is expected to be refused."""
    return subprocess.run(
        [sys.executable, "-c", command, "serve", "--port", "0", "--data", str(data)],
        env=bare() | dict(variables or {}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def places(tmp_path: Path) -> list[Path]:
    """Folders that nobody can make: below a file, in /proc and, unless root is who tries, where one may not write."""
    (tmp_path / "file").write_text("")
    found = [tmp_path / "file", tmp_path / "file" / "below", Path("/proc/shipworthy")]
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o555)
        found.append(tmp_path / "closed" / "data")
    return found


def test_serve_in_a_folder_that_cannot_be_made_is_told_in_one_sentence(tmp_path: Path) -> None:
    for place in places(tmp_path):
        refused = served(place)
        (sentence,) = refused.stderr.splitlines()
        assert refused.returncode == 1
        assert sentence.startswith(f"shipworthy-server: the data folder {place} can't be made")
        assert sentence.endswith("give a folder that you own with --data DIR")


@pytest.mark.parametrize("arguments", COMMANDS[1:], ids=" ".join)
def test_every_command_tells_of_a_folder_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.delenv("SHIPWORTHY_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    for place in places(tmp_path):
        result = CliRunner().invoke(app, [*arguments, "--data", str(place)])
        assert (result.exit_code, type(result.exception)) == (1, SystemExit)
        (sentence,) = result.stderr.splitlines()
        assert str(place) in sentence
        assert "--data" in sentence or "keys init" in sentence or "backup" in sentence


@pytest.mark.parametrize("name", ["log-head", "database", "database/shipworthy.sqlite3", "keys"])
@pytest.mark.parametrize("arguments", [["keys", "create", "--role", "reader"], ["fsck"]], ids=" ".join)
def test_something_else_in_the_place_of_a_file_is_told_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, arguments: list[str]
) -> None:
    monkeypatch.delenv("SHIPWORTHY_DATABASE_URL", raising=False)
    data = tmp_path / "data"
    assert CliRunner().invoke(app, ["keys", "create", "--role", "reader", "--data", str(data)]).exit_code == 0
    place = data / name
    if place.is_dir():
        place.rename(tmp_path / "elsewhere")
        place.write_text("in the way")
    else:
        place.unlink(missing_ok=True)
        place.mkdir()
    result = CliRunner().invoke(app, [*arguments, "--data", str(data)])
    assert (result.exit_code, type(result.exception)) == (1, SystemExit)
    (sentence,) = result.stderr.splitlines()
    assert str(place) in sentence


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everything")
@pytest.mark.parametrize("name", ["", "database", "database/shipworthy.sqlite3"])
def test_what_may_only_be_read_is_told_before_anything_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("SHIPWORTHY_DATABASE_URL", raising=False)
    data = tmp_path / "data"
    assert CliRunner().invoke(app, ["keys", "create", "--role", "reader", "--data", str(data)]).exit_code == 0
    (data / name).chmod(0o555 if (data / name).is_dir() else 0o444)
    refused = served(data)
    (data / name).chmod(0o700)
    (sentence,) = refused.stderr.splitlines()
    assert str(data / name) in sentence
    assert "give a folder that you own with --data" in sentence


def test_file_that_is_no_database_is_told_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHIPWORTHY_DATABASE_URL", raising=False)
    (tmp_path / "database").mkdir()
    (tmp_path / "database" / "shipworthy.sqlite3").write_text("no database" * 100)
    refused = served(tmp_path)
    (sentence,) = refused.stderr.splitlines()
    assert "file is not a database" in sentence
    assert "shipworthy-server restore" in sentence


def test_unforeseen_failure_of_a_migration_is_one_line_and_where_to_look(tmp_path: Path) -> None:
    broken = (
        "from models.ledger import schema\n"
        "def fall(_): raise LookupError('nobody thought of it')\n"
        "schema.current_revision = fall\n" + COMMAND
    )
    refused = served(tmp_path, command=broken)
    logged, sentence = refused.stderr.splitlines()
    assert refused.returncode == 1
    assert json.loads(logged)["event"] == "migration_failed"
    assert "nobody thought of it" in logged
    assert sentence.startswith("shipworthy-server: bringing the schema up to date failed (LookupError)")


def test_start_that_may_not_migrate_says_which_variable_to_set(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    postgres_server.create_database("empty")
    url = postgres_server.url(SERVICE_ROLE, "empty")
    refused = served(tmp_path, {"SHIPWORTHY_DATABASE_URL": url, "SHIPWORTHY_MIGRATION_URL": url})
    assert refused.returncode == 1
    (sentence,) = refused.stderr.splitlines()
    assert sentence.startswith("shipworthy-server: the schema can't be brought up to date (permission denied")
    assert sentence.endswith("SHIPWORTHY_MIGRATION_URL must name the role that owns the tables")


def test_start_whose_migration_is_cut_off_ends_with_a_sentence_and_the_next_one_serves(
    tmp_path: Path,
) -> None:
    """As by the kernel when memory is short: the process that migrates is another than the one that serves."""
    cut_off = (
        "import os, signal; from models.ledger import schema\n"
        "schema.current_revision = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n" + COMMAND
    )
    refused = served(tmp_path, command=cut_off)
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "shipworthy-server: bringing the schema up to date was cut off and left nothing behind; start the service again"
    ]
    created = subprocess.run(
        [sys.executable, "-c", COMMAND, "keys", "create", "--role", "reader", "--data", str(tmp_path)],
        env=bare(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert created.returncode == 0, created.stderr


def test_migration_that_is_interrupted_prints_no_traceback(tmp_path: Path) -> None:
    interrupted = (
        "import os, signal; from models.ledger import schema\n"
        f"schema.current_revision = lambda _: os.kill(os.getpid(), {int(signal.SIGINT)})\n" + COMMAND
    )
    refused = served(tmp_path, command=interrupted)
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"password": "wrong"}, "the server refuses user or password"),
        ({"database": "absent"}, "the server has no such database; create it"),
        ({"host": "nowhere.invalid"}, "no host of that name is found"),
        ({"port": 1}, "nothing listens there; start PostgreSQL"),
    ],
)
@pytest.mark.parametrize("variable", ["SHIPWORTHY_DATABASE_URL", "SHIPWORTHY_MIGRATION_URL"])
def test_wrong_database_url_names_the_variable_and_the_remedy(
    postgres_server: PostgresServer,
    postgresql_urls: DatabaseUrls,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    change: dict[str, str | int],
    cause: str,
) -> None:
    right = {
        "SHIPWORTHY_DATABASE_URL": postgresql_urls.service_url,
        "SHIPWORTHY_MIGRATION_URL": postgresql_urls.migration_url,
    }
    url = make_url(right[variable])
    url = url.set(**change)  # type: ignore[arg-type]
    for name, value in right.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(variable, url.render_as_string(hide_password=False))
    result = CliRunner().invoke(app, ["keys", "create", "--role", "reader", "--data", str(tmp_path / "data")])
    assert result.exit_code == 1
    (sentence,) = result.stderr.splitlines()
    role = SERVICE_ROLE if variable == "SHIPWORTHY_DATABASE_URL" else url.username
    assert sentence.startswith(
        f"shipworthy-server: {variable} (user {role}, host {url.host}:{url.port}, database {url.database}): {cause}"
    )
    assert "wrong" not in sentence
    assert postgres_server.password not in result.output
