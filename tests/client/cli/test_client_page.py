"""docs/client.md against what there is: commands, options, settings, exit codes, and its programs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shipworthy.cli.exits import Exit
from tests.client.cli.conftest import Shipworthy, spawn

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/client.md").read_text(encoding="utf-8")
SOURCES = ROOT / "clients/python/src/shipworthy"


def test_every_command_has_a_row() -> None:
    listed = re.findall(r"^  ([a-z]+)  ", spawn("--help").out, flags=re.MULTILINE)
    assert len(listed) == 22
    assert [name for name in listed if not re.search(rf"^\|.*`shipworthy {name}\b", PAGE, re.MULTILINE)] == []


def test_every_listed_command_is_there(shipworthy: Shipworthy) -> None:
    listed = re.findall(r"^  ([a-z]+)  ", shipworthy("--help").out, flags=re.MULTILINE)
    assert len(listed) == 22
    for name in listed:
        told = shipworthy(name, "--help")
        assert (told.code, f"shipworthy {name} " in told.out) == (0, True), told


def test_help_lists_commands_without_importing_what_they_need() -> None:
    program = (
        "import sys; from shipworthy.cli.main import app\n"
        "try: app()\n"
        "finally: print(sorted({'httpx', 'pydantic', 'shipworthy.cli.gate'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_exit_code_has_a_row() -> None:
    assert set(map(int, re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE))) == set(Exit)


def test_every_setting_has_a_row() -> None:
    read: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        # Also those of which a constant or a loop gives the name.
        read |= set(re.findall(r"\bSHIPWORTHY_[A-Z_]+[A-Z]\b", path.read_text(encoding="utf-8")))
    assert {"SHIPWORTHY_URL", "SHIPWORTHY_TOKEN", "SHIPWORTHY_DIR", "SHIPWORTHY_IMAGE"} <= read
    # What it says of the service's own settings stands on their page.
    pages = PAGE + (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    rows = [line for line in pages.splitlines() if line.startswith("| `SHIPWORTHY_")]
    assert {name for name in read if not any(f"`{name}`" in row for row in rows)} == set()


@pytest.mark.parametrize(
    "program", re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
)
def test_programs_run_as_written(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["plain_loop.py", "word_count.sh"])
def test_examples_that_need_nothing_run(name: str) -> None:
    example = ROOT / "examples" / name
    if name.endswith(".sh"):
        source = str(ROOT / "LICENSE")
        done = spawn(
            "exec", "--artifact", "counts=out/words.txt", "--", "sh", str(example), source, "out/words.txt"
        )
        code, out = done.code, done.out
    else:
        ran = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False)
        code, out = ran.returncode, ran.stdout
    assert code == 0
    assert ("y = 3.0" if name.endswith(".py") else " the\n") in out
    assert len([entry for entry in os.listdir(".shipworthy") if len(entry) == 36]) == 1


@pytest.mark.parametrize(
    ("group", "page"),
    [
        ("contract", "contracts"),
        ("baseline", "contracts"),
        ("gate", "gates"),
        ("decision", "gates"),
        ("review", "gates"),
    ],
)
def test_every_command_of_a_group_has_a_row(group: str, page: str) -> None:
    page = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    listed = re.findall(r"^  ([a-z]+)  ", spawn(group, "--help").out, flags=re.MULTILINE)
    assert len(listed) >= 3
    assert [name for name in listed if f"`shipworthy {group} {name}" not in page] == []
