"""What the documents say is true: the tour runs, and nothing that users meet is left out."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from api import settings as settings_module
from api.error_codes import CODES
from api.errors import STATUS
from models.errors import StartRefused
from tests.support.service import RunningService

ROOT = Path(__file__).parent.parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def commands_of(heading: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^```bash\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    assert len(found) >= 3
    return found


def run_sections(folder: Path, *headings: str) -> str:
    """What the commands of sections of the README print, in a folder that has only what they read. A section goes on
    where the one before ended."""
    commands = [command for heading in headings for command in commands_of(heading)]
    script = "\n".join(["set -euo pipefail", "trap 'kill $(jobs -p) || true; wait' EXIT", *commands])
    script = re.sub("8471|8472", str(free_port()), script)
    for name in ("examples", "tests"):
        (folder / name).symlink_to(ROOT / name)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_readme_leads_to_a_run_and_a_check_of_ones_own(tmp_path: Path) -> None:
    told = run_sections(tmp_path, "A run, data and a promise of your own")
    assert "made by  me/first  completed" in told
    assert "1 of 3 values of 'age' lie outside" in told
    assert "not to be trained on: exit code 1" in told
    assert "1 of 1 window on time, target 90 %" in told
    assert "MET  trained-daily/" in told


def test_readme_tour_runs_as_written(tmp_path: Path) -> None:
    told = run_sections(tmp_path, "Five minutes", "May it ship?")
    assert '"schema": "shipworthy.lineage/1"' in told
    assert "the image is named by a tag, which can be moved" in told
    assert "✓ passed  taxi version 1" in told
    decided = [line.split("  ")[0] for line in told.splitlines() if "report-summarizer:1 (" in line]
    assert decided == ["MAY NOT SHIP", "NEEDS REVIEW", "MAY SHIP", "MAY SHIP"]
    assert "nobody measured it: exit code 4" in told
    assert "needs a person: exit code 3" in told
    assert "PROVEN: report-summarizer may go to champion" in told


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "CONTRIBUTING.md",
        *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")),
    ],
)
def test_relative_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = [link for link in re.findall(r"\]\(([^)#]+)", text) if not link.startswith("http")]
    assert [link for link in targets if not (ROOT / document).parent.joinpath(link).exists()] == []


def test_every_setting_is_in_the_operations_page() -> None:
    source = Path(settings_module.__file__).read_text(encoding="utf-8")
    named = set(re.findall(r'"(SHIPWORTHY_[A-Z_]+)"', source)) | {"SHIPWORTHY_DATA"}
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    assert {name for name in named if f"`{name}`" not in page} == set()


def test_every_call_is_in_the_api_page(sqlite_service: RunningService) -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    calls = {
        f"{method.upper()} {path}"
        for path, methods in httpx.get(f"{sqlite_service.url}/openapi.json").json()["paths"].items()
        for method in methods
    }
    assert len(calls) > 30
    assert {call for call in calls if not call.startswith("HEAD") and f"`{call}`" not in page} == set()


def test_every_error_code_has_a_row_that_says_what_to_do() -> None:
    """The same on the service's own page, which problem documents lead to, and in docs/api.md."""
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d{3}|–) \| `([a-z_]+)` \| (.+) \|$", page, flags=re.MULTILINE)
    assert rows == [(str(each.status or "–"), each.code, each.advice) for each in CODES]
    known = {each.code: each.status for each in CODES}
    differing = {error for error, status in STATUS.items() if known[error.code] != status}
    assert differing == {StartRefused}, "never answered over HTTP"
    assert all(len(each.advice) > 20 for each in CODES)
