"""`shipworthy-server worker`: what it says before it starts."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.cli.main import app

PRESENT = importlib.util.find_spec


def run(*arguments: str, **environment: str | None) -> Result:
    given: dict[str, str | None] = {"COLUMNS": "200", "TERM": "dumb", "SHIPWORTHY_TOKEN": None} | environment
    return CliRunner().invoke(app, arguments, env=given)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the extra."""

    def without(name: str, package: str | None = None) -> Any:
        return None if name in ("great_expectations", "duckdb") else PRESENT(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)


def test_help_says_what_each_option_takes() -> None:
    done = run("worker", "--help")
    assert done.exit_code == 0
    for word in (
        "--url",
        "--root",
        "--memory",
        "--time-limit",
        "--slots",
        "--allow-sql",
        "SHIPWORTHY_TOKEN",
        "s3://",
    ):
        assert word in done.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--root", "here=/no/such/folder"], "no such folder"),
        (["--root", "here=/", "--memory", "much"], "2GiB"),
        (["--root", "here=/", "--time-limit", "long"], "30m"),
        (["--root", "here=/"], "put the worker's key into SHIPWORTHY_TOKEN"),
        ([], "put the worker's key into SHIPWORTHY_TOKEN"),
    ],
)
def test_slip_is_answered_with_one_sentence_and_exit_code_1(arguments: list[str], word: str) -> None:
    done = run("worker", "--url", "http://127.0.0.1:1", *arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert word in done.stderr
    assert done.stderr.startswith("shipworthy-server: ")


@pytest.mark.parametrize(
    "command", [["worker", "--url", "http://127.0.0.1:1"], ["serve", "--open", "--port", "0"]]
)
def test_registry_that_is_none_is_said_before_anything_starts(command: list[str], tmp_path: Path) -> None:
    environment = {"SHIPWORTHY_MLFLOW_URI": "mlflow:5000", "SHIPWORTHY_DATA": str(tmp_path)}
    done = run(*command, **environment)
    assert done.exit_code == 1
    assert "SHIPWORTHY_MLFLOW_URI 'mlflow:5000' is no address of an MLflow server" in done.stderr


@pytest.mark.usefixtures("bare")
def test_worker_without_its_extra_says_how_to_install_it() -> None:
    done = run("worker", "--url", "http://127.0.0.1:1", "--root", "here=/", SHIPWORTHY_TOKEN="sw_key")
    assert done.exit_code == 1
    assert "a worker needs great_expectations, duckdb, not installed here" in done.stderr
    assert "pip install 'shipworthy-server[worker]'" in done.stderr


@pytest.mark.usefixtures("bare")
def test_serve_with_a_root_but_without_the_extra_says_so_before_it_listens(tmp_path: Path) -> None:
    done = run("serve", "--open", "--port", "0", "--data", str(tmp_path), "--root", "here=/")
    assert done.exit_code == 1
    assert "pip install 'shipworthy-server[worker]'" in done.stderr
    assert "listens" not in done.stderr
