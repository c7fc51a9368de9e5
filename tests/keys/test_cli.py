"""`shipworthy-server keys` as an administrator uses it."""

import json
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli.keys import app, parse_span
from models.errors import InvalidInput
from models.keys.tokens import parse_token


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SHIPWORTHY_DATABASE_URL", "SHIPWORTHY_MIGRATION_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "deployment"


@pytest.fixture
def begun(data: Path) -> Path:
    """A deployment that has its key files."""
    assert run(data, "init").exit_code == 0
    return data


def run(data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--data", str(data)])


def make_key(data: Path, *arguments: str) -> dict[str, object]:
    result = run(data, "create", *arguments, "--json")
    assert result.exit_code == 0, result.output
    made: dict[str, object] = json.loads(result.stdout)
    return made


def listed(data: Path, *arguments: str) -> list[dict[str, object]]:
    result = run(data, "list", "--json", *arguments)
    assert result.exit_code == 0, result.output
    rows: list[dict[str, object]] = json.loads(result.stdout)
    return rows


def test_init_makes_the_key_files_once(data: Path) -> None:
    assert run(data, "init").exit_code == 0
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    made = {path.name: path.read_bytes() for path in (data / "keys").iterdir()}
    assert len(made) == 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in (data / "keys").iterdir()} == {0o600}
    again = run(data, "init")
    assert again.exit_code == 1
    assert "exists" in again.stderr
    assert {path.name: path.read_bytes() for path in (data / "keys").iterdir()} == made


def test_create_prints_the_token_alone_on_standard_output(data: Path) -> None:
    result = run(data, "create", "--role", "recorder", "--role", "reader", "--owner", "ada@example.org")
    assert result.exit_code == 0, result.output
    token = result.stdout.removesuffix("\n")
    parsed = parse_token(token)
    assert parsed is not None
    assert token not in result.stderr
    assert parsed.key_id in result.stderr
    assert "reader, recorder" in result.stderr


def test_token_stays_alone_when_the_head_of_the_log_can_not_be_written(data: Path) -> None:
    command = (
        "import api.cli.main, models.ledger.head as head\n"
        "def full(*_): raise OSError(28, 'No space left on device')\n"
        "head.HeadFile.write = full; api.cli.main.app()"
    )
    made = subprocess.run(
        [sys.executable, "-c", command, "keys", "create", "--role", "reader", "--data", str(data)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert parse_token(made.stdout.removesuffix("\n")) is not None
    assert "ledger.head_file_failed" in made.stderr


def test_json_names_everything_about_the_new_key(data: Path) -> None:
    made = make_key(
        data,
        *("--role", "approver", "--namespace", "team-a", "--owner", "ada@example.org"),
        *("--groups", "risk,model", "--groups", "audit", "--expires-in", "90d"),
    )
    assert made["namespace"] == "team-a"
    assert made["roles"] == ["approver"]
    assert made["groups"] == ["audit", "model", "risk"]
    assert made["level"] == "self_reported"
    parsed = parse_token(str(made["token"]))
    assert parsed is not None
    assert parsed.key_id == made["key_id"]
    [row] = listed(data)
    assert row["expires_at"] == made["expires_at"] is not None


def test_list_shows_owner_and_state_but_no_token(data: Path) -> None:
    first = make_key(data, "--role", "recorder", "--owner", "Ada@example.org")
    second = make_key(data, "--role", "worker", "--level", "server_run", "--namespace", "team-b")
    assert run(data, "revoke", str(first["key_id"]), "--reason", "left").exit_code == 0
    assert [(row["key_id"], row["state"], row["owner"], row["level"]) for row in listed(data)] == [
        (first["key_id"], "revoked", "Ada@example.org", "self_reported"),
        (second["key_id"], "active", None, "server_run"),
    ]
    assert [row["key_id"] for row in listed(data, "--namespace", "team-b")] == [second["key_id"]]
    table = run(data, "list").stdout
    assert "KEY ID" in table
    assert str(second["key_id"]) in table
    for made in (first, second):
        assert str(made["token"]).split("_")[2] not in table + json.dumps(listed(data))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["create", "--role", "boss"], "use one of reader, recorder"),
        (["create"], "with --role, one of reader, recorder, evaluator"),
        (["create", "--role", "admin", "--role", "recorder"], "admin key may not also be recorder"),
        (["create", "--role", "approver"], "needs its owner"),
        (["create", "--role", "reader", "--expires-in", "soon"], "for instance 90d"),
        (["create", "--role", "reader", "--namespace", "a b"], "namespace 'a b'"),
        (["revoke", "a" * 12, "--reason", "x"], "keys list"),
        (["revoke", "nonsense", "--reason", "x"], "keys list"),
    ],
)
def test_refusals_are_one_sentence_without_a_traceback(
    begun: Path, arguments: list[str], sentence: str
) -> None:
    result = run(begun, *arguments)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert listed(begun) == []


def test_empty_list_names_the_next_command(begun: Path) -> None:
    result = run(begun, "list")
    assert result.stdout == ""
    assert result.stderr.startswith("There are no keys. Make one with: shipworthy-server keys create")
    make_key(begun, "--role", "reader", "--namespace", "team-a")
    elsewhere = run(begun, "list", "--namespace", "nix")
    assert elsewhere.stderr == (
        "There are no keys in the namespace nix. Make one with: "
        "shipworthy-server keys create --role reader --namespace nix\n"
    )


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("90d", 90 * 24), ("2w", 14 * 24)])
def test_spans_are_hours_days_or_weeks(text: str, hours: int) -> None:
    assert parse_span(text).total_seconds() == hours * 3600


@pytest.mark.parametrize("text", ["", "0d", "-1d", "90", "d", "1.5d", "1y", "90d ", "٣d", "100000w"])
def test_other_spans_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="90d"):
        parse_span(text)


def test_a_data_folder_that_cannot_be_made_is_told_plainly(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    result = run(in_the_way, "create", "--role", "reader")
    assert result.exit_code == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert str(in_the_way) in result.stderr
    assert "choose a folder" in result.stderr


def test_a_database_that_cannot_be_reached_is_told_with_its_address(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("SHIPWORTHY_DATABASE_URL", f"postgresql://shipworthy_service:x@127.0.0.1:{port}/sw")
    result = run(begun, "list")
    assert result.exit_code == 1
    (sentence,) = result.stderr.splitlines()
    assert (
        f"SHIPWORTHY_DATABASE_URL (user shipworthy_service, host 127.0.0.1:{port}, database sw)" in sentence
    )
    assert "nothing listens there" in sentence


@pytest.mark.parametrize("arguments", [["list"], ["revoke", "a" * 12, "--reason", "left"]])
def test_a_misspelt_folder_becomes_no_deployment(data: Path, arguments: list[str]) -> None:
    result = run(data, *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"there is no deployment in {data} yet" in result.stderr
    assert f"serve --data {data}" in result.stderr
    assert not data.exists()
