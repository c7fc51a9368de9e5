"""An idempotency key and a natural identity stand for one content, however it is sent."""

import itertools
import json

import httpx

from tests.support.bodies import (
    digest_of,
    make_artifact,
    make_checkpoint,
    make_event,
    make_run,
    make_snapshot,
    make_start,
    make_version,
)
from tests.support.calls import assert_refused, log_size, post
from tests.support.service import RunningService


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
