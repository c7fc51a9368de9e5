"""Decisions: about what, for whom, and where they are found again."""

import json

import pytest

from tests.support.bodies import digest_of
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.facts import get, get_all
from tests.support.gates import ARTIFACT, EVALUATION, GATE, MODEL, TO, GateScene, make_policy
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> GateScene:
    return GateScene(service)


def test_pass_is_for_one_artifact_one_target_and_one_model(scene: GateScene) -> None:
    scene.ready()
    scene.decided()
    assert not scene.in_force(artifact=digest_of("another"))["active"]
    assert not scene.in_force(to="staging")["active"]
    assert_refused(scene.ask(model="another"), 422, "invalid_input", "/model")


def test_version_must_be_bound_to_the_artifact(scene: GateScene) -> None:
    scene.ready()
    assert scene.register_version("1").status_code == 201
    assert scene.register_version("2", digest_of("another")).status_code == 201
    assert_refused(scene.ask(version="2"), 422, "invalid_input", "/version", "bound to")
    assert_refused(scene.ask(version="3"), 404, "not_found")
    made = scene.decided(version="1")
    assert (made["version"], made["training_run"]["revision"]) == ("1", 1)
    assert made["training_run"]["lineage_manifest"] is not None
    path = f"/v1/models/{MODEL}/versions/1/decisions"
    assert [each["decision"] for each in get_all(scene.reader, path)] == [made["decision"]]
    asked = {"model": MODEL, "to": TO, "version": "1"}
    assert scene.reader.get("/v1/decisions:in-force", params=asked).json()["active"]


def test_lineage_of_a_version_lists_what_was_decided_about_its_artifact(scene: GateScene) -> None:
    scene.ready()
    before = scene.decided()
    assert scene.register_version("1").status_code == 201
    after = scene.decided(version="1", mode="shadow")
    lineage = get(scene.reader, f"/v1/models/{MODEL}/versions/1/lineage")
    listed = [(each["decision"], each["mode"], each["verdict"]) for each in lineage["decisions"]]
    assert listed == [
        (after["decision"], "shadow", "passed"),
        (before["decision"], "enforce", "passed"),
    ]
    assert (lineage["more_decisions"], "criteria" in lineage["decisions"][0]) == (False, False)
    asked = get(scene.reader, f"/v1/models/{MODEL}/versions/1/lineage", as_of=after["position"] - 1)
    assert [each["decision"] for each in asked["decisions"]] == [before["decision"]]


def test_lists_show_decisions_newest_first_by_what_they_are_about(scene: GateScene) -> None:
    scene.ready()
    made = [scene.decided()["decision"] for _ in range(3)]
    other = scene.decided(artifact=digest_of("another"))
    assert [each["decision"] for each in get_all(scene.reader, "/v1/decisions", limit=1)] == [
        other["decision"],
        *reversed(made),
    ]
    filters = {"model": MODEL, "to": TO, "gate": GATE, "verdict": "blocked", "artifact": digest_of("another")}
    for name, value in filters.items():
        found = get_all(scene.reader, "/v1/decisions", **{name: value})
        assert other["decision"] in {each["decision"] for each in found}
    assert len(get_all(scene.reader, "/v1/decisions", verdict="passed")) == 3
    assert get_all(scene.reader, "/v1/decisions", model="another") == []


def test_another_tenant_sees_no_decision_and_no_gate(scene: GateScene) -> None:
    scene.ready()
    made = scene.decided()
    theirs = GateScene(scene.service, namespace="team-b")
    assert_refused(theirs.reader.get(f"/v1/decisions/{made['decision']}"), 404, "not_found")
    assert_refused(theirs.reader.get(f"/v1/gates/{GATE}"), 404, "not_found")
    assert_refused(theirs.ask(), 404, "not_found")
    assert get_all(theirs.reader, "/v1/decisions") == []
    assert theirs.in_force()["decision"] is None
    review = theirs.review(theirs.approver("grace"), made)
    assert_refused(review, 404, "not_found")


def test_decision_is_made_by_the_service_alone(scene: GateScene) -> None:
    scene.ready()
    made = scene.decided()
    body = stored_body(scene.reader, made["decision"])
    size = log_size(scene.reader)
    line = json.dumps({"kind": "decision", "body": body})
    answer = scene.recorder.post("/v1/records:batch", content=line)
    assert answer.json()["items"][0]["status"] == 403
    assert log_size(scene.reader) == size
    record = get(scene.reader, f"/v1/records/{made['decision']}")
    assert record["actor"]["auth"] == "system"


def test_incumbent_is_what_was_let_through_before(scene: GateScene) -> None:
    scene.ready()
    first = scene.decided()
    another = digest_of("another")
    scene.train(another)
    scene.evaluate(another)
    scene.attest(subject=another)
    made = scene.decided(artifact=another)
    assert made["verdict"] == "passed"
    assert made["incumbent"] == {
        "artifact": ARTIFACT,
        "how": "decision",
        "record": first["decision"],
        "target": TO,
    }
    assert "first-release" not in made["triggers"]
    assert scene.in_force()["active"], "each artifact has a decision of its own"


def test_attempts_of_renamed_models_count_on_the_same_data(scene: GateScene) -> None:
    scene.ready()
    assert scene.evaluate(digest_of("another"), model="renamed")["number"] == 2
    scene.evaluate(retry=1)
    made = scene.decided()
    assert made["attempt"]["number"] == 3
    assert made["attempt"]["alpha"] == pytest.approx(0.0304 / 9, abs=1e-4)
    facts = json.loads(scene.reader.get(f"/v1/blobs/{made['facts']}").content)
    assert (facts["attempts"]["count"], facts["dataset"]["digest"]) == (3, EVALUATION)


def test_flags_of_the_caller_only_add_triggers(scene: GateScene) -> None:
    scene.ready()
    made = scene.decided(flags=["business-conditions-changed"])
    assert "business-conditions-changed" in made["triggers"]
    assert_refused(scene.ask(flags=["skip-everything"]), 422, "invalid_input", "/flags")


def test_roles_that_may_not_decide_are_refused(scene: GateScene) -> None:
    scene.published(make_policy())
    for role in ("reader", "worker", "registry"):
        assert_refused(scene.ask(scene.person(None, role)), 403, "role_missing")
    assert_refused(post(scene.evaluator, "/v1/gates/none/decisions", {}), 422, "invalid_input")
