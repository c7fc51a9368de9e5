"""Going back, emptying a target, and what a registry holds without us."""

import pytest

from tests.support.bodies import digest_of
from tests.support.calls import assert_refused, log_size
from tests.support.facts import get
from tests.support.gates import ARTIFACT, MODEL, TO, ahead, make_policy
from tests.support.promotions import PromotionScene, make_move
from tests.support.service import RunningService

BETTER = digest_of("a better model")
OLD = digest_of("what was there before us")


@pytest.fixture
def scene(sqlite_service: RunningService) -> PromotionScene:
    return PromotionScene(sqlite_service)


def prepare(scene: PromotionScene) -> None:
    """The first artifact was promoted as version 1 and then replaced by version 2."""
    scene.ready()
    scene.another(BETTER)
    scene.decided()
    scene.promote()
    scene.decided(artifact=BETTER)
    scene.promote("2", ("1", ARTIFACT), artifact=BETTER)


def test_rollback_asks_for_nothing_new(service: RunningService) -> None:
    scene = PromotionScene(service)
    prepare(scene)
    scene.end(get(scene.reader, "/v1/decisions", artifact=ARTIFACT)["items"][0])
    scene.published(make_policy(version=2))
    assert not scene.in_force()["active"]
    back = scene.promote("1", ("2", BETTER))
    assert (back["action"], back["state"]) == ("rollback", "promoted")
    assert scene.holds() == ("1", ARTIFACT)
    forth = scene.promote("2", ("1", ARTIFACT), artifact=BETTER)
    assert forth["action"] == "rollback"
    assert [each["action"] for each in get(scene.reader, "/v1/promotions")["items"]] == [
        "rollback",
        "rollback",
        "promote",
        "promote",
    ]


def test_rollback_is_granted_whatever_the_target_holds(scene: PromotionScene) -> None:
    prepare(scene)
    moved_past_the_guard = ("9", digest_of("nobody knows"))
    assert scene.granted("1", moved_past_the_guard)["action"] == "rollback"
    scene.pass_time()
    assert scene.granted("1", None)["action"] == "rollback"


def test_artifact_whose_evidence_fell_does_not_come_back(scene: PromotionScene) -> None:
    prepare(scene)
    evidence = get(scene.reader, "/v1/evidence", subject=ARTIFACT)["items"][0]["record"]
    scene.revoke(evidence, "contested")
    assert scene.refused("1", ("2", BETTER)) == "fallen"


def test_artifact_that_did_not_pass_later_does_not_come_back(scene: PromotionScene) -> None:
    prepare(scene)
    scene.attest(outcome="failed")
    assert scene.refused("1", ("2", BETTER)) == "fallen"
    assert scene.decided()["verdict"] == "blocked"
    assert scene.refused("1", ("2", BETTER)) == "not_passed"


def test_grant_of_a_rollback_falls_with_what_it_rests_on(scene: PromotionScene) -> None:
    prepare(scene)
    grant = scene.granted("1", ("2", BETTER))
    evidence = get(scene.reader, "/v1/evidence", subject=ARTIFACT)["items"][0]["record"]
    scene.revoke(evidence)
    assert_refused(scene.settle(grant), 409, "grant_void", evidence)
    assert scene.holds() == ("2", BETTER)


def test_what_broke_the_glass_comes_back_only_while_that_counts(scene: PromotionScene) -> None:
    scene.published(make_policy())
    wish = {"model": MODEL, "artifact": ARTIFACT, "to": TO, "reason": "down", "expires_at": ahead(hours=1)}
    scene.grace.post("/v1/break-glass", json=wish)
    made = scene.approver("heidi").post("/v1/break-glass", json=wish).json()["decision"]
    scene.promote()
    scene.end(made)
    assert scene.refused("1", ("1", ARTIFACT)) == "lapsed"


def test_what_was_never_promoted_here_is_no_rollback(scene: PromotionScene) -> None:
    prepare(scene)
    scene.end(get(scene.reader, "/v1/decisions", artifact=ARTIFACT)["items"][0])
    assert scene.refused("1", ("2", BETTER), registry="another") == "lapsed"
    assert scene.refused("1", ("2", BETTER), target="Production") == "no_gate"


def test_promotion_that_the_registry_did_not_commit_holds_nobody_up(scene: PromotionScene) -> None:
    """Its server ended after the record: it still holds what the record says was replaced."""
    prepare(scene)
    third = digest_of("a third model")
    scene.another(third)
    scene.decided(artifact=third)
    assert scene.refused("3", ("8", OLD), artifact=third) == "incumbent_unknown"
    scene.promote("3", ("2", BETTER), artifact=third)
    scene.promote("3", ("2", BETTER), artifact=third)


def test_target_is_emptied_once_when_a_person_allowed_it(scene: PromotionScene) -> None:
    prepare(scene)
    emptying = {"action": "demote", "artifact": None}
    assert scene.refused("2", ("2", BETTER), **emptying) == "no_demotion"
    assert scene.allow_demotion().status_code == 201
    grant = scene.granted("2", ("2", BETTER), **emptying)
    assert scene.refused("2", ("2", BETTER), **emptying) == "under_way"
    demoted = scene.settle(grant)
    assert (demoted.status_code, demoted.json()["state"]) == (201, "demoted")
    assert scene.holds() is None
    assert scene.refused("2", None, **emptying) == "no_demotion"
    assert scene.promote("2", None, artifact=BETTER)["action"] == "rollback"
    assert_refused(scene.allow_demotion(scene.recorder), 403, "role_missing", "approver")


def test_permission_to_empty_ends_with_time_with_a_promotion_and_when_taken_back(
    scene: PromotionScene,
) -> None:
    prepare(scene)
    emptying = {"action": "demote", "artifact": None}
    scene.allow_demotion()
    scene.pass_time()
    assert scene.refused("2", ("2", BETTER), **emptying) == "no_demotion"
    scene.allow_demotion()
    scene.promote("1", ("2", BETTER))
    assert scene.refused("1", ("1", ARTIFACT), **emptying) == "no_demotion", "another one is there now"
    allowed = scene.allow_demotion().json()
    grant = scene.granted("1", ("1", ARTIFACT), **emptying)
    scene.revoke(allowed["record"])
    assert_refused(scene.settle(grant), 409, "grant_void", "taken back")
    assert scene.holds() == ("1", ARTIFACT)


def test_observation_is_told_apart_and_recorded_when_something_changed(scene: PromotionScene) -> None:
    first = scene.observe(source="s3://models/1")
    assert first.status_code == 201
    size = log_size(scene.reader)
    again = scene.observe(source="s3://models/1")
    assert (again.status_code, again.json()["record"]) == (200, first.json()["record"])
    assert log_size(scene.reader) == size
    (found,) = scene.released()
    assert (found["how"], found["decision"], found["version"]) == ("observed", None, "1")
    assert scene.observe(version="2", artifact=BETTER).status_code == 201
    assert scene.observe().status_code == 201, "what was there before is a new fact when it is there again"
    assert scene.observe(version=None, artifact=None).status_code == 201
    assert scene.released() == []
    assert scene.states() == ["observed"] * 4


def test_same_observation_of_an_unchanged_target_is_recorded_once(scene: PromotionScene) -> None:
    """Also when it says something else than the records, and is no reason to change them."""
    prepare(scene)
    first = scene.observe(version="9")
    assert first.status_code == 201
    size = log_size(scene.reader)
    again = scene.observe(version="9")
    assert (again.status_code, again.json()["record"]) == (200, first.json()["record"])
    assert log_size(scene.reader) == size
    assert scene.observe(version="8").status_code == 201
    scene.promote("1", ("2", BETTER))
    assert scene.observe(version="9").status_code == 201, "the target moved on since"


def test_import_takes_no_promotions_place_and_a_reconciler_does(scene: PromotionScene) -> None:
    prepare(scene)
    assert scene.observe(version="1").status_code == 201
    assert scene.holds() == ("2", BETTER)
    assert_refused(scene.observe(how="reconcile"), 403, "role_missing", "worker")
    assert scene.observe(scene.worker, how="reconcile").status_code == 201
    assert scene.holds() == ("1", ARTIFACT)
    assert scene.released()[0]["how"] == "observed"


def test_registration_rests_on_a_pass_and_takes_the_registrys_number(scene: PromotionScene) -> None:
    scene.ready(make_policy(to="registration"))
    asked = {"action": "register", "target": "registration"}
    assert scene.refused(None, None, **asked) == "undecided"
    scene.decided(to="registration")
    first, second = scene.granted(None, None, **asked), scene.granted(None, None, **asked)
    assert first["action"] == "register"
    assert_refused(scene.settle(first), 422, "invalid_input", "version")
    registered = scene.settle(first, version="12")
    assert (registered.status_code, registered.json()["state"]) == (201, "registered")
    assert registered.json()["version"] == "12"
    assert scene.settle(second, version="13").status_code == 201, "versions do not wait for each other"
    assert scene.released() == []


def test_protections_name_targets_of_gates_and_what_was_released(service: RunningService) -> None:
    scene = PromotionScene(service)
    before = scene.reader.get("/v1/protections")
    assert before.json()["targets"] == ["Production"]
    assert (
        scene.reader.get("/v1/protections", headers={"If-None-Match": before.headers["etag"]}).status_code
        == 304
    )
    prepare(scene)
    answer = scene.reader.get("/v1/protections", headers={"If-None-Match": before.headers["etag"]})
    found = answer.json()
    assert (found["all"], found["targets"], found["more_released"]) == (False, ["Production", TO], False)
    assert [(each["version"], each["artifact"], each["targets"]) for each in found["released"]] == [
        ("2", BETTER, [TO]),
        ("1", ARTIFACT, [TO]),
    ]
    assert found["released"][0]["run_id"] == "1"
    assert found["released"][0]["source"] == "runs:/1/model"
    assert scene.move(make_move("1", ("2", BETTER)))["promotions"][0]["action"] == "rollback"
    again = scene.reader.get("/v1/protections", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304, "what was released before is nothing new"
    theirs = PromotionScene(scene.service, namespace="team-b")
    assert get(theirs.reader, "/v1/protections")["released"] == []
