"""What `--help` tells of every command, and what a wrong value is told."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from shipworthy.cli.commands import _ENTRIES, _PASSED_ON, commands
from tests.client.cli.conftest import Shipworthy, spawn

GROUPS = [(), *((name,) for name in _ENTRIES)]


def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield " ".join(path), command
        return
    for name, each in command.commands.items():
        yield from leaves(each, (*path, name))


ALL = dict(
    leaf
    for name in _ENTRIES
    if name not in _PASSED_ON
    for leaf in leaves(typer.main.get_command(commands([name])), ())
)


def test_every_option_and_argument_is_told() -> None:
    assert len(ALL) > 30
    bare = [
        f"{name} {each.name}" for name, command in ALL.items() for each in command.params if not each.help
    ]
    assert bare == []


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_no_summary_is_cut_at_80_columns(
    group: tuple[str, ...], shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = shipworthy(*group, "--help")
    assert told.code == 0
    assert not re.search(r"(\.\.\.|…)$", told.out.split("Commands:")[-1], re.MULTILINE)


@pytest.mark.parametrize("name", sorted(_PASSED_ON))
def test_commands_of_the_core_tell_their_options_too(name: str) -> None:
    # What is too long for its column is told in the next line.
    told = re.sub(r"\n {12,}", "  ", spawn(name, "--help", COLUMNS="200").out)
    options = [line for line in told.splitlines() if re.match(r"  (-\w, )?--\w", line)]
    assert options
    assert [line for line in options if not re.search(r"\S {2,}\S", line.strip())] == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("runs --limit 0", "'--limit': '0' is less than 1."),
        ("runs --limit 99999", "'--limit': '99999' is more than 10,000."),
        ("runs --limit all", "'--limit': 'all' is no whole number."),
        ("contract check x --timeout soon", "'--timeout': 'soon' is no number."),
        ("baseline make --bins 1", "'--bins': '1' is less than 2."),
        ("lineage a:1 --direction sideways", "'--direction': 'sideways' is not one of 'upstream', "),
    ],
)
def test_value_that_can_not_be_read_is_told(line: str, said: str, shipworthy: Shipworthy) -> None:
    done = shipworthy(*line.split())
    assert (done.code, said in done.err) == (2, True), done.err
