"""Windows from their being expected to their outcome, and what later facts make of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from models.fields import instant_text
from models.ledger.fsck import fsck
from models.ledger.rebuild import rebuild
from models.slo.sources import save_heartbeat
from tests.support.bodies import make_event
from tests.support.slos import DAILY, NAME, PAST, SloScene, make_slo

NEVER = ("breached", "never", "source_not_proven", None)


def outcome(window: dict[str, Any]) -> tuple[object, ...]:
    return window["status"], window["reason"], window["cause"], window["lateness_s"]


def test_a_run_that_never_starts_is_a_miss_and_what_comes_later_revises_it(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    assert scene.judged() == PAST
    assert [outcome(scene.window(number)) for number in range(PAST)] == [NEVER] * PAST
    missed = scene.window(0)
    assert (missed["revision"], missed["backfilled"], missed["layer"]) == (1, True, "training")
    in_time = scene.run(0, at=timedelta(hours=11))
    late = scene.run(1, at=timedelta(hours=12, minutes=31))
    failed = scene.run(2, "failed")
    assert scene.judged() == 3
    assert outcome(scene.window(0)) == ("met", None, "late_evidence", 0.0)
    assert outcome(scene.window(1)) == ("breached", "late", None, 31 * 60.0), "a late success erases no miss"
    assert outcome(scene.window(2)) == ("breached", "failed", None, None)
    assert [scene.window(each)["run_ids"] for each in range(3)] == [[in_time], [late], [failed]]
    told = scene.window(0)
    assert [each["status"] for each in told["revisions"]] == ["breached", "met"]
    assert told["revision"] == 2
    assert told["evidence_records"][0]["kind"] == "run.registered"
    assert scene.judged() == 0, "nothing came since"


def test_an_attempt_that_failed_foretells_a_breach_which_its_successor_averts(scene: SloScene) -> None:
    long = {"schedule": "cron", "cron": DAILY, "timeZone": "Etc/UTC", "within": "P2D", "covers": "P1D"}
    scene.published(make_slo(expect=long, **scene.past))
    scene.judged()
    first = scene.run(PAST, "failed")
    assert scene.judged() == 1
    foretold = scene.window(PAST)
    assert (foretold["status"], foretold["predicted"], foretold["layer"]) == ("pending", True, "training")
    second = scene.run(PAST, None, resumed_from={"checkpoint": f"sha256:{'5' * 64}", "run_id": first})
    scene.judged()
    assert scene.window(PAST)["predicted"] is False
    scene.record(
        f"/v1/runs/{second}/events", make_event(state="completed", at=instant_text(datetime.now(UTC)))
    )
    scene.judged()
    met = scene.window(PAST)
    assert (met["status"], met["run_ids"]) == ("met", [first, second])
    assert [each["predicted"] for each in met["revisions"]] == [True, False, False]


def test_attempts_bind_by_what_they_continue_and_the_whole_chain_counts(scene: SloScene) -> None:
    scene.published(
        make_slo(
            objective="duration",
            limits={"maxDuration": "PT2H"},
            **scene.past,
        )
    )
    quick = scene.run(0, at=timedelta(hours=2))
    first = scene.run(1, "failed")
    start = (scene.at(1, 1.5)).isoformat()
    end = [{"type": "state", "state": "completed", "at": scene.at(1, 2.5).isoformat()}]
    again = {"run_id": first.replace("0000-7", "0001-7"), "job": {"namespace": "team-a", "name": "train"}}
    scene.record("/v1/runs", again | {"parent_run_id": first, "started_at": start, "events": end})
    scene.judged()
    assert outcome(scene.window(0))[:2] == ("met", None)
    assert scene.window(0)["run_ids"] == [quick]
    late = scene.window(1)
    assert outcome(late)[:3] == ("breached", "failed", "over_limit"), "counted from the first attempt's start"
    assert late["run_ids"] == [first, again["run_id"]]


def test_a_dead_source_leaves_unknown_what_a_live_one_proves_missed(scene: SloScene) -> None:
    with scene.service.services.database.connection() as connection:
        for hour in range(13):
            save_heartbeat(connection, "team-a", "airflow", 3600, scene.at(0, hour))
        save_heartbeat(connection, "team-a", "airflow", 3600, scene.at(1, 3))
    scene.published(make_slo(source="airflow", onMissing="unknown", settle="P20D", **scene.past))
    scene.judged()
    proven, unknown = scene.window(0), scene.window(1)
    assert outcome(proven) == ("breached", "never", "no_evidence", None)
    assert (proven["source"]["coverage"], proven["source"]["proves_life"]) == (1.0, True)
    assert outcome(unknown) == ("unknown", None, "source_not_proven", None)
    assert len(unknown["source"]["gaps"]) == 2
    assert scene.judged(scene.at(21, 13)) > 0
    resolved = scene.window(1)
    assert outcome(resolved) == ("breached", "unresolved", "source_not_proven", None)
    assert resolved["restated"] is False


def test_exclusions_take_out_what_they_name_and_only_retroactive_ones_what_was_over(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    scene.judged()
    path = f"/v1/slos/{NAME}/exclusions"
    span = {"from": scene.at(0).isoformat(), "to": scene.at(1).isoformat(), "reason": "the data centre burnt"}
    first = scene.record(path, span, scene.approver)
    assert scene.judged() == 0, "what was over keeps counting"
    named = [scene.listed()[-3]["id"]]
    made = scene.record(path, {"windows": named, "reason": "moved", "retroactive": True}, scene.approver)
    assert scene.judged() == 1
    excluded = scene.explained(named[0])
    assert outcome(excluded)[:3] == ("excluded", None, f"exclusion:{made['record']}")
    assert (excluded["exclusion"]["reason"], excluded["restated"]) == ("moved", True)
    undo = {"record": made["record"], "effect": "revoked", "reason": "it was not"}
    scene.record("/v1/revocations", undo, scene.author)
    assert scene.judged() == 1
    assert outcome(scene.explained(named[0])) == NEVER
    overlapping = scene.approver.post(path, json=span | {"retroactive": True})
    assert (overlapping.status_code, first["record"] in overlapping.json()["detail"]) == (422, True)


def test_evidence_that_was_taken_back_counts_no_more(scene: SloScene) -> None:
    scene.published(make_slo(settle="P1D", **scene.past))
    scene.run(0)
    scene.judged()
    met = scene.window(0)
    assert met["status"] == "met"
    record = met["evidence"][0]
    scene.record(
        "/v1/revocations", {"record": record, "effect": "revoked", "reason": "wrong run"}, scene.author
    )
    assert scene.judged() == 1
    restated = scene.window(0)
    assert (restated["status"], restated["reason"], restated["restated"]) == ("breached", "never", True)


def test_next_version_takes_over_what_opens_after_it_and_leaves_what_was_judged(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    scene.run(0)
    scene.judged()
    ids = {each["id"] for each in scene.listed()}
    assert scene.publish(make_slo(**scene.past)).status_code == 200
    weekly = {"schedule": "cron", "cron": "0 6 * * 1", "timeZone": "Etc/UTC", "within": "PT1H"}
    made = scene.published(make_slo(expect=weekly, **scene.past))
    assert made["version"] == 2
    scene.judged()
    listed = scene.listed()
    assert all(each["version"] == 1 for each in listed if each["status"] != "pending")
    coming = [each for each in listed if each["opens_at"] > scene.began.isoformat()]
    assert coming
    assert all(each["version"] == 2 and "T06:00" in each["id"] for each in coming)
    assert len(ids - {each["id"] for each in listed}) >= 7, "days of the first version are expected no more"
    assert scene.window(0)["status"] == "met"


def test_rebuilt_windows_equal_the_live_ones(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    scene.run(0)
    scene.judged()
    services, before = scene.service.services, scene.listed()
    rebuild(services.database)
    assert scene.listed() == before
    assert fsck(services.database, services.ring.log_key).problems == ()
