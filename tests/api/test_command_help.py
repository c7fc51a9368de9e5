"""What `shipworthy-server` says of itself: help, variables, and options that were given wrong."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from api.cli.variables import KNOWN, SERVE, unknown_variables
from models.actor import Role

ROOT = Path(__file__).resolve().parents[2]
READ_IN = (
    "api",
    "models",
    "gates",
    "migrations",
    "clients",
    "deploy",
    "tests/conftest.py",
    "tests/support",
    "tools",
)


def said(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "80", "TERM": "dumb"})
    return done.output


@pytest.mark.parametrize(
    "command", [(), ("serve",), ("worker",), ("keys",), ("keys", "create"), ("db", "roles")]
)
def test_help_is_given_for_both_spellings(command: tuple[str, ...]) -> None:
    assert said(*command, "-h") == said(*command, "--help")
    assert "Usage: " in said(*command, "-h")


def test_help_of_serve_names_every_variable_in_a_line_of_its_own() -> None:
    lines = said("serve", "--help").splitlines()
    for name in SERVE:
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        assert 40 < len(line) <= 80


def test_help_of_keys_names_every_role_and_what_the_level_is_for() -> None:
    told = " ".join(said("keys", "create", "--help").split())
    assert ", ".join(Role) in told
    assert "Only server_run, for a key whose one role is worker" in told


def test_paragraphs_of_help_are_wrapped_as_one() -> None:
    lines = said("worker", "--help").splitlines()
    assert all(not line or len(line) > 40 or line.endswith(".") for line in lines[2:15]), lines[2:15]


@pytest.mark.parametrize("value", ["abc", "80000", "-1", "1.5", "", "٣"])
def test_wrong_port_is_shown_with_what_is_taken(value: str) -> None:
    told = said("serve", "--port", value)
    assert f"Invalid value for '--port': {value!r} is not taken; give a whole number from 0 to 65535" in told


def test_misspelt_variable_is_told_with_the_nearest_one() -> None:
    given = {"SHIPWORTHY_DATABASE_UR": "x", "SHIPWORTHY_FOO": "x", "SHIPWORTHY_URL": "x", "OTHER": "x"}
    assert list(unknown_variables(given)) == [
        "SHIPWORTHY_DATABASE_UR is no variable of Shipworthy and changes nothing; "
        "did you mean SHIPWORTHY_DATABASE_URL?",
        "SHIPWORTHY_FOO is no variable of Shipworthy and changes nothing; "
        "unset it; docs/operations.md lists those there are",
    ]


def test_variables_that_kubernetes_sets_for_a_service_are_no_slips() -> None:
    given = (
        "SERVICE_HOST",
        "SERVICE_PORT",
        "SERVICE_PORT_HTTP",
        "PORT",
        "PORT_8470_TCP",
        "PORT_8470_TCP_ADDR",
    )
    names = [f"SHIPWORTHY_{kind}{name}" for name in given for kind in ("", "SERVER_")]
    assert list(unknown_variables(dict.fromkeys(names, "x"))) == []


def test_every_variable_that_is_read_anywhere_is_known() -> None:
    """A worker, a training program and the guard share shells and containers with the service."""
    read = set()
    for place in READ_IN:
        for path in [ROOT / place] if (ROOT / place).is_file() else (ROOT / place).rglob("*"):
            if path.is_file() and path.suffix in ("", ".py", ".yaml", ".yml"):
                read |= set(re.findall(r"SHIPWORTHY_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8")))
    assert read - KNOWN == set()
    assert len(read) > 20
