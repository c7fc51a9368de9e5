"""Statistics: asked for by the result that closes an attempt, made by a worker that claimed them, recorded once."""

import json

import pytest

from tests.support.attempts import (
    Scene,
    answered,
    claimed,
    closed,
    make_scene,
    opened,
    shown,
    statistics_of,
    uploaded,
)
from tests.support.bodies import Body, digest_of, make_artifact, make_snapshot, make_start
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.contracts import claim, complete, give_up
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


def inputs_of(scene: Scene, **changes: object) -> Body:
    closed(scene.evaluator, **changes)
    inputs: Body = claimed(scene.worker)["inputs"]
    return inputs


def test_closed_attempt_is_measured_again_by_a_worker(scene: Scene) -> None:
    attempt = opened(scene.evaluator, repeats=2)
    predictions = uploaded(scene.evaluator)
    slices = [{"dimension": "country", "value": "NO", "metrics": {"recall": 0.8}}]
    first = answered(scene.evaluator, attempt, per_example=predictions, slices=slices)
    assert claim(scene.worker, kinds=["statistics"], roots=[]) is None
    second = answered(scene.evaluator, attempt, repeat=1)
    work = claimed(scene.worker)
    assert work["request"]["attempt"] == attempt["attempt"]
    inputs = work["inputs"]
    assert (inputs["attempt"]["id"], inputs["attempt"]["task"]) == (attempt["attempt"], "binary")
    assert inputs["evaluations"][0] == {
        "record": first,
        "repeat": 0,
        "metrics": {"roc_auc": 0.91},
        "per_example": predictions,
        "statistics": {"roc_auc": {"n": 1000, "mean": 0.91, "sd": 0.2}},
        "slices": slices,
    }
    assert inputs["evaluations"][1]["record"] == second
    assert inputs["incumbent"] is None
    assert scene.worker.get(f"/v1/blobs/{predictions}").status_code == 200
    answer = complete(scene.worker, work, statistics_of(work))
    assert answer.status_code == 200, answer.text
    found = shown(scene.evaluator, attempt)
    assert (found["work"]["state"], len(found["statistics"])) == ("done", 1)
    listed = found["statistics"][0]
    assert (listed["record"], listed["outcome"]) == (answer.json()["record"], "ok")
    assert (listed["evidence_level"], listed["inputs_level"]) == ("trusted_runner", "trusted_runner")
    assert stored_body(scene.evaluator, listed["record"]) == statistics_of(work)


def test_level_of_statistics_is_the_workers_and_what_they_rest_on_is_told(scene: Scene) -> None:
    both = scene.service.client("recorder", "evaluator")
    attempt = closed(both)
    work = claimed(scene.worker)
    assert complete(scene.worker, work, statistics_of(work)).status_code == 200
    (listed,) = shown(both, attempt)["statistics"]
    assert (listed["evidence_level"], listed["inputs_level"]) == ("trusted_runner", "self_reported")


def test_worker_records_no_statistics_without_claimed_work(scene: Scene) -> None:
    closed(scene.evaluator)
    work = claimed(scene.worker)
    result = statistics_of(work)
    size = log_size(scene.evaluator)
    line = {"kind": "statistics", "body": result}
    refused = scene.worker.post("/v1/records:batch", json=line).json()["items"][0]
    assert (refused["status"], "complete" in refused["detail"]) == (422, True)
    forged = {**work, "lease": "0" * 32}
    assert_refused(complete(scene.worker, forged, result), 409, "work_lease_lost")
    assert log_size(scene.evaluator) == size
    assert complete(scene.worker, work, result).status_code == 200


def test_result_for_another_attempt_incumbent_or_other_evaluations_is_refused(scene: Scene) -> None:
    first = closed(scene.evaluator)
    closed(scene.evaluator, retry=1)
    work, other = claimed(scene.worker), claimed(scene.worker)
    result = statistics_of(work)
    for changes, field in (
        ({"attempt": other["inputs"]["attempt"]["id"]}, "/result/attempt"),
        ({"incumbent": digest_of("incumbent")}, "/result/incumbent"),
        ({"evaluations": statistics_of(other)["evaluations"]}, "/result/evaluations"),
        ({"incumbent_evaluations": result["evaluations"]}, "/result/incumbent_evaluations"),
        ({"seed": result["seed"] + 1}, "/result/seed"),
        ({"candidate": digest_of("another")}, "/candidate"),
        ({"protocol_digest": digest_of("kinder")}, "/protocol_digest"),
        ({"outcome": "error"}, "reason"),
        ({"metrics": {"roc_auc": {"estimate": "NaN"}}}, "estimate"),
    ):
        refused = complete(scene.worker, work, {**result, **changes})
        assert_refused(refused, 422, "invalid_input", field)
    crossed = complete(scene.worker, work, statistics_of(other))
    assert_refused(crossed, 422, "invalid_input", "/result/attempt")
    assert shown(scene.evaluator, first)["statistics"] == []
    assert complete(scene.worker, work, result).status_code == 200


def test_incumbent_is_compared_with_as_it_was_measured_under_the_same_protocol(scene: Scene) -> None:
    incumbent = digest_of("incumbent")
    for changes in (
        {"config": digest_of("another config")},
        {"threshold": 0.9, "retry": 7},
        {"dataset": digest_of("other data")},
    ):
        attempt = opened(scene.evaluator, candidate=incumbent, **changes)
        answered(
            scene.evaluator,
            attempt,
            subject=incumbent,
            dataset=changes.get("dataset", digest_of("fraud-eval")),
        )
        claimed(scene.worker)
    opened(scene.evaluator, candidate=incumbent, retry=8)
    attempt = closed(scene.evaluator, incumbent=incumbent)
    work = claimed(scene.worker)
    assert work["inputs"]["incumbent"] == {"artifact": incumbent, "evaluations": []}
    give_up(scene.worker, work, retry=False)
    measured = closed(scene.evaluator, candidate=incumbent)
    claimed(scene.worker)
    asked = post(
        scene.evaluator, f"/v1/evaluation-attempts/{attempt['attempt']}/statistics", {"incumbent": incumbent}
    )
    assert asked.status_code == 202, asked.text
    work = claimed(scene.worker)
    assert work["id"] == asked.json()["id"]
    compared = [each["record"] for each in work["inputs"]["incumbent"]["evaluations"]]
    assert compared == [each["record"] for each in shown(scene.evaluator, measured)["evaluations"]]
    assert complete(scene.worker, work, statistics_of(work)).status_code == 200
    found = shown(scene.evaluator, attempt)
    assert [each["incumbent"] for each in found["statistics"]] == [incumbent]
    assert found["counted"]["this_namespace"] == 5, "measuring again opens no attempt"


def test_results_that_were_revoked_are_no_incumbents_measurement(scene: Scene) -> None:
    incumbent = digest_of("incumbent")
    author = scene.service.client("author")
    for retry, what in enumerate(("attempt", "evaluation")):
        measured = closed(scene.evaluator, candidate=incumbent, retry=retry)
        claimed(scene.worker)
        record = measured["attempt"] if what == "attempt" else shown(author, measured)["ended_by"]
        revoked = {"record": record, "effect": "revoked", "reason": "wrong labels"}
        assert post(author, "/v1/revocations", revoked).status_code == 201
    closed(scene.evaluator, incumbent=incumbent)
    assert claimed(scene.worker)["inputs"]["incumbent"]["evaluations"] == []


def test_open_attempt_can_not_be_measured_again(scene: Scene) -> None:
    path = f"/v1/evaluation-attempts/{opened(scene.evaluator)['attempt']}/statistics"
    assert_refused(post(scene.evaluator, path, {"incumbent": None}), 409, "attempt_not_closed", "open")
    own = post(scene.evaluator, path, {"incumbent": None, "attempt": digest_of("another")})
    assert_refused(own, 422, "invalid_input", "URL")
    done = closed(scene.evaluator, retry=1)
    path = f"/v1/evaluation-attempts/{done['attempt']}/statistics"
    assert_refused(
        post(scene.evaluator, path, {"incumbent": digest_of("model")}), 422, "invalid_input", "candidate"
    )


def test_same_key_for_another_attempt_is_told_apart(scene: Scene) -> None:
    first, second = closed(scene.evaluator), closed(scene.evaluator, retry=1)
    ids = []
    for attempt in (first, first):
        path = f"/v1/evaluation-attempts/{attempt['attempt']}/statistics"
        ids.append(post(scene.evaluator, path, {"incumbent": None}, "k").json()["id"])
    assert ids[0] == ids[1]
    path = f"/v1/evaluation-attempts/{second['attempt']}/statistics"
    assert_refused(post(scene.evaluator, path, {"incumbent": None}, "k"), 409, "idempotency_key_reused")


def test_sketches_of_training_and_evaluation_data_come_with_the_work(scene: Scene) -> None:
    recorder = scene.service.client("recorder")
    sketch = {"blob": digest_of("sketch"), "count": 1000, "columns": ["id"]}
    split = {"name": "test", "of": "clicks", "method": "hash of id, seed 7"}
    train = make_snapshot(digest=digest_of("train"), key_sketch=sketch)
    run = make_start(
        inputs=[
            {"role": "train", "snapshot": train},
            {"role": "validation", "digest": digest_of("never recorded")},
            {"role": "test", "digest": digest_of("fraud-eval")},
        ],
        artifacts=[make_artifact(digest=digest_of("model"))],
    )
    assert post(recorder, "/v1/runs", run).status_code == 201
    # Known already, without a split: what comes later completes it.
    for changes in ({}, {"split": split}):
        snapshot = make_snapshot(digest=digest_of("fraud-eval"), **changes)
        assert post(recorder, "/v1/snapshots", snapshot).status_code in (200, 201)
    sketches = inputs_of(scene)["sketches"]
    assert (sketches["evaluation"], sketches["evaluation_split"]) == (None, split)
    assert sorted(sketches["training"], key=json.dumps) == sorted(
        [
            {"snapshot": digest_of("never recorded"), "sketch": None, "split": None},
            {"snapshot": digest_of("train"), "sketch": sketch, "split": None},
        ],
        key=json.dumps,
    )


def test_a_split_that_is_contradicted_proves_nothing(scene: Scene) -> None:
    recorder = scene.service.client("recorder")
    splits = [{"name": name, "of": "clicks", "method": "hash of id, seed 7"} for name in ("test", "train")]
    for split in splits:
        snapshot = make_snapshot(digest=digest_of("fraud-eval"), split=split)
        assert post(recorder, "/v1/snapshots", snapshot).status_code == 201
    assert inputs_of(scene)["sketches"]["evaluation_split"] is None
    shown_snapshot = recorder.get(f"/v1/snapshots/{digest_of('fraud-eval')}").json()
    assert shown_snapshot["conflicts"] == {"split": splits}


def test_artifact_of_unknown_origin_has_training_data_that_nobody_knows(scene: Scene) -> None:
    training = inputs_of(scene)["sketches"]["training"]
    assert training == [{"snapshot": digest_of("model"), "sketch": None, "split": None}]
