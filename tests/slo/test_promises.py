"""Each promise of the table: what makes it good, what makes it bad, and what nobody knows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from models.fields import instant_text
from shipworthy.formats.digests import sha256_digest
from tests.support.bodies import digest_of, make_checkpoint, make_event, make_start, make_verification
from tests.support.facts import make_snapshot
from tests.support.gates import GATE, GateScene, make_policy
from tests.support.histories import History
from tests.support.slos import DAILY, SloScene, make_freshness, make_invariant, make_slo

CHECKED = {"schedule": "cron", "cron": DAILY, "timeZone": "Etc/UTC", "within": "PT12H"}


def checked(digest: str, outcome: str, contract: dict[str, Any]) -> dict[str, Any]:
    return {
        "contract": contract,
        "object": "clicks",
        "baseline": None,
        "as_of": "2026-05-01T12:00:00Z",
        "data": {"manifest": digest, "root": "lake", "path": "clicks", "files": 1, "bytes": 10, "rows": 7},
        "engine": {"name": "duckdb"},
        "started_at": "2026-05-01T12:00:00Z",
        "completed_at": "2026-05-01T12:00:01Z",
        "outcome": outcome,
        "counts": {outcome: 1},
        "checks": [{"id": "a", "type": "t", "blocking": True, "outcome": outcome}],
    }


def test_data_is_approved_when_its_contract_passed_on_what_covers_the_window(scene: SloScene) -> None:
    evidence = {
        "event": "snapshot.approved",
        "boundBy": "data-interval",
        "dataset": "lake/clicks",
        "contract": "clicks",
    }
    services = scene.service.services
    history = History(services.ledger, services.ring)
    author, worker = history.actor("author"), history.actor("worker")
    contract = {"name": "clicks", "version": 1, "digest": digest_of("c"), "suite_digest": digest_of("s")}
    published = contract | {
        "format": "odcs",
        "media_type": "application/yaml",
        "size_bytes": 1,
        "objects": [{"name": "clicks", "checks": 1, "blocking": 1, "not_evaluated": 0}],
    }
    history.add(author, "contract.published", published)
    scene.published(make_slo(evidence=evidence, grace="P30D", **scene.past))
    for number, outcome in ((0, "passed"), (1, "failed")):
        interval = {"start": scene.at(number - 1).isoformat(), "end": scene.at(number).isoformat()}
        scene.record("/v1/snapshots", make_snapshot(number + 1, extraction=interval))
        digest = f"sha256:{number + 1:064x}"
        history.add(worker, "contract.checked", checked(digest, outcome, contract))
    self_reported = {"start": scene.at(1).isoformat(), "end": scene.at(2).isoformat()}
    scene.record("/v1/snapshots", make_snapshot(3, extraction=self_reported))
    history.add(
        history.actor("recorder"), "contract.checked", checked(f"sha256:{3:064x}", "passed", contract)
    )
    scene.judged()
    approved, refused, own = (scene.window(number) for number in range(3))
    assert (approved["status"], approved["cause"]) == ("met_in_grace", None)
    assert approved["evidence_records"][0]["kind"] == "contract.checked"
    assert (refused["status"], refused["predicted"], refused["layer"]) == ("pending", True, "data")
    assert (own["status"], own["evidence"]) == ("pending", []), (
        "what recorders report of themselves approves nothing"
    )


def test_models_registered_without_a_pass_break_the_invariant(scene: SloScene) -> None:
    scene.published(make_invariant(gate=GATE), "validated")
    scene.judged()
    gates = GateScene(scene.service)
    gates.record_data()
    assert gates.register_version("1").status_code == 201
    gates.published(make_policy())
    gates.evaluate()
    gates.attest()
    assert gates.decided()["verdict"] == "passed"
    assert gates.register_version("2").status_code == 201
    assert scene.judged() == 2
    first, second = sorted(scene.listed("validated"), key=lambda window: str(window["id"]))
    assert (first["status"], first["reason"], first["layer"]) == ("breached", "failed", "release")
    assert (second["status"], second["id"].rpartition("/")[2]) == ("met", "2")
    (entry,) = scene.report()["slos"]
    assert (entry["status"], entry["target"], entry["kind"]) == ("breached", 1.0, "Invariant")
    assert (entry["counts"]["met"], entry["counts"]["breached"]) == (1, 1)
    assert scene.explained(first["id"], "validated")["revisions"][0]["status"] == "breached"


def test_reports_are_kept_as_long_as_their_bytes_are_there(scene: SloScene) -> None:
    scene.published(make_slo(objective="retention", expect=CHECKED, evidence={"event": "report.retained"}))
    kept = b"all measurements"
    digest = sha256_digest(kept)
    assert scene.recorder.put(f"/v1/blobs/{digest}", content=kept).status_code == 201
    report = {"digest": digest, "retain_until": "2099-01-01T00:00:00Z"}
    evaluation = {"subject": digest_of("m"), "metrics": {"auc": 0.9}, "report": report}
    scene.record("/v1/evaluations", evaluation)
    scene.judged()
    scene.judged(scene.at(12))
    assert (scene.window(11)["status"], scene.window(11)["measured"]) == (
        "met",
        {"reports": 1, "reports_missing": 0},
    )
    gone = evaluation | {"report": report | {"digest": digest_of("never stored")}}
    missing = scene.record("/v1/evaluations", gone)
    scene.judged(scene.at(13))
    lost = scene.window(12)
    assert (lost["status"], lost["reason"], lost["evidence"]) == ("breached", "failed", [missing["record"]])
    assert lost["measured"] == {"reports": 2, "reports_missing": 1}


def test_queue_delay_counts_who_still_waits(scene: SloScene) -> None:
    day = {"schedule": "cron", "cron": DAILY, "timeZone": "Etc/UTC", "within": "P1D"}
    scene.published(
        make_slo(
            objective="queue-delay",
            expect=day,
            evidence={"event": "run.started"},
            limits={"p95": "PT2H"},
            onMissing="exclude",
            **scene.past,
        )
    )

    def submitted(number: int, started: float | None, team: str) -> None:
        queued = scene.at(number, 1)
        events = [make_event(state="queued", at=queued.isoformat())]
        if started is not None:
            events.append(make_event(at=(queued + timedelta(hours=started)).isoformat()))
        scene.record("/v1/runs", make_start(team=team, priority="high", events=events))

    for _ in range(3):
        submitted(0, 1, "ads")
    submitted(0, 1.5, "search")
    submitted(1, 1, "ads")
    submitted(1, None, "search")
    scene.judged()
    fair, unfair, empty = scene.window(0), scene.window(1), scene.window(8)
    assert (fair["status"], fair["measured"]["jobs"], fair["measured"]["still_waiting"]) == ("met", 4, 0)
    assert fair["measured"]["p95_seconds of search, high"] == 5400.0
    assert (unfair["status"], unfair["measured"]["still_waiting"], unfair["layer"]) == (
        "breached",
        1,
        "scheduler",
    )
    assert empty["status"] == "breached", "who has waited for a week is counted each day"


def test_resuming_loses_what_was_done_since_the_checkpoint(scene: SloScene) -> None:
    scene.published(
        make_slo(
            objective="resume-loss",
            expect=None,
            evidence={"event": "run.resumed"},
            limits={"maxLoss": "PT10M"},
            onMissing="unknown",
        )
    )
    scene.judged()

    def preempted(step: int | None, contains: list[str]) -> str:
        """Resumes from step 600 of a run of one step a second, preempted at `step`."""
        began = scene.began + timedelta(seconds=1)
        first = make_start(started_at=began.isoformat())
        saved = make_checkpoint(
            digest=digest_of(first["run_id"]),
            step=600,
            trained_until=(began + timedelta(seconds=600)).isoformat(),
            contains=contains,
        )
        events = [make_event(step=0, at=began.isoformat())]
        if step is not None:
            at = (began + timedelta(seconds=step)).isoformat()
            events.append(make_event(state="preempted", step=step, at=at))
        scene.record("/v1/runs", first | {"checkpoints": [saved], "events": events})
        resumed = {"checkpoint": saved["digest"], "run_id": first["run_id"]}
        second = make_start(resumed_from=resumed, started_at=(began + timedelta(hours=2)).isoformat())
        scene.record("/v1/runs", second)
        return str(second["run_id"])

    whole = ["model", "optimizer", "data_position"]
    little, much = preempted(900, whole), preempted(1500, whole)
    lost_place, unseen = preempted(700, ["model"]), preempted(None, whole)
    scene.judged(scene.began + timedelta(hours=3))
    found = {run: scene.explained(f"{run}/resumed") for run in (little, much, lost_place, unseen)}
    assert [found[run]["status"] for run in (little, much, lost_place)] == ["met", "breached", "breached"]
    assert (found[little]["measured"]["steps_lost"], found[little]["measured"]["seconds_lost"]) == (
        300,
        300.0,
    )
    assert "data position was not restored" in found[lost_place]["measured"]["sentence"]
    assert found[unseen]["status"] == "unknown" or found[unseen]["measured"]["steps_lost"] == 0


@pytest.fixture
def fresh(scene: SloScene) -> SloScene:
    """A promise about a run that began on day 0 and saves every two hours, verified ten minutes later, for a day."""
    scene.published(make_freshness(settle="P30D", **scene.past))
    return scene


def test_checkpoint_age_counts_from_the_training_state_and_a_lost_level_was_never_there(
    fresh: SloScene,
) -> None:
    began = fresh.at(0).replace(hour=0)  # freshness is counted by days of the calendar
    ended = began + timedelta(days=1)
    run = make_start(started_at=began.isoformat())
    fresh.record("/v1/runs", run)
    for number in range(1, 12):
        saved = began + timedelta(hours=2 * number)
        digest = digest_of(f"{run['run_id']} {number}")
        checkpoint = make_checkpoint(digest=digest, step=number, trained_until=saved.isoformat())
        fresh.record(f"/v1/runs/{run['run_id']}/checkpoints", checkpoint)
        at = (saved + timedelta(minutes=10)).isoformat()
        verified = make_verification(checked_at=at)
        fresh.record(f"/v1/checkpoints/{digest}/verifications", verified, fresh.worker)
    end = make_event(state="completed", at=ended.isoformat())
    fresh.record(f"/v1/runs/{run['run_id']}/events", end)
    fresh.judged()
    id = f"{run['run_id']}/{began.date().isoformat()}"
    day = fresh.explained(id)
    assert (day["status"], day["slices"]) == ("met", {"good": 288, "bad": 0, "unknown": 0})
    (entry,) = fresh.report(**{"from": began.isoformat(), "to": ended.isoformat()})["slos"]
    assert (entry["counts"]["met"], entry["coverage"]) == (288, 1.0)
    broken = digest_of(f"{run['run_id']} 5")
    later = make_verification(outcome="failed", checked_at=fresh.at(2).isoformat())
    fresh.record(f"/v1/checkpoints/{broken}/verifications", later, fresh.worker)
    assert fresh.judged() == 1
    day = fresh.explained(id)
    # Number 4 was three hours old at 11:00, and number 6 was loaded at 12:10.
    assert (day["status"], day["cause"], day["slices"]["bad"]) == ("breached", "level_lost", 13)
    assert [each["status"] for each in day["revisions"]] == ["met", "breached"]


def test_a_live_run_is_counted_up_to_now_and_a_silent_one_is_unknown(fresh: SloScene) -> None:
    now = datetime.now(UTC)
    live = make_start(started_at=(now - timedelta(hours=1)).isoformat())
    fresh.record("/v1/runs", live)
    fresh.record(f"/v1/runs/{live['run_id']}/progress", {"step": 1})
    silent = make_start(
        started_at=(now - timedelta(hours=2)).isoformat(), heartbeat={"expected": True, "limit_seconds": 60}
    )
    fresh.record("/v1/runs", silent)
    fresh.judged()
    pending = fresh.listed()
    assert {run for each in pending for run in each["run_ids"]} == {live["run_id"], silent["run_id"]}
    around = {"from": instant_text(now - timedelta(days=1)), "to": instant_text(now + timedelta(days=2))}
    (entry,) = fresh.report(**around)["slos"]
    assert entry["counts"]["met"] in (12, 13), "before the first checkpoint the age is that of the run"
    assert entry["counts"]["unknown"] in (24, 25)
    assert entry["counts"]["pending"] == 0
    exposed = fresh.reader.get("/metrics").text
    assert (
        f'training_checkpoint_verified_exists{{namespace="team-a",slo="nightly",run_id="{live["run_id"]}"}} 0'
        in exposed
    )
    assert "training_checkpoint_verified_age_seconds" not in exposed


def test_a_rolling_period_counts_the_day_of_a_live_run_as_far_as_it_has_come(scene: SloScene) -> None:
    scene.published(make_freshness("PT30M", rolling="7d", **scene.past))
    began = datetime.now(UTC) - timedelta(hours=1)
    live = make_start(started_at=began.isoformat())
    scene.record("/v1/runs", live)
    scene.record(f"/v1/runs/{live['run_id']}/progress", {"step": 1})
    scene.judged()
    (entry,) = scene.report()["slos"]
    assert (entry["status"], entry["counts"]["expected"] in (12, 13)) == ("breached", True)
    assert entry["counts"]["breached"] >= 5, "without a checkpoint for half an hour"
    today = [each for each in entry["windows"] if each["status"] == "pending"]
    assert [each["run_ids"] for each in today][-1:] == [[live["run_id"]]]
    counted = sum(sum(each["slices"].values()) for each in today if "slices" in each)
    assert counted == entry["counts"]["expected"]
