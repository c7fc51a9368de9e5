"""Whoever uses the command line is told of options and commands, not of fields and calls of HTTP."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from shipworthy.cli.calls import in_commands
from tests.client.cli.conftest import Shipworthy
from tests.support.bodies import make_run, make_version
from tests.support.service import RunningService

ROOT = Path(__file__).resolve().parents[3]
RUN = "0198a000-0000-7000-8000-000000000000"
DIGEST = f"sha256:{'a' * 64}"
NO_DIGEST = "must be a digest: sha256: and 64 lower-case hex digits"

OF_MODEL = (
    "nope:1: no such version of this model in this registry and namespace; list models at {url}/v1/models"
)
REFUSED: list[tuple[str, str]] = [
    ("runs --state losst", "--state 'losst': must be "),
    ("runs --family abc", f"--family 'abc': {NO_DIGEST}"),
    ("runs --recipe abc", f"--recipe 'abc': {NO_DIGEST}"),
    ("decision show abc", f"DECISION 'abc': {NO_DIGEST}"),
    ("decision bundle abc", f"DECISION 'abc': {NO_DIGEST}"),
    (f"decision show {DIGEST}", f"{DIGEST}: no decision with this id in this namespace"),
    ("decision list --verdict fine", "--verdict 'fine': must be passed, review_required, blocked or"),
    ("baseline show abc", f"DIGEST 'abc': {NO_DIGEST}"),
    (
        "lineage nope:1",
        "nope:1: no such model version in this namespace at that time; list them at {url}/v1/models",
    ),
    (
        f"lineage {RUN}",
        f"{RUN}: no run with this id in this namespace at that time; list them with `shipworthy runs`",
    ),
    ("check nope:1 --to prod", OF_MODEL),
    ("gate evaluate nope:1 --gate nope", OF_MODEL),
    ("gate evaluate m:1 --gate nope", "nope: no gate of this name in this namespace"),
    ("gate show nope", "nope: no gate of this name in this namespace; list them at {url}/v1/gates"),
    ("contract show nope", "nope: no contract of this name in this namespace; list them at {url}/contracts"),
    ("contract check nope --snapshot abc", f"--snapshot 'abc': {NO_DIGEST}"),
    ("slo explain nope/2026-05-01", "nope/2026-05-01: no window of this SLO has this id in this namespace"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_refusal_names_what_was_typed(
    line: str, said: str, sqlite_recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    body = make_run(model_versions=[make_version(model="m", version="1")])
    sqlite_recorder.post("/v1/runs", json=body).raise_for_status()
    done = shipworthy(*line.split())
    url = str(sqlite_recorder.base_url).rstrip("/")
    assert done.code in (1, 2, 6)
    assert done.err.count("\n") == 1
    assert said.replace("{url}", url) in done.err
    assert not re.search(r"(GET|PUT|POST) /|/query/|/path/|\^sha256", done.err)


def test_key_that_lacks_or_is_wrong_names_the_variable(
    sqlite_service: RunningService, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIPWORTHY_URL", sqlite_service.url)
    missing = shipworthy("runs")
    assert missing.code == 6
    assert missing.err.startswith(
        "shipworthy: SHIPWORTHY_TOKEN is not set, and the service asks for a key; have one"
    )
    monkeypatch.setenv("SHIPWORTHY_TOKEN", "sw_wrong")
    wrong = shipworthy("runs")
    assert wrong.code == 6
    assert "the key in SHIPWORTHY_TOKEN is malformed, unknown, expired or revoked" in wrong.err
    assert "the key in SHIPWORTHY_TOKEN is" in shipworthy("doctor").out


# What only programs do: no command makes these calls.
BY_PROGRAMS = re.compile(
    r"/v1/(blobs|break-glass|evaluation-attempts|evaluations|evidence|log|promotions|reconciliations|records:batch|schemas|"
    r"work|slos/[^/]+/exclusions)\b"
)


def advice() -> Iterator[str]:
    """Every text of the service in which a call is named, docstrings and comments left out."""
    for folder in ("api", "models", "gates"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield from texts(ast.parse(file.read_text()))


def texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(each.value) if isinstance(each, ast.Constant) else "{x}" for each in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        documented = isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for each in ast.iter_child_nodes(node):
            if not (documented and isinstance(each, ast.Expr)):
                yield from texts(each)


def test_every_call_that_the_service_advises_has_its_command() -> None:
    # What comes there after the call is a word of its own.
    told = {
        text.replace("decisions{x}", "decisions")
        for text in advice()
        if re.search(r"\b(GET|POST|PUT) /v1/", text)
    }
    assert len(told) > 30
    left = {
        text: in_commands(text, "http://service", "fraud") for text in told if not BY_PROGRAMS.search(text)
    }
    assert [said for said in left.values() if re.search(r"\b(GET|POST|PUT) /v1/", said)] == []
