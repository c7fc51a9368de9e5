"""Promotions: granted on a pass that stands, confirmed before they are visible, and told of a past time."""

from datetime import UTC, datetime

import pytest

from models.keys.administration import revoke_key
from shipworthy.formats.times import parse_instant
from tests.support.bodies import digest_of
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.facts import get
from tests.support.gates import ARTIFACT, GATE, MODEL, TO, ahead, make_policy
from tests.support.promotions import PromotionScene, make_move
from tests.support.service import RunningService

BETTER = digest_of("a better model")


@pytest.fixture
def scene(sqlite_service: RunningService) -> PromotionScene:
    return PromotionScene(sqlite_service)


@pytest.fixture
def on_both(service: RunningService) -> PromotionScene:
    """For what asks the database in words of its own."""
    return PromotionScene(service)


def test_pass_in_force_is_granted_bound_to_what_was_asked(scene: PromotionScene) -> None:
    scene.ready()
    decision = scene.decided()
    before = datetime.now(UTC)
    judged = scene.check()
    grant = judged["grant"]
    assert (judged["allowed"], judged["decision"], judged["missing"]) == (True, decision["decision"], [])
    assert grant["binds"] == {
        "registry": "default",
        "model": MODEL,
        "version": "1",
        "target": TO,
        "artifact": ARTIFACT,
        "incumbent": None,
        "policy_digest": decision["gate"]["digest"],
    }
    assert grant["action"] == "promote"
    assert 0 < (parse_instant(grant["expires_at"]) - before).total_seconds() < 60
    assert scene.reader.get(judged["link"].replace("/decisions/", "/v1/decisions/")).status_code == 200
    body = stored_body(scene.reader, grant["id"])
    assert (body["decision"], body["registry_user"]) == (decision["decision"], "ada")
    assert scene.holds() is None, "a grant alone moves nothing"


def test_confirmed_promotion_is_what_was_released_then_and_by_whom(on_both: PromotionScene) -> None:
    on_both.ready()
    decision = on_both.decided()
    before = datetime.now(UTC)
    promoted = on_both.promote()
    assert promoted["state"] == "promoted"
    assert stored_body(on_both.reader, promoted["record"])["grant"] == promoted["grant"]
    assert on_both.released(before) == []
    (found,) = on_both.released()
    assert found == {
        "target": TO,
        "version": "1",
        "artifact": ARTIFACT,
        "decision": decision["decision"],
        "by": "ada",
        "since": promoted["at"],
        "action": "promote",
        "how": "promotion",
        "record": promoted["record"],
    }
    assert on_both.released(parse_instant(promoted["at"])) == [found]
    assert on_both.released(registry="another") == []
    listed = get(on_both.reader, f"/v1/models/{MODEL}/promotions")["items"]
    assert [each["record"] for each in listed] == [promoted["record"]]
    assert listed[0]["marks"] == []


def test_same_confirmation_again_gives_the_first_answer(scene: PromotionScene) -> None:
    scene.ready()
    scene.decided()
    grant = scene.granted()
    first, again = scene.settle(grant), scene.settle(grant)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json() | {"created": False}
    assert_refused(scene.settle(grant, "failed"), 409, "grant_void", "settled")
    assert_refused(scene.settle(grant, version="2"), 422, "invalid_input", "version 1")
    scene.promote("1", ("1", ARTIFACT))
    assert scene.settle(grant).status_code == 200, "also when the target moved on"


def test_failed_move_frees_the_target_at_once(scene: PromotionScene) -> None:
    scene.ready()
    scene.decided()
    grant = scene.granted()
    assert scene.refused() == "under_way"
    failed = scene.settle(grant, "failed", reason="the disk is full")
    assert (failed.status_code, failed.json()["state"], failed.json()["reason"]) == (
        201,
        "failed",
        "the disk is full",
    )
    assert_refused(scene.settle(grant), 409, "grant_void", failed.json()["record"])
    assert scene.holds() is None
    scene.promote()
    assert scene.states() == ["refused", "failed", "promoted"]


def test_grant_that_is_over_confirms_nothing_and_holds_nobody_up(scene: PromotionScene) -> None:
    scene.ready()
    scene.decided()
    grant = scene.granted()
    scene.pass_time()
    assert_refused(scene.settle(grant), 409, "grant_void", "over")
    assert scene.holds() is None
    scene.promote()
    assert_refused(scene.settle(grant), 409, "grant_void", "over")
    assert scene.settle(grant, "failed").status_code == 201


def test_nothing_goes_where_no_gate_stands_or_none_decided(scene: PromotionScene) -> None:
    assert scene.refused() == "no_gate"
    scene.published(make_policy())
    judged = scene.check()
    assert (judged["code"], judged["decision"]) == ("undecided", None)
    assert f"POST /v1/gates/{GATE}/decisions" in judged["sentence"]
    assert judged["sentence"].startswith(f"Version 1 of {MODEL} may not become {TO}: ")
    assert "evaluator" in judged["who"]
    made = scene.decided()
    judged = scene.check()
    assert (judged["code"], judged["decision"]) == ("not_passed", made["decision"])
    assert made["sentence"] in judged["sentence"]
    assert judged["missing"][1:] == made["unblocks"]
    assert scene.refused(model="a model, as MLflow names it") == "no_gate"


def test_what_is_tried_in_a_loop_is_recorded_once(on_both: PromotionScene) -> None:
    on_both.published(make_policy())
    assert on_both.refused() == "undecided"
    size = log_size(on_both.reader)
    assert {on_both.refused() for _ in range(3)} == {"undecided"}
    assert log_size(on_both.reader) <= size + 1, "one more when the hour ended between"
    (refused, *_) = get(on_both.reader, "/v1/promotions", state="refused")["items"]
    assert (refused["code"], refused["registry_user"], refused["version"]) == ("undecided", "ada", "1")


def test_decision_that_fell_is_refused_with_what_fell(scene: PromotionScene) -> None:
    scene.ready()
    made = scene.decided()
    evidence = get(scene.reader, "/v1/evidence", subject=ARTIFACT)["items"][0]["record"]
    scene.revoke(evidence)
    judged = scene.check()
    assert judged["code"] == "fallen"
    assert evidence in judged["sentence"]
    scene.attest()
    scene.decided()
    scene.granted()
    scene.pass_time()
    scene.end(scene.decided())
    assert scene.refused() == "lapsed"
    scene.published(make_policy(version=2))
    assert scene.refused() == "lapsed"
    assert made["verdict"] == "passed"


def test_swapped_artifact_is_refused_with_both_digests(on_both: PromotionScene) -> None:
    on_both.ready()
    on_both.decided()
    on_both.another(BETTER)
    assert on_both.register_version("7", BETTER).status_code == 201
    judged = on_both.check("7")
    assert judged["code"] == "artifact_swapped"
    assert ARTIFACT in judged["sentence"]
    assert BETTER in judged["sentence"]
    assert on_both.check("8")["allowed"], "a version that nobody recorded is bound by its digest alone"


@pytest.mark.parametrize("field", ["artifact", "version"])
def test_move_of_something_unread_is_no_request(scene: PromotionScene, field: str) -> None:
    answer = post(scene.guard, "/v1/promotions:check", make_move(**{field: None}))
    assert_refused(answer, 422, "invalid_input", field)
    assert post(scene.recorder, "/v1/promotions:check", make_move()).status_code == 403


def test_break_glass_is_granted_and_named(scene: PromotionScene) -> None:
    scene.published(make_policy())
    wish = {
        "model": MODEL,
        "artifact": ARTIFACT,
        "to": TO,
        "reason": "the present one is down",
        "expires_at": ahead(hours=1),
    }
    for person in (scene.grace, scene.approver("heidi")):
        assert post(person, "/v1/break-glass", wish).status_code == 201
    judged = scene.check("1", ("9", None))
    assert "BREAK-GLASS" in judged["sentence"]
    assert judged["grant"]["binds"]["policy_digest"] is None
    assert scene.settle(judged["grant"]).status_code == 201


def test_key_that_is_revoked_takes_its_evidence_from_the_grant(scene: PromotionScene) -> None:
    scene.ready()
    scene.decided()
    grant = scene.granted()
    key = scene.evaluator.headers["X-Key"]
    revoke_key(scene.service.services.ledger, key, namespace="team-a", reason="stolen")
    assert_refused(scene.settle(grant), 409, "grant_void", key)
    assert scene.holds() is None


def test_another_namespace_neither_sees_nor_confirms(scene: PromotionScene) -> None:
    scene.ready()
    scene.decided()
    grant = scene.granted()
    theirs = PromotionScene(scene.service, namespace="team-b")
    assert_refused(theirs.settle(grant), 404, "not_found")
    assert theirs.states() == []
