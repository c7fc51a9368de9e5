"""`shipworthy slo` as authors and CI use it."""

import json
from pathlib import Path

import pytest

from tests.client.cli.conftest import Shipworthy
from tests.support.service import RunningService
from tests.support.slos import NAME, SloScene, make_slo
from tests.web.slo_scenes import EXCLUDED, LATE, NEVER, UNSURE, with_outcomes

EXAMPLE = Path(__file__).parents[3] / "examples/slos/data_by_cutoff.yaml"


@pytest.fixture(autouse=True)
def author(sqlite_service: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    client = sqlite_service.client("author", owner="ada@example.org")
    monkeypatch.setenv("SHIPWORTHY_URL", sqlite_service.url)
    monkeypatch.setenv("SHIPWORTHY_TOKEN", client.headers["authorization"].removeprefix("Bearer "))


def test_a_sound_definition_shows_its_next_deadlines(shipworthy: Shipworthy) -> None:
    told = shipworthy("slo", "lint", str(EXAMPLE))
    assert told.code == 0
    assert "✓ can be published" in told.out
    assert "/expect: the next deadlines are " in told.err


def test_each_problem_is_told_with_file_line_and_remedy(shipworthy: Shipworthy) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    broken = text.replace("              onMissing: breach\n", "").replace('["US"]', "[NO]")
    Path("slo.yaml").write_text(broken)
    line = next(number for number, each in enumerate(broken.splitlines(), 1) if "[NO]" in each)
    told = shipworthy("slo", "lint", "slo.yaml")
    assert (told.code, told.out) == (1, "")
    said = next(
        each for each in told.err.splitlines() if each.startswith(f"slo.yaml:{line}: error: /spec/indicator/")
    )
    assert said.endswith('/calendars/0: is read as true or false by YAML 1.1; put it in quotes: "NO"')
    assert "(there is no default)" in told.err
    found = json.loads(shipworthy("slo", "lint", "slo.yaml", "--json").out)
    assert found["ok"] is False
    assert [each["severity"] for each in found["problems"]] == ["error", "error"]


def test_a_definition_is_published_and_a_wrong_one_is_told_as_lint_tells_it(shipworthy: Shipworthy) -> None:
    Path("slo.json").write_bytes(make_slo())
    told = shipworthy("slo", "publish", NAME, "slo.json")
    assert told.code == 0
    assert told.out.startswith(f"{NAME} version 1  sha256:")
    assert "the next deadlines are" in told.err
    elsewhere = shipworthy("slo", "publish", "another", "slo.json")
    assert (elsewhere.code, "the command says another" in elsewhere.err) == (1, True)
    Path("slo.json").write_bytes(make_slo(target=1.0))
    refused = shipworthy("slo", "publish", NAME, "slo.json")
    assert (refused.code, "kind: Invariant" in refused.err) == (1, True)


def test_a_file_that_is_not_there_is_wrong_use(shipworthy: Shipworthy) -> None:
    told = shipworthy("slo", "lint", "missing.yaml")
    assert told.code == 2
    assert "can't be read" in told.err


def test_report_tells_worst_first_and_exits_by_what_is_broken(
    shipworthy: Shipworthy, sqlite_service: RunningService
) -> None:
    scene = SloScene(sqlite_service)
    empty = shipworthy("slo", "report")
    assert (empty.code, empty.out) == (0, "")
    assert "Nothing is promised" in empty.err
    with_outcomes(scene)
    span = ("--from", f"{scene.at(0):%Y-%m-%dT%H:%M:%SZ}", "--to", f"{scene.at(10):%Y-%m-%dT%H:%M:%SZ}")
    told = shipworthy("slo", "report", *span)
    assert told.code == 1
    assert told.out.index("BROKEN") < told.out.index(UNSURE)
    assert "7 of 9 windows on time, target 90 %: 0.9 misses allowed, 2 used" in told.out
    assert "its source airflow is silent" in told.out
    assert "2 promises: 1 broken" in told.out
    found = json.loads(shipworthy("slo", "report", *span, "--json").out)
    assert {each["definition"]["id"]: each["status"] for each in found["slos"]}[NAME] == "breached"
    assert shipworthy("slo", "report", "--team", "nobody").code == 0
    refused = shipworthy("slo", "report", "--from", "yesterday", "--to", "2026-01-01T00:00:00Z")
    assert refused.code == 2


def test_report_of_what_nobody_judged_is_no_pass(
    shipworthy: Shipworthy, sqlite_service: RunningService
) -> None:
    SloScene(sqlite_service).published(make_slo())
    told = shipworthy("slo", "report")
    assert (told.code, "NO DATA" in told.out) == (4, True)


def test_explain_tells_why_and_exits_by_the_outcome(
    shipworthy: Shipworthy, sqlite_service: RunningService
) -> None:
    scene = SloScene(sqlite_service)
    late = with_outcomes(scene)

    def window(number: int, name: str = NAME) -> str:
        return f"{name}/{scene.at(number):%Y-%m-%dT%H:%M}+00:00"

    told = shipworthy("slo", "explain", window(LATE))
    assert told.code == 1
    assert "late, 2 h after the deadline" in told.out
    assert late in told.out
    assert shipworthy("slo", "explain", window(0)).code == 0
    unknown = shipworthy("slo", "explain", window(NEVER, UNSURE))
    assert (unknown.code, "airflow, not proven alive" in unknown.out) == (4, True)
    excluded = shipworthy("slo", "explain", window(EXCLUDED))
    assert (excluded.code, "the lake moved" in excluded.out) == (0, True)
    assert json.loads(shipworthy("slo", "explain", window(LATE), "--json").out)["run_ids"] == [late]
    assert shipworthy("slo", "explain", NAME).code == 2
    missing = shipworthy("slo", "explain", f"{NAME}/none")
    assert (missing.code, "no window of this SLO has this id" in missing.err) == (1, True)
