"""Who wants a better report than the evidence bears: each of these was tried, and none makes a miss look met."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from models.fields import instant_text
from models.slo.definitions import slo_at
from models.slo.evidence_runs import completed_runs
from models.slo.stored import windows_named
from tests.support.bodies import digest_of, make_checkpoint, make_event, make_start, make_verification
from tests.support.slos import NAME, PAST, SloScene, ended, make_freshness, make_invariant, make_slo, span


@pytest.fixture
def scene(sqlite_scene: SloScene) -> SloScene:
    return sqlite_scene


def test_run_over_all_time_is_no_success_of_windows_whose_data_was_still_to_come(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    body = make_start(
        data_interval={"start": "1990-01-01T00:00:00Z", "end": "2090-01-01T00:00:00Z"},
        started_at=instant_text(scene.at(2)),
        events=ended(scene.at(2, 1)),
    )
    scene.record("/v1/runs", body)
    scene.judged()
    statuses = [scene.window(number)["status"] for number in range(PAST)]
    assert statuses[:2] == ["breached", "breached"], "late"
    assert statuses[2] == "met"
    assert set(statuses[3:]) == {"breached"}
    scene.judged(scene.at(PAST + 5))
    assert scene.window(PAST + 3)["status"] == "breached"


def test_yesterdays_success_that_todays_run_goes_on_from_is_not_todays(scene: SloScene) -> None:
    """Each day's training begins with the model of the day before; that of yesterday came late, after today opened."""
    scene.published(make_slo(**scene.past))
    first = scene.run(PAST - 3, at=timedelta(hours=30))
    second = scene.run(PAST - 2, None, resumed_from={"checkpoint": digest_of("a"), "run_id": first})
    scene.judged()
    with scene.service.services.database.read() as session:
        connection = session.connection()
        id = f"{NAME}/{scene.at(PAST - 2):%Y-%m-%dT%H:%M}+00:00"
        (alone,) = windows_named(connection, "team-a", [id])
        found = completed_runs(connection, slo_at(connection, "team-a", NAME, 1), [alone])
    assert {each.run_id for each in found[id].items} == {second}


def test_base_model_of_many_days_is_no_attempt_at_any_of_them(scene: SloScene) -> None:
    scene.published(make_slo(objective="duration", limits={"maxDuration": "PT2H"}, **scene.past))
    base = make_start(started_at=instant_text(scene.at(-90)), events=ended(scene.at(0, 0.5)))
    scene.record("/v1/runs", base)
    tuned = [
        scene.run(number, resumed_from={"checkpoint": digest_of("base"), "run_id": base["run_id"]})
        for number in range(2)
    ]
    scene.judged()
    assert [(scene.window(each)["status"], scene.window(each)["run_ids"]) for each in range(2)] == [
        ("met", [tuned[0]]),
        ("met", [tuned[1]]),
    ]


def test_artifact_that_another_days_run_made_too_takes_no_evidence_away(scene: SloScene) -> None:
    rule = {"event": "evaluation.completed", "boundBy": "data-interval", "level": "self_reported"}
    scene.published(make_slo(evidence=rule, **scene.past))
    weights = [{"digest": digest_of("same weights")}]
    scene.run(1, artifacts=weights)
    at = instant_text(scene.at(1, 2))
    evaluation = {"subject": digest_of("same weights"), "metrics": {"auc": 0.9}, "completed_at": at}
    scene.record("/v1/evaluations", evaluation)
    scene.judged()
    assert scene.window(1)["status"] == "met"
    for number in (0, 2, 3):
        scene.run(number, artifacts=weights)
    scene.judged()
    assert [scene.window(each)["status"] for each in range(4)] == ["breached", "met", "breached", "breached"]
    assert (scene.window(0)["reason"], scene.window(2)["reason"]) == ("late", "never")


def test_failure_is_one_though_the_next_days_run_goes_on_from_it(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    first = scene.run(0, "failed")
    scene.run(1, resumed_from={"checkpoint": digest_of("a"), "run_id": first})
    scene.judged()
    assert (scene.window(0)["reason"], scene.window(1)["status"]) == ("failed", "met")


def test_run_that_ended_before_it_began_took_no_time_at_all_and_counts_for_nothing(scene: SloScene) -> None:
    scene.published(make_slo(objective="duration", limits={"maxDuration": "PT2H"}, **scene.past))
    interval = span(scene.at(-1), scene.at(0))
    body = make_start(
        data_interval=interval, started_at=instant_text(scene.at(0, 20)), events=ended(scene.at(0, 1))
    )
    scene.record("/v1/runs", body)
    scene.judged()
    assert scene.window(0)["status"] == "breached"


def test_model_registered_under_a_name_that_spells_like_another_is_counted(scene: SloScene) -> None:
    scene.published(make_invariant(), "validated")
    run = make_start()
    scene.record("/v1/runs", run)
    artifact = digest_of("weights")
    for registry, model in (("default", "a/b"), ("default/a", "b")):
        body = {"run_id": run["run_id"], "registry": registry, "model": model, "version": "1"}
        scene.record("/v1/model-versions", body | {"artifact": artifact})
    scene.judged()
    assert len(scene.listed("validated")) == 2


def test_longest_names_are_counted_and_stop_nobody_else(scene: SloScene) -> None:
    scene.published(make_invariant(), "validated")
    run = make_start()
    scene.record("/v1/runs", run)
    body = {"run_id": run["run_id"], "registry": "r" * 256, "model": "m" * 256, "version": "v" * 128}
    scene.record("/v1/model-versions", body | {"artifact": digest_of("weights")})
    scene.judged()
    assert [each["status"] for each in scene.listed("validated")] == ["breached"]


def test_failure_dated_in_the_future_is_counted_now(scene: SloScene) -> None:
    scene.published(
        make_slo(
            objective="ratio",
            expect=None,
            evidence={"event": "run.completed", "job": "train"},
            **scene.past,
        )
    )
    scene.judged()
    for year in ("2099", "9999"):
        at = datetime.fromisoformat(f"{year}-12-31T23:59:59+00:00")
        scene.record("/v1/runs", make_start(events=ended(at, "failed")))
    scene.judged()
    assert [each["status"] for each in scene.listed()] == ["breached", "breached"]


def test_times_at_the_ends_of_the_calendar_stop_no_tick(scene: SloScene) -> None:
    scene.published(
        make_slo(
            objective="ratio", expect=None, evidence={"event": "run.completed", "job": "train"}, **scene.past
        )
    )
    scene.published(make_slo("days", **scene.past), "days")
    scene.published(
        make_slo(
            "fresh",
            objective="freshness",
            expect=None,
            slices=True,
            evidence={"event": "checkpoint.verified", "checkpointLevel": "written"},
            limits={"maxAge": "P36525D"},
            **scene.past,
        ),
        "fresh",
    )
    for at in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        other = "9999-12-31T23:59:59Z"
        scene.record(
            "/v1/runs",
            make_start(
                started_at=at,
                data_interval={"start": "0001-01-01T00:00:00Z", "end": other},
                events=[make_event(state="failed", at=at)],
                checkpoints=[make_checkpoint(digest=digest_of(at), trained_until=at)],
            ),
        )
        scene.record(
            "/v1/runs",
            make_start(
                started_at=at,
                data_interval={"start": "0001-01-01T00:00:00Z", "end": other},
                checkpoints=[make_checkpoint(digest=digest_of(at), trained_until=at)],
            ),
        )
    scene.judged()
    scene.report()
    scene.reader.get("/metrics").raise_for_status()


def fresh(scene: SloScene, **source: Any) -> SloScene:
    scene.published(make_freshness(**({"settle": "P30D"} | source), **scene.past))
    return scene


def test_checkpoint_that_its_own_saver_calls_loaded_is_not_verified(scene: SloScene) -> None:
    fresh(scene)
    run = make_start(started_at=scene.at(0).isoformat())
    scene.record("/v1/runs", run)
    for hour in range(2, 24, 2):
        saved = scene.at(0, hour)
        digest = digest_of(f"self {hour}")
        scene.record(
            f"/v1/runs/{run['run_id']}/checkpoints",
            make_checkpoint(digest=digest, step=hour, trained_until=saved.isoformat()),
        )
        scene.record(
            f"/v1/checkpoints/{digest}/verifications", make_verification(checked_at=saved.isoformat())
        )
    scene.record(f"/v1/runs/{run['run_id']}/events", ended(scene.at(1))[0])
    scene.judged()
    day = scene.explained(f"{run['run_id']}/{scene.at(0).date().isoformat()}")
    assert day["slices"]["good"] <= 37, "as long as the age of the run itself keeps the limit"


def test_own_word_is_enough_where_the_definition_says_so(scene: SloScene) -> None:
    evidence = {"event": "checkpoint.verified", "checkpointLevel": "loaded", "level": "self_reported"}
    fresh(scene, evidence=evidence)
    run = make_start(started_at=scene.at(0).isoformat())
    scene.record("/v1/runs", run)
    saved = make_checkpoint(digest=digest_of("own"), trained_until=scene.at(0, 3).isoformat())
    scene.record(f"/v1/runs/{run['run_id']}/checkpoints", saved)
    verified = make_verification(checked_at=scene.at(0, 3).isoformat())
    scene.record(f"/v1/checkpoints/{digest_of('own')}/verifications", verified)
    scene.record(f"/v1/runs/{run['run_id']}/events", ended(scene.at(0, 6))[0])
    scene.judged()
    assert scene.explained(f"{run['run_id']}/{scene.at(0).date().isoformat()}")["status"] == "met"


def test_own_word_takes_no_workers_failure_back(scene: SloScene) -> None:
    run = make_start(started_at=scene.at(0).isoformat())
    scene.record("/v1/runs", run)
    digest = digest_of("broken")
    scene.record(f"/v1/runs/{run['run_id']}/checkpoints", make_checkpoint(digest=digest))
    path = f"/v1/checkpoints/{digest}/verifications"
    scene.record(path, make_verification(checked_at="2099-01-01T00:00:00Z"))
    scene.record(path, make_verification(outcome="failed", checked_at=scene.at(1).isoformat()), scene.worker)
    scene.record(path, make_verification(checked_at=scene.at(2).isoformat()))
    assert scene.reader.get(f"/v1/checkpoints/{digest}").json()["effective_level"] == "written"


def test_run_that_was_seen_alive_had_not_ended_before(scene: SloScene) -> None:
    fresh(scene)
    now = datetime.now(UTC)
    run = make_start(started_at=(now - timedelta(hours=20)).isoformat())
    scene.record("/v1/runs", run)
    scene.record(f"/v1/runs/{run['run_id']}/progress", {"step": 1})
    scene.record(f"/v1/runs/{run['run_id']}/events", ended(now - timedelta(hours=19, minutes=55))[0])
    scene.judged()
    around = {"from": instant_text(now - timedelta(days=2)), "to": instant_text(now + timedelta(days=2))}
    (entry,) = scene.report(**around)["slos"]
    assert entry["counts"]["breached"] > 100


def test_run_whose_registration_was_revoked_is_no_evidence(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    opens = scene.at(0)
    body = make_start(data_interval=span(opens - timedelta(days=1), opens), started_at=instant_text(opens))
    made = scene.record("/v1/runs", body)
    scene.record(f"/v1/runs/{body['run_id']}/events", ended(scene.at(0, 1))[0])
    scene.judged()
    assert scene.window(0)["status"] == "met"
    undo = {"record": made["record"], "effect": "revoked", "reason": "another program"}
    scene.record("/v1/revocations", undo, scene.author)
    scene.judged()
    assert scene.window(0)["status"] == "breached"


def test_claimed_step_beyond_every_checkpoint_hides_no_loss(scene: SloScene) -> None:
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
    began = scene.began + timedelta(seconds=1)
    saved = make_checkpoint(
        digest=digest_of("at 600"),
        step=600,
        trained_until=(began + timedelta(seconds=600)).isoformat(),
        contains=["model", "data_position"],
    )
    second = {"type": "attempt.started", "attempt": 2, "step": 5000}
    events = [
        make_event(step=0, at=began.isoformat()),
        make_event(state="preempted", step=5000, at=(began + timedelta(seconds=5000)).isoformat()),
        second | {"at": (began + timedelta(seconds=6000)).isoformat()},
    ]
    run = make_start(started_at=began.isoformat(), checkpoints=[saved], events=events)
    scene.record("/v1/runs", run)
    scene.judged(scene.began + timedelta(hours=3))
    told = scene.explained(f"{run['run_id']}/2")
    assert (told["status"], told["measured"]["steps_lost"]) == ("breached", 4400)
