"""Attempts: opened before a result is known, counted whatever becomes of them, ended by results or by time."""

import pytest

from tests.support.attempts import (
    Scene,
    answered,
    closed,
    make_attempt,
    make_result,
    make_scene,
    opened,
    shown,
    uploaded,
)
from tests.support.bodies import Body, digest_of
from tests.support.calls import assert_refused, log_size, post
from tests.support.facts import get_all
from tests.support.service import RunningService

PATH = "/v1/evaluation-attempts"


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> Scene:
    """For what is refused before any database is asked."""
    return make_scene(sqlite_service)


def test_attempt_sent_again_is_the_same_attempt_whatever_key_comes_with_it(scene: Scene) -> None:
    first = post(scene.evaluator, PATH, make_attempt(), "a")
    size = log_size(scene.evaluator)
    assert first.status_code == 201
    assert (first.json()["number"], first.json()["state"]) == (1, "open")
    assert first.json()["attempt"] == first.json()["record"]
    for key in (None, "a", "b"):
        again = post(scene.evaluator, PATH, make_attempt(), key)
        assert (again.status_code, again.json()["attempt"]) == (200, first.json()["attempt"])
        assert again.json()["counted"] == {"this_namespace": 1, "other_namespaces": 0}
    assert log_size(scene.evaluator) == size


def test_same_candidate_under_the_same_protocol_needs_the_next_retry(scene: Scene) -> None:
    """Neither another name of the model nor a longer time opens a second attempt that looks like the first."""
    opened(scene.evaluator)
    for changes in ({"model": "renamed"}, {"repeats": 5}, {"timeout_seconds": 60}, {"threshold": 0.9}):
        refused = post(scene.evaluator, PATH, make_attempt(**changes))
        assert_refused(refused, 409, "conflict", "`retry`")
    assert opened(scene.evaluator, retry=1)["number"] == 2


def test_renaming_the_model_does_not_reset_the_count(scene: Scene) -> None:
    numbers = [
        opened(scene.evaluator, model=model, candidate=digest_of(candidate))["number"]
        for model, candidate in (("fraud", "a"), ("fraud", "b"), ("fraud-2", "c"), ("fraud-3", "d"))
    ]
    assert numbers == [1, 2, 3, 4]
    assert opened(scene.evaluator, dataset=digest_of("new data"))["number"] == 1


def test_attempts_of_other_namespaces_are_counted_and_nothing_else_of_them_is_told(scene: Scene) -> None:
    opened(scene.evaluator)
    stranger = scene.service.client("evaluator", namespace="team-b")
    theirs = opened(stranger)
    assert (theirs["number"], theirs["counted"]) == (1, {"this_namespace": 1, "other_namespaces": 1})
    opened(stranger, retry=1)
    ours = opened(scene.evaluator)
    assert ours["counted"] == {"this_namespace": 1, "other_namespaces": 2}
    assert_refused(scene.evaluator.get(f"{PATH}/{theirs['attempt']}"), 404, "not_found")
    assert [each["number"] for each in get_all(scene.evaluator, PATH)] == [1]
    result = post(scene.evaluator, "/v1/evaluations", make_result(theirs))
    assert_refused(result, 404, "not_found", "open one")
    again = post(scene.evaluator, f"{PATH}/{theirs['attempt']}/statistics", {"incumbent": None})
    assert_refused(again, 404, "not_found")


def test_attempt_waits_for_each_of_its_repeats_and_then_closes(scene: Scene) -> None:
    attempt = opened(scene.evaluator, repeats=3)
    records = [answered(scene.evaluator, attempt, repeat=repeat) for repeat in (2, 0)]
    assert (shown(scene.evaluator, attempt)["state"], shown(scene.evaluator, attempt)["work"]) == (
        "open",
        None,
    )
    records.append(answered(scene.evaluator, attempt, repeat=1))
    found = shown(scene.evaluator, attempt)
    assert (found["state"], found["received"], found["ended_by"]) == ("closed", 3, records[2])
    assert [each["record"] for each in found["evaluations"]] == [records[1], records[2], records[0]]
    assert {each["registered"] for each in found["evaluations"]} == {True}
    assert found["work"]["state"] == "queued"


def test_repeat_has_one_result(scene: Scene) -> None:
    attempt = opened(scene.evaluator, repeats=2)
    answered(scene.evaluator, attempt)
    again = post(scene.evaluator, "/v1/evaluations", make_result(attempt))
    assert (again.status_code, again.json()["created"]) == (200, False)
    better = make_result(attempt, metrics={"roc_auc": 0.99})
    for key in (None, "another key"):
        key = key and key.replace(" ", "-")
        refused = post(scene.evaluator, "/v1/evaluations", better, key)
        assert_refused(refused, 409, "conflict", "repeat 0", "`retry`")
    assert shown(scene.evaluator, attempt)["received"] == 1


def test_result_that_comes_too_late_is_refused_and_the_attempt_counts(scene: Scene) -> None:
    attempt = opened(scene.evaluator, repeats=2)
    answered(scene.evaluator, attempt)
    late = make_result(attempt, repeat=1)
    with scene.later():
        refused = post(scene.evaluator, "/v1/evaluations", late)
        assert_refused(refused, 409, "attempt_ended", "was over at", "`retry`")
        assert (scene.abandon(), scene.abandon()) == (1, 0)
        refused = post(scene.evaluator, "/v1/evaluations", late)
        assert_refused(refused, 409, "attempt_ended", "abandoned")
    found = shown(scene.evaluator, attempt)
    assert (found["state"], found["received"], found["work"]) == ("abandoned", 1, None)
    record = scene.evaluator.get(f"/v1/records/{found['ended_by']}").json()
    assert (record["kind"], record["body"]["attempt"]) == ("evaluation.abandoned", attempt["attempt"])
    assert (record["ns"], record["actor"]["id"]) == ("team-a", "system")
    assert opened(scene.evaluator, retry=1)["number"] == 2


def test_result_for_a_closed_attempt_is_refused(scene: Scene) -> None:
    attempt = closed(scene.evaluator)
    more = make_result(attempt, repeat=1)
    assert_refused(post(scene.evaluator, "/v1/evaluations", more), 409, "attempt_ended", "closed", "`retry`")


def test_attempt_with_all_results_is_never_abandoned(scene: Scene) -> None:
    attempt = closed(scene.evaluator)
    waiting = opened(scene.evaluator, retry=1, timeout_seconds=2_592_000)
    with scene.later():
        assert scene.abandon() == 0
    assert shown(scene.evaluator, attempt)["state"] == "closed"
    assert shown(scene.evaluator, waiting)["state"] == "open"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"subject": digest_of("another model")}, "/subject"),
        ({"dataset": digest_of("easier data")}, "/dataset"),
        ({"evaluator": digest_of("kinder evaluator")}, "/evaluator"),
        ({"repeat": 1}, "/repeat"),
        ({"per_example": digest_of("never uploaded")}, "/per_example"),
        ({"statistics": {}}, "per_example"),
        ({"dataset": None}, "dataset"),
    ],
)
def test_result_that_is_not_what_was_declared_is_refused(scene: Scene, changes: Body, field: str) -> None:
    attempt = opened(scene.evaluator)
    body = {name: value for name, value in make_result(attempt, **changes).items() if value is not None}
    assert_refused(post(scene.evaluator, "/v1/evaluations", body), 422, "invalid_input", field)
    assert shown(scene.evaluator, attempt)["received"] == 0


def test_result_may_rest_on_uploaded_predictions_alone(scene: Scene) -> None:
    attempt = opened(scene.evaluator)
    answered(scene.evaluator, attempt, per_example=uploaded(scene.evaluator), statistics={})
    assert shown(scene.evaluator, attempt)["state"] == "closed"


def test_recorders_evaluation_is_self_reported_and_ends_nobody_elses_attempt(scene: Scene) -> None:
    recorder = scene.service.client("recorder")
    attempt = opened(scene.evaluator)
    refused = post(recorder, "/v1/evaluations", make_result(attempt))
    assert_refused(refused, 403, "role_missing", "trusted_runner", "self_reported")
    assert shown(scene.evaluator, attempt)["state"] == "open"
    both = scene.service.client("recorder", "evaluator")
    own = closed(both, retry=1)
    assert shown(both, own)["evidence_level"] == "self_reported"
    assert shown(both, own)["evaluations"][0]["evidence_level"] == "self_reported"
    assert_refused(post(recorder, PATH, make_attempt(retry=2)), 403, "role_missing", "evaluator")


def test_evaluation_without_an_attempt_is_shown_as_unregistered(scene: Scene) -> None:
    body = make_result({"attempt": None})
    record = post(scene.evaluator, "/v1/evaluations", body).json()["record"]
    attempt = closed(scene.evaluator)
    assert shown(scene.evaluator, attempt)["received"] == 1
    assert record not in {each["record"] for each in shown(scene.evaluator, attempt)["evaluations"]}


def test_attempts_are_listed_by_data_set_model_and_state(scene: Scene) -> None:
    for number in range(3):
        opened(scene.evaluator, retry=number)
    other = opened(scene.evaluator, model="other", dataset=digest_of("other"))
    done = closed(scene.evaluator, candidate=digest_of("done"))

    def listed(**filters: str) -> list[str]:
        return [each["attempt"] for each in get_all(scene.evaluator, PATH, limit=2, **filters)]

    assert len(listed()) == 5
    assert listed()[0] == done["attempt"]
    assert listed(dataset=digest_of("other")) == [other["attempt"]]
    assert listed(model="other") == [other["attempt"]]
    assert listed(state="closed") == [done["attempt"]]
    assert len(listed(state="open", dataset=digest_of("fraud-eval"))) == 3
    assert listed(state="abandoned") == []


@pytest.mark.parametrize(
    "changes",
    [
        {"repeats": 0},
        {"repeats": 101},
        {"timeout_seconds": 59},
        {"task": "ranking"},
        {"incumbent": digest_of("model")},
        {"evaluator": "registry.example.org/evaluator:latest"},
        {"retry": -1},
        {"threshold": "0.5"},
    ],
)
def test_attempt_that_declares_too_little_is_refused(sqlite_scene: Scene, changes: Body) -> None:
    refused = post(sqlite_scene.evaluator, PATH, make_attempt(**changes))
    assert_refused(refused, 422, "invalid_input", next(iter(changes)))


def test_batch_opens_no_attempt_and_answers_none(scene: Scene) -> None:
    attempt = opened(scene.evaluator)
    lines = [
        {"kind": "evaluation.attempted", "body": make_attempt(retry=1)},
        {"kind": "evaluation.completed", "body": make_result(attempt)},
        {"kind": "evaluation.abandoned", "body": {"attempt": attempt["attempt"], "reason": "lost"}},
    ]
    for line in lines:
        answer = scene.evaluator.post("/v1/records:batch", json=line).json()["items"][0]
        assert answer["status"] in (403, 422), answer
    assert opened(scene.evaluator)["counted"]["this_namespace"] == 1
    assert shown(scene.evaluator, attempt)["state"] == "open"
