"""The report: arithmetic, periods, as of a time, and its renderings."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from models.fields import instant_text
from tests.support.calls import assert_refused
from tests.support.service import RunningService
from tests.support.slos import NAME, SloScene, make_slo


@pytest.fixture
def scene(service: RunningService) -> SloScene:
    """Ten days: 0 met, 1 late, 2 failed, all others never run."""
    scene = SloScene(service)
    scene.published(make_slo(maxMisses=9, rolling="30d", target=0.5, **scene.past))
    scene.run(0)
    scene.run(1, at=timedelta(hours=13))
    scene.run(2, "failed")
    scene.judged()
    return scene


def test_report_prints_its_arithmetic(scene: SloScene) -> None:
    report = scene.report()
    (entry,) = report["slos"]
    assert (report["schema"], entry["definition"]["id"], entry["definition"]["revision"]) == (
        "shipworthy.slo-report/1",
        NAME,
        1,
    )
    assert entry["counts"] == {
        "expected": entry["counts"]["pending"] + 10,
        "met": 1,
        "met_in_grace": 0,
        "breached": 9,
        "unknown": 0,
        "excluded": 0,
        "pending": entry["counts"]["pending"],
    }
    assert entry["status"] == "breached"
    assert (entry["sli_low"], entry["coverage"]) == (0.1, 1.0)
    assert entry["sentence"].startswith("1 of 10 windows on time, target 50 %")
    assert [each["status"] for each in entry["windows"][:3]] == ["met", "breached", "breached"]
    assert [each["reason"] for each in entry["windows"][:4]] == [None, "late", "failed", "never"]
    assert all(each["backfilled"] for each in entry["windows"][:10])
    assert entry["corrections"] == []


def test_report_over_a_time_counts_what_was_due_in_it(scene: SloScene) -> None:
    three = {"from": instant_text(scene.at(0)), "to": instant_text(scene.at(3))}
    (entry,) = scene.report(**three)["slos"]
    assert (entry["counts"]["expected"], entry["counts"]["met"], entry["period"]["closed"]) == (3, 1, True)
    whole = {"from": "2020-01-01T00:00:00Z", "to": "2030-01-01T00:00:00Z"}
    (entry,) = scene.report(**whole)["slos"]
    assert (entry["counts"]["met"], entry["counts"]["breached"]) == (1, 9)
    assert scene.report(team="another")["slos"] == []


def test_report_as_of_a_time_knows_what_had_been_received_then(scene: SloScene) -> None:
    before = datetime.now(UTC)
    scene.run(5)
    scene.judged()
    span = {"from": instant_text(scene.at(0)), "to": instant_text(scene.at(10))}
    (now,) = scene.report(**span)["slos"]
    assert now["counts"]["met"] == 2
    (correction,) = now["corrections"]
    assert (correction["before"], correction["after"], correction["cause"]) == (
        "breached",
        "met",
        "late_evidence",
    )
    (then,) = scene.report(**span, as_of=instant_text(before))["slos"]
    assert (then["counts"]["met"], then["counts"]["breached"], then["corrections"]) == (1, 9, [])
    assert then["windows"][5]["status"] == "breached"
    assert scene.report(**span, as_of=instant_text(scene.began - timedelta(days=1)))["slos"] == []


def test_report_as_a_table_is_the_same_in_lines(scene: SloScene) -> None:
    answer = scene.reader.get("/v1/slo-report", headers={"Accept": "text/csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    (line,) = csv.DictReader(io.StringIO(answer.text))
    (entry,) = scene.report()["slos"]
    assert (line["name"], line["status"], line["sentence"]) == (NAME, entry["status"], entry["sentence"])
    assert (line["met"], line["breached"], line["closed"]) == ("1", "9", "false")
    browser = {"Accept": "text/html,application/json;q=0.9,text/csv;q=0.8"}
    assert scene.reader.get("/v1/slo-report", headers=browser).headers["content-type"] == "application/json"


def test_gauges_say_what_the_report_says(scene: SloScene) -> None:
    exposed = scene.reader.get("/metrics").text
    of = f'namespace="team-a",slo="{NAME}"'
    assert f'training_slo_status{{{of},status="breached"}} 1\n' in exposed
    assert exposed.count("training_slo_status{") == 6
    assert f"training_slo_coverage_ratio{{{of}}} 1.0\n" in exposed
    assert f"training_slo_last_evaluation_timestamp_seconds{{{of}}}" in exposed
    assert f"training_window_deadline_timestamp_seconds{{{of}}}" in exposed
    assert "training_slo" not in scene.reader.get("/metrics", headers={"Authorization": ""}).text


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"from": "2026-01-01T00:00:00Z"}, "/query/to"),
        ({"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "later"),
        ({"as_of": "2099-01-01T00:00:00Z"}, "future"),
        ({"as_of": "2026-01-01"}, "/query/as_of"),
        ({"form": "2026-01-01"}, "/query/form"),
    ],
)
def test_report_refuses_times_that_make_no_period(
    sqlite_service: RunningService, parameters: dict[str, str], said: str
) -> None:
    answer = sqlite_service.client("reader").get("/v1/slo-report", params=parameters)
    assert_refused(answer, 422, "invalid_input", said)
