"""Recording over HTTP: what is new, what is the same again, what is refused, and that it reads back identical."""

import itertools
import json

import httpx
import pytest
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


@pytest.fixture
def recorder(service: RunningService) -> httpx.Client:
    return service.client("recorder")


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


def test_idempotency_key_gives_the_first_answer_and_refuses_other_content(recorder: httpx.Client) -> None:
    run = make_run()
    first = post(recorder, "/v1/runs", run, "once")
    again = post(recorder, "/v1/runs", run, "once")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["record"] == again.json()["record"]
    size = log_size(recorder)
    for path, body in (
        ("/v1/runs", make_run()),
        ("/v1/runs", run | {"tags": {"purpose": "release", "more": "yes"}}),
        ("/v1/snapshots", make_snapshot()),
        (f"/v1/runs/{run['run_id']}/events", make_event()),
    ):
        assert_refused(post(recorder, path, body, "once"), 409, "idempotency_key_reused", "new key")
    assert log_size(recorder) == size


def test_idempotency_key_of_another_namespace_is_another_key(
    service: RunningService, recorder: httpx.Client
) -> None:
    assert post(recorder, "/v1/runs", make_start(), "once").status_code == 201
    other = service.client("recorder", namespace="team-b")
    assert post(other, "/v1/runs", make_start(), "once").status_code == 201


def test_same_content_with_an_idempotency_key_that_holds_the_person_is_the_same(
    recorder: httpx.Client,
) -> None:
    run = make_run(initiated_by="ada@example.org")
    assert [post(recorder, "/v1/runs", run, "once").status_code for _ in range(2)] == [201, 200]


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


def test_identity_is_bound_once_whatever_the_idempotency_keys(recorder: httpx.Client) -> None:
    for keys in itertools.product((None, "a"), (None, "b")):
        run = make_start()
        post(recorder, "/v1/runs", run)
        path = f"/v1/runs/{run['run_id']}"
        version = make_version(run_id=run["run_id"], model=run["run_id"])
        for call, body, changed, code in (
            ("/v1/model-versions", version, {"artifact": digest_of("other")}, "model_version_taken"),
            (f"{path}/checkpoints", make_checkpoint(), {"step": 1001}, "conflict"),
            (f"{path}/artifacts", make_artifact(), {"size_bytes": 4097}, "conflict"),
        ):
            first, second = (None if key is None else f"{key}{call}{run['run_id']}" for key in keys)
            assert post(recorder, call, body, first).status_code == 201
            size = log_size(recorder)
            assert_refused(post(recorder, call, body | changed, second), 409, code, "recorded before")
            assert log_size(recorder) == size
            assert post(recorder, call, body, second).status_code in (200, 201)


def test_identity_is_bound_once_within_one_batch(recorder: httpx.Client) -> None:
    run = make_start()
    lines = [
        {"kind": "run.registered", "body": run},
        {"kind": "checkpoint.saved", "body": make_checkpoint(run_id=run["run_id"]), "key": "a"},
        {"kind": "checkpoint.saved", "body": make_checkpoint(run_id=run["run_id"], step=7), "key": "b"},
        {"kind": "model_version", "body": make_version(run_id=run["run_id"]), "key": "c"},
        {"kind": "model_version", "body": make_version(run_id=run["run_id"], tags={"a": "b"}), "key": "d"},
    ]
    answer = recorder.post("/v1/records:batch", content="\n".join(map(json.dumps, lines)))
    assert [item["status"] for item in answer.json()["items"]] == [201, 201, 409, 201, 409]


def test_version_is_taken_also_for_another_run(recorder: httpx.Client) -> None:
    first, second = make_run(), make_run()
    assert post(recorder, "/v1/runs", first).status_code == 201
    version = make_version(model=first["model_versions"][0]["model"])
    size = log_size(recorder)
    taken = post(recorder, "/v1/runs", second | {"model_versions": [version]})
    assert_refused(taken, 409, "model_version_taken", version["model"])
    assert log_size(recorder) == size
    assert recorder.get(f"/v1/runs/{second['run_id']}").status_code == 404


def test_slash_in_registry_or_model_does_not_merge_two_models(recorder: httpx.Client) -> None:
    run = make_start()
    post(recorder, "/v1/runs", run)
    one = make_version(run_id=run["run_id"], registry="a/b", model="c")
    other = make_version(run_id=run["run_id"], registry="a", model="b/c", artifact=digest_of("other"))
    assert post(recorder, "/v1/model-versions", one).status_code == 201
    assert post(recorder, "/v1/model-versions", other).status_code == 201


NUMBERS = [
    0,
    1,
    -1,
    2**53 - 1,
    -(2**53) + 1,
    0.1,
    1e-05,
    1e-7,
    1.5e300,
    5e-324,
    1e21,
    1e16,
    -2.5,
    1.0,
    123456.789,
]
TEXTS = [
    "",
    " ",
    "ü",
    "\U0001f680",
    "e\u0301",
    "\u2028",
    "\ufeff",
    'quote " and \\',
    "\x00\x1f\x7f",
    "</script>",
]


def test_what_is_accepted_reads_back_identical(recorder: httpx.Client) -> None:
    values = {
        **{f"number {place}": number for place, number in enumerate(NUMBERS)},
        **{f"text {place}": value for place, value in enumerate(TEXTS)},
        "ключ \U0001f511": {"": [None, True, False, [], {}]},
        "\uff5e": 1,
        "\U0001f600": 2,
    }
    run = make_start(config={"values": values}, tags={"ünïcode \U0001f680": "line\nbreak\ttab"})
    answer = post(recorder, "/v1/runs", run)
    assert answer.status_code == 201, answer.text
    assert stored_body(recorder, answer.json()["record"]) == run


def test_float_that_is_a_whole_number_keeps_its_value_beyond_2_to_the_53(recorder: httpx.Client) -> None:
    body = (
        b'{"subject": "%s", "metrics": {"a": 9007199254740994.0, "b": 1E+22, "c": -0.0}}'
        % digest_of("m").encode()
    )
    answer = recorder.post("/v1/evaluations", content=body)
    assert answer.status_code == 201
    stored = stored_body(recorder, answer.json()["record"])
    assert stored["metrics"] == {"a": 9007199254740994, "b": 1e22, "c": 0}


INSTANTS = [
    "0001-01-01T00:00:00Z",
    "0999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59.999999999Z",
    "2026-05-01T12:00:00.123456789+02:00",
    "2026-05-01t12:00:00z",
]


def test_any_instant_that_is_accepted_reads_back_identical(recorder: httpx.Client) -> None:
    for moment in INSTANTS:
        run = make_start(started_at=moment, events=[make_event(at=moment, state="completed")])
        run["checkpoints"] = [make_checkpoint(trained_until=moment, retain_until=moment)]
        answer = post(recorder, "/v1/runs", run)
        assert answer.status_code == 201, answer.text
        registered = stored_body(recorder, answer.json()["record"])
        assert registered["started_at"] == registered["events"][0]["at"] == moment
        assert registered["checkpoints"][0]["trained_until"] == moment
        assert recorder.get(f"/v1/runs/{run['run_id']}").status_code == 200
        saved = recorder.get(f"/v1/runs/{run['run_id']}/checkpoints").json()["items"]
        assert saved[0]["trained_until"] == moment


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
