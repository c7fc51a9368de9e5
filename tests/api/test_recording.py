"""Recording over HTTP: what is new, what is the same again, what is refused, and for whom it stands."""

import httpx
from sqlalchemy import text

from tests.support.bodies import (
    digest_of,
    make_artifact,
    make_checkpoint,
    make_evaluation,
    make_event,
    make_run,
    make_snapshot,
    make_start,
    make_verification,
    make_version,
    new_run_id,
)
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.service import RunningService


def test_run_is_recorded_once_and_answered_200_when_sent_again(recorder: httpx.Client) -> None:
    run = make_run()
    first, again = post(recorder, "/v1/runs", run), post(recorder, "/v1/runs", run)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["run_id"] == run["run_id"]
    assert [each["kind"] for each in first.json()["records"]] == [
        "run.registered",
        "evaluation.completed",
        "model_version",
    ]
    assert all(each["created"] for each in first.json()["records"])
    positions = [each["position"] for each in first.json()["records"]]
    assert positions == list(range(positions[0], positions[0] + 3))
    assert [(each["record"], each["created"]) for each in again.json()["records"]] == [
        (each["record"], False) for each in first.json()["records"]
    ]


def test_registration_too_large_for_one_record_is_kept_in_several(recorder: httpx.Client) -> None:
    notes = [make_event(type="note", text="x" * 3000, step=step) for step in range(100)]
    for note in notes:
        del note["state"]
    run = make_run(events=notes)
    first, again = post(recorder, "/v1/runs", run), post(recorder, "/v1/runs", run)
    assert (first.status_code, again.status_code) == (201, 200)
    kinds = [each["kind"] for each in first.json()["records"]]
    assert kinds[0] == "run.registered"
    assert (kinds.count("run.event"), kinds.count("checkpoint.saved"), kinds.count("artifact")) == (100, 1, 1)
    kept = stored_body(recorder, first.json()["record"])
    assert kept.keys().isdisjoint({"events", "checkpoints", "artifacts"})
    found = recorder.get(f"/v1/runs/{run['run_id']}").json()
    assert found["last_step"] == max(99, *(saved["step"] for saved in run["checkpoints"]))
    small = make_run()
    post(recorder, "/v1/runs", small)
    for path in ("checkpoints", "artifacts"):
        one = recorder.get(f"/v1/runs/{small['run_id']}/{path}").json()["items"]
        apart = recorder.get(f"/v1/runs/{run['run_id']}/{path}").json()["items"]
        own = ("run_id", "record", "position")
        assert [{name: value for name, value in each.items() if name not in own} for each in one] == [
            {name: value for name, value in each.items() if name not in own} for each in apart
        ]


def test_checkpoint_that_a_registration_keeps_never_changes(recorder: httpx.Client) -> None:
    run = make_run()
    assert post(recorder, "/v1/runs", run).status_code == 201
    (saved,) = run["checkpoints"]
    path = f"/v1/runs/{run['run_id']}/checkpoints"
    assert post(recorder, path, saved).status_code == 201
    assert_refused(post(recorder, path, saved | {"step": saved["step"] + 1}), 409, "conflict")
    later = make_start(run_id=run["run_id"], checkpoints=[saved | {"uri": "s3://elsewhere"}])
    later["job"] = run["job"]
    assert_refused(post(recorder, "/v1/runs", later), 409, "conflict")
    twice = make_start(checkpoints=[saved, saved | {"step": saved["step"] + 1}])
    assert_refused(post(recorder, "/v1/runs", twice), 409, "conflict")
    assert len(recorder.get(path).json()["items"]) == 1


def test_order_of_members_makes_no_other_content(recorder: httpx.Client) -> None:
    run = make_run()
    assert post(recorder, "/v1/runs", run).status_code == 201
    assert post(recorder, "/v1/runs", dict(reversed(run.items()))).status_code == 200


def test_later_post_may_add_what_the_start_did_not_know(recorder: httpx.Client) -> None:
    complete = make_run()
    start = {name: complete[name] for name in ("run_id", "job", "started_at", "config")}
    assert post(recorder, "/v1/runs", start).status_code == 201
    later = post(recorder, "/v1/runs", complete)
    assert later.status_code == 201
    run = recorder.get(f"/v1/runs/{complete['run_id']}").json()
    assert run["state"] == "completed"
    assert set(run["ingredients"]) >= {"code", "config", "environment", "hardware", "seeds"}


def test_later_post_that_changes_a_part_is_a_conflict_that_names_it(recorder: httpx.Client) -> None:
    run = make_run()
    assert post(recorder, "/v1/runs", run).status_code == 201
    size = log_size(recorder)
    for part, value, named in (
        ("job", {"namespace": "team-a", "name": "other"}, "job"),
        ("team", "other", "team"),
        ("code", {"commit": "a" * 40, "dirty": True}, "code"),
        ("config", {"values": {"learning_rate": 0.002}}, "config"),
        ("seeds", {"unseeded": True}, "seeds"),
        ("tags", {"purpose": "test"}, "tags.purpose"),
    ):
        changed = run | {part: value, "events": [make_event(type="note", text="must not be kept")]}
        assert_refused(post(recorder, "/v1/runs", changed), 409, "run_conflict", run["run_id"], named)
    assert log_size(recorder) == size


def test_later_facts_are_recorded_under_their_run(recorder: httpx.Client) -> None:
    run = make_start()
    post(recorder, "/v1/runs", run)
    path = f"/v1/runs/{run['run_id']}"
    for kind, call, body in (
        ("run.event", f"{path}/events", make_event()),
        ("checkpoint.saved", f"{path}/checkpoints", make_checkpoint()),
        ("artifact", f"{path}/artifacts", make_artifact()),
        (
            "checkpoint.verified",
            f"/v1/checkpoints/{digest_of('checkpoint')}/verifications",
            make_verification(),
        ),
        ("evaluation.completed", "/v1/evaluations", make_evaluation(run_id=run["run_id"])),
        ("model_version", "/v1/model-versions", make_version(run_id=run["run_id"])),
        ("snapshot", "/v1/snapshots", make_snapshot()),
    ):
        first, again = post(recorder, call, body), post(recorder, call, body)
        assert (first.status_code, again.status_code) == (201, 200), (kind, first.text)
        assert first.json()["record"] == again.json()["record"]
        stored = recorder.get(f"/v1/records/{first.json()['record']}")
        assert stored.headers["x-record-kind"] == kind
        assert body.items() <= stored.json()["body"].items()


def test_revocation_needs_a_record_of_the_namespace(service: RunningService, recorder: httpx.Client) -> None:
    record = post(recorder, "/v1/snapshots", make_snapshot()).json()["record"]
    body = {"record": record, "effect": "contested", "reason": "rows are missing"}
    author = service.client("author")
    assert [post(author, "/v1/revocations", body).status_code for _ in range(2)] == [201, 200]
    unknown = post(author, "/v1/revocations", body | {"record": digest_of("no record")})
    assert_refused(unknown, 404, "not_found", digest_of("no record"))


def test_fact_of_an_unknown_run_is_refused(recorder: httpx.Client) -> None:
    run_id, size = new_run_id(), log_size(recorder)
    for path, body in (
        (f"/v1/runs/{run_id}/events", make_event()),
        (f"/v1/runs/{run_id}/checkpoints", make_checkpoint()),
        (f"/v1/runs/{run_id}/artifacts", make_artifact()),
        (f"/v1/runs/{run_id}/progress", {"step": 1}),
        ("/v1/evaluations", make_evaluation(run_id=run_id)),
        ("/v1/model-versions", make_version(run_id=run_id)),
    ):
        assert_refused(post(recorder, path, body), 404, "run_not_found", run_id, "POST /v1/runs")
    assert log_size(recorder) == size


def test_verification_of_an_unknown_checkpoint_is_refused(recorder: httpx.Client) -> None:
    unknown = digest_of("no such checkpoint")
    answer = post(recorder, f"/v1/checkpoints/{unknown}/verifications", make_verification())
    assert_refused(answer, 404, "not_found", unknown)


def test_person_is_in_no_record_and_compares_by_pseudonym(
    service: RunningService, recorder: httpx.Client
) -> None:
    run = make_run(initiated_by="Ada.Lovelace@example.org")
    answer = post(recorder, "/v1/runs", run)
    assert answer.status_code == 201
    with service.services.database.read() as session:
        payloads = session.connection().execute(text("SELECT payload FROM record")).scalars().all()
        rows = session.connection().execute(text("SELECT document FROM run")).scalars().all()
    assert not [row for row in payloads if b"lovelace" in bytes(row).lower()]
    assert not [row for row in rows if "lovelace" in row.lower()]
    person = stored_body(recorder, answer.json()["record"])["initiated_by"]
    assert person["who"]["$redactable"].startswith("sha256:")
    assert post(recorder, "/v1/runs", run).status_code == 200
    other = post(recorder, "/v1/runs", run | {"initiated_by": "grace@example.org"})
    assert_refused(other, 409, "run_conflict", "initiated_by")
    assert "grace" not in other.text


def test_person_is_disclosed_once_for_each_record_that_names_one(
    service: RunningService, recorder: httpx.Client
) -> None:
    run = make_start(initiated_by="ada@example.org")
    for events, status in (([], 201), ([make_event()], 201), ([make_event()], 200)):
        assert post(recorder, "/v1/runs", run | {"events": events}).status_code == status
    with service.services.database.read() as session:
        disclosed = session.connection().execute(text("SELECT value FROM disclosure")).scalars().all()
    assert disclosed == ['"ada@example.org"'] * 2


def test_evidence_level_comes_from_the_key(service: RunningService) -> None:
    body = make_evaluation()
    for role, level in (("recorder", "self_reported"), ("evaluator", "trusted_runner")):
        client = service.client(role)
        record = post(client, "/v1/evaluations", body, role).json()["record"]
        assert client.get(f"/v1/records/{record}").headers["x-evidence-level"] == level
        assert post(client, "/v1/evaluations", body | {"level": "server_run"}).status_code == 422
