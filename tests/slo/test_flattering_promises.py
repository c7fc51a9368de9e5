"""Who changes the promise, what is left out or the moment of the report: none makes a miss look met."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from models.actor import SYSTEM
from models.fields import instant_text
from shipworthy.formats.times import format_instant
from tests.support.calls import assert_refused
from tests.support.histories import History
from tests.support.slos import JSON, NAME, PAST, SloScene, make_slo


@pytest.fixture
def scene(sqlite_scene: SloScene) -> SloScene:
    return sqlite_scene


def test_open_window_keeps_its_deadline_when_the_next_version_opens_it_later(scene: SloScene) -> None:
    """The later version expects a window of the same date, and so of the same name."""
    history = History(scene.service.services.ledger, scene.service.services.ring)
    scene.published(make_slo())
    service = replace(SYSTEM, namespace="team-a")
    opens, day = scene.at(PAST), scene.at(PAST).date().isoformat()
    window = {"id": f"{NAME}/{day}", "opens_at": instant_text(opens), "day": day, "deadline_local": day}
    early, late = opens + timedelta(hours=9), opens + timedelta(days=9)
    for version, deadline in ((1, early), (2, late)):
        expected = window | {"deadline": instant_text(deadline), "due": instant_text(deadline)}
        body = {"slo": NAME, "version": version, "chunk": day, "windows": [expected]}
        history.add(service, "windows.expected", body)
        scene.publish(make_slo(target=0.8))
    scene.judged(scene.at(PAST + 1))
    missed = scene.explained(day)
    assert (missed["deadline_utc"], missed["status"]) == (format_instant(early), "breached")


def test_looser_target_does_not_count_for_what_was_promised_before(scene: SloScene) -> None:
    scene.published(make_slo(target=0.9, **scene.past))
    for number in range(6):
        scene.run(number)
    scene.judged()
    whole = {"from": instant_text(scene.at(0)), "to": instant_text(scene.at(10))}
    (before,) = scene.report(**whole)["slos"]
    assert before["status"] == "breached"
    scene.published(make_slo(target=0.1, **scene.past))
    scene.judged()
    (after,) = scene.report(**whole)["slos"]
    assert after["status"] == "breached"
    assert "90 %" in after["sentence"]


def test_objective_of_a_name_stays_what_it_is(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    answer = scene.publish(
        make_slo(objective="ratio", expect=None, evidence={"event": "run.completed", "job": "train"})
    )
    assert_refused(answer, 422, "invalid_input", "objective")


def test_exclusion_that_was_taken_back_can_be_written_anew(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    path = f"/v1/slos/{NAME}/exclusions"
    body = {"from": scene.at(0).isoformat(), "to": scene.at(1).isoformat(), "reason": "wrong days"}
    made = scene.record(path, body, scene.approver)
    undo = {"record": made["record"], "effect": "revoked", "reason": "it was not"}
    scene.record("/v1/revocations", undo, scene.author)
    scene.record(path, body | {"reason": "right days", "to": scene.at(2).isoformat()}, scene.approver)


def test_closed_period_is_not_met_while_windows_are_pending(scene: SloScene) -> None:
    scene.published(make_slo(grace="P3D", **scene.past))
    for number in range(7):
        scene.run(number)
    scene.judged()
    whole = {"from": instant_text(scene.at(0)), "to": instant_text(scene.at(9, 13))}
    (entry,) = scene.report(**whole)["slos"]
    assert entry["counts"]["pending"] == 3
    assert (entry["period"]["closed"], entry["status"]) == (True, "on_track")


def test_report_as_of_a_time_when_nobody_judged_says_so(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    then = datetime.now(UTC)
    scene.judged()
    whole = {"from": instant_text(scene.at(0)), "to": instant_text(scene.at(10))}
    (entry,) = scene.report(**whole, as_of=instant_text(then))["slos"]
    assert entry["status"] == "no_data"


def test_source_with_a_slash_in_its_name_can_say_that_it_lives(scene: SloScene) -> None:
    scene.record("/v1/sources/etl/fraud/heartbeats", {"interval_seconds": 60})


def test_what_was_promised_afterwards_is_told_in_every_line_of_the_report(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    scene.published(make_slo(target=0.95))
    scene.judged()
    (entry,) = scene.report(**{"from": instant_text(scene.at(0)), "to": instant_text(scene.at(10))})["slos"]
    assert entry["backfilled_until"] is not None
    assert entry["sentence"].endswith("was promised afterwards")
    coming = {"from": instant_text(scene.at(PAST + 1)), "to": instant_text(scene.at(PAST + 3))}
    (entry,) = scene.report(**coming)["slos"]
    assert (entry["backfilled_until"], "afterwards" in entry["sentence"]) == (None, False)


def test_window_that_is_open_when_it_is_promised_is_not_promised_afterwards(scene: SloScene) -> None:
    document = make_slo(starts=scene.at(PAST).date().isoformat(), backfilled=True)
    (note,) = [
        each["message"]
        for each in scene.author.post("/v1/slos:lint", content=document, headers=JSON).json()["problems"]
        if each["severity"] == "info"
    ]
    scene.published(document)
    scene.judged()
    (entry,) = scene.report()["slos"]
    assert (entry["backfilled_until"], "afterwards" in entry["sentence"]) == (None, False)
    first = min(
        (each for each in scene.listed() if each["status"] == "pending"), key=lambda each: each["opens_at"]
    )
    assert f"the next deadlines are {first['deadline_local']}, " in note


def test_stricter_version_that_nothing_opened_under_promised_nothing(scene: SloScene) -> None:
    scene.published(make_slo(target=0.999))
    scene.judged()
    scene.published(make_slo(target=0.9))
    scene.judged()
    coming = {"from": instant_text(scene.at(PAST)), "to": instant_text(scene.at(PAST + 8))}
    (entry,) = scene.report(**coming)["slos"]
    assert (entry["target"], entry["earlier"]) == (0.9, [])


def test_counts_are_those_of_the_windows_after_the_time_zone_changed(scene: SloScene) -> None:
    """Windows of the last night of a month here are of the next month there."""
    night = {
        "schedule": "weekly",
        "weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
        "by": "23:00",
    }
    scene.published(make_slo(expect=night | {"timeZone": "America/New_York"}, **scene.past))
    scene.judged()
    scene.published(make_slo(expect=night | {"timeZone": "Etc/UTC"}, **scene.past))
    scene.judged(scene.at(PAST + 40))
    first = scene.at(0).replace(day=1, hour=0)
    following = (first + timedelta(days=32)).replace(day=1)
    for start in (first, following):
        whole = {"from": instant_text(start), "to": instant_text((start + timedelta(days=32)).replace(day=1))}
        (entry,) = scene.report(**whole)["slos"]
        counts = {name: entry["counts"][name] for name in ("breached", "pending")}
        assert sum(counts.values()) == len(entry["windows"])
