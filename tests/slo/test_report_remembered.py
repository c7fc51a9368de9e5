"""What a process remembers of reports is never shown for something else: every answer is that of the database."""

import json
from datetime import timedelta
from typing import Any

import pytest

from models.fields import instant_text
from models.slo.remembered import Remembered
from tests.support.slos import JSON, NAME, SloScene, make_slo
from tests.web.test_contract_check_pages import counted_statements, selects

HOSTILE = '"period":null,"windows":null'


def entry(scene: SloScene) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = scene.report()["slos"]
    return found


def test_whatever_is_recorded_shows_in_the_next_report(scene: SloScene) -> None:
    scene.published(make_slo(maxMisses=9, target=0.5, source="ingest", rolling="30d", **scene.past))
    scene.run(0)
    scene.judged()
    first = entry(scene)
    assert (first["counts"]["met"], first["sources"][0]["alive"]) == (1, False)

    scene.record("/v1/sources/ingest/heartbeats", {"interval_seconds": 600})
    assert entry(scene)["sources"][0]["alive"] is True

    scene.run(4)
    scene.judged()
    judged = entry(scene)
    assert (judged["counts"]["met"], len(judged["corrections"])) == (2, 1)
    assert [each["status"] for each in judged["windows"][:5]] == ["met", *["breached"] * 3, "met"]

    window = f"{NAME}/{scene.at(1):%Y-%m-%dT%H:%M}+00:00"
    left_out = {"windows": [window], "reason": "a flood", "retroactive": True}
    scene.record(f"/v1/slos/{NAME}/exclusions", left_out, scene.approver)
    assert [each["reason"] for each in entry(scene)["exclusions"]] == ["a flood"]
    scene.judged()
    assert entry(scene)["counts"]["excluded"] == 1

    looser = make_slo(maxMisses=9, target=0.4, source="ingest", rolling="30d", **scene.past)
    assert scene.publish(looser).status_code == 201
    assert [each["revision"] for each in entry(scene)["earlier"]] == [1]


def test_reports_over_other_times_do_not_mix(scene: SloScene) -> None:
    scene.published(make_slo(maxMisses=9, target=0.5, **scene.past))
    scene.run(0)
    scene.judged()
    spans: list[dict[str, str]] = [
        {},
        {"from": instant_text(scene.at(0)), "to": instant_text(scene.at(3))},
        {"from": instant_text(scene.at(0, 11)), "to": instant_text(scene.at(7))},
        {"as_of": instant_text(scene.began - timedelta(seconds=1))},
    ]
    answers = [[scene.report(**span)["slos"] for span in spans] for _ in range(2)]
    assert answers[0] == answers[1]
    assert [len(each) for each in answers[0]] == [1, 1, 1, 0]
    counted = [each[0]["counts"]["expected"] for each in answers[0][1:3]]
    assert counted == [3, 7]


def test_report_of_many_slos_is_two_statements(scene: SloScene) -> None:
    for number in range(4):
        scene.published(make_slo(f"nightly-{number}", **scene.past), f"nightly-{number}")
    scene.judged()
    before = scene.report()["slos"]
    with counted_statements(scene) as statements:
        after = scene.report()["slos"]
    asked = [each for each in selects(statements) if "api_key" not in each]
    assert len(asked) == 2, asked
    assert len(after) == 4
    assert after == before


def test_texts_that_look_like_members_are_texts(sqlite_scene: SloScene) -> None:
    document = json.loads(make_slo(**sqlite_scene.past))
    document["metadata"]["displayName"] = HOSTILE
    answer = sqlite_scene.author.put(f"/v1/slos/{NAME}", content=json.dumps(document), headers=JSON)
    assert answer.status_code == 201, answer.text
    found = entry(sqlite_scene)
    assert found["display_name"] == HOSTILE
    assert found["period"] is not None
    assert found["windows"] == []


@pytest.mark.parametrize("path", ["/metrics", "/v1/slo-report"])
def test_what_shows_no_windows_reads_none(sqlite_scene: SloScene, path: str) -> None:
    sqlite_scene.published(make_slo(**sqlite_scene.past))
    sqlite_scene.judged()
    with counted_statements(sqlite_scene) as statements:
        answer = sqlite_scene.reader.get(path, headers={"Accept": "text/csv"})
    assert answer.status_code == 200
    assert NAME in answer.text
    assert not [each for each in statements if "group_concat(document" in each]


def test_no_more_is_remembered_than_was_said() -> None:
    remembered = Remembered[str, int](2)
    for place, name in enumerate("abc"):
        assert remembered.keep(name, place) == place
    assert [remembered.get(name) for name in "abc"] == [None, None, 2]
