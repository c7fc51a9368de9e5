"""Moves that a registry wrote and has not committed: judged and recorded at once, or not at all."""

from uuid import uuid4

import pytest

from api.moving import Move, move_item
from api.promoting import allowed_body, judge_now, make_item, wanted_by
from api.schemas.promotions import MoveAsked
from models.errors import DecisionMoved
from models.ledger.drafts import Item
from models.promotions.verdicts import Allowed
from tests.support.actors import actor_of
from tests.support.bodies import Body, digest_of
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.facts import get
from tests.support.gates import ARTIFACT, MODEL, TO, make_policy
from tests.support.promotions import PromotionScene, evidence_of, make_move, revocation, together
from tests.support.service import RunningService

BETTER = digest_of("a better model")
BETTER_MOVE = make_move("2", ("1", ARTIFACT), artifact=BETTER)
EMPTYING: Body = {"action": "demote", "artifact": None}


@pytest.fixture
def scene(sqlite_service: RunningService) -> PromotionScene:
    found = PromotionScene(sqlite_service)
    found.ready()
    found.decided()
    return found


@pytest.fixture
def on_both(service: RunningService) -> PromotionScene:
    """For what asks the database in words of its own."""
    found = PromotionScene(service)
    found.ready()
    found.decided()
    return found


def written(scene: PromotionScene, move: Body) -> tuple[Item, Move]:
    """A move that waits for its place in the log."""
    found = Move(actor_of(scene, "registry"), MoveAsked.model_validate(move))
    return move_item([found], new_id()), found


def new_id() -> str:
    return uuid4().hex


def pass_better(scene: PromotionScene) -> None:
    """BETTER passed, compared with what the target holds now."""
    scene.another(BETTER)
    scene.decided(artifact=BETTER)


def pass_for(scene: PromotionScene, target: str) -> None:
    """Of ARTIFACT, by a gate of this target's own."""
    gate = f"before-{target}"
    assert scene.publish(make_policy(name=gate, to=target), gate).status_code == 201
    asked = {"model": MODEL, "artifact": ARTIFACT, "to": target}
    assert post(scene.evaluator, f"/v1/gates/{gate}/decisions", asked).json()["verdict"] == "passed"


def test_pass_in_force_is_recorded_at_once_and_bound_to_what_was_asked(on_both: PromotionScene) -> None:
    judged = on_both.move(make_move())
    decision = get(on_both.reader, "/v1/decisions")["items"][0]
    (promotion,) = judged["promotions"]
    assert promotion["binds"] == {
        "registry": "default",
        "model": MODEL,
        "version": "1",
        "target": TO,
        "artifact": ARTIFACT,
        "incumbent": None,
        "policy_digest": decision["gate"]["digest"],
    }
    assert (promotion["action"], promotion["decision"]) == ("promote", judged["decision"])
    assert (on_both.holds(), on_both.states()) == (("1", ARTIFACT), ["promoted"])
    body = stored_body(on_both.reader, promotion["record"])
    assert (body["grant"], body["registry_user"], body["decision"]) == (None, "ada", judged["decision"])
    assert get(on_both.reader, f"/v1/models/{MODEL}/promotions")["items"][0]["record"] == promotion["record"]


def test_same_words_again_get_the_first_answer_whatever_fell_since(on_both: PromotionScene) -> None:
    """The registry asks again when an answer was lost, and what was recorded was recorded before."""
    on_both.move(make_move())
    pass_better(on_both)
    on_both.move(BETTER_MOVE)
    id, back = new_id(), make_move("1", ("2", BETTER))
    first = on_both.move(back, id=id)
    assert first["promotions"][0]["action"] == "rollback"
    on_both.revoke(evidence_of(on_both))
    size = log_size(on_both.reader)
    again = on_both.move(back, id=id)
    assert again["promotions"] == [first["promotions"][0] | {"created": False}]
    assert log_size(on_both.reader) == size
    other = {"id": id, "moves": [back | {"version": "7"}]}
    assert_refused(post(on_both.guard, "/v1/promotions:move", other), 409, "idempotency_key_reused")
    assert on_both.move(back)["code"] == "fallen", "another call is judged anew"


def test_move_that_no_pass_allows_is_refused_as_a_check_would(scene: PromotionScene) -> None:
    for move in (
        make_move(target="Production"),
        make_move(artifact=BETTER),
        make_move(held=("9", None)),
    ):
        checked, moved = post(scene.guard, "/v1/promotions:check", move).json(), scene.move(move)
        assert moved["promotions"] == []
        assert {name: moved[name] for name in checked if name != "grant"} == {
            name: checked[name] for name in checked if name != "grant"
        }
    assert scene.move(make_move(artifact=BETTER))["code"] == "undecided"
    assert (scene.holds(), set(scene.states())) == (None, {"refused"})


def test_latest_decision_counts_and_not_the_pass_before_it(scene: PromotionScene) -> None:
    scene.attest(outcome="failed")
    assert scene.move(make_move())["code"] == "fallen"
    assert scene.decided()["verdict"] == "blocked"
    assert scene.move(make_move())["code"] == "not_passed"
    assert scene.holds() is None


def test_rollback_asks_for_nothing_new(scene: PromotionScene) -> None:
    """Also when the pass is over, and when it is there already: what it is drafted by does not know that."""
    scene.move(make_move())
    pass_better(scene)
    scene.move(BETTER_MOVE)
    scene.end(get(scene.reader, "/v1/decisions", artifact=ARTIFACT)["items"][0])
    (back,) = scene.move(make_move("1", ("2", BETTER)))["promotions"]
    (again,) = scene.move(make_move("1", ("1", ARTIFACT)))["promotions"]
    assert (back["action"], again["action"], scene.holds()) == ("rollback", "rollback", ("1", ARTIFACT))


def test_grant_of_somebody_else_goes_first(scene: PromotionScene) -> None:
    grant = scene.granted()
    assert scene.move(make_move())["code"] == "under_way"
    assert scene.settle(grant, "failed").status_code == 201
    assert scene.move(make_move())["allowed"]


def test_revocation_that_is_in_the_log_first_stops_the_move(on_both: PromotionScene) -> None:
    item, move = written(on_both, make_move())
    on_both.revoke(evidence_of(on_both))
    (outcome,) = together(on_both, item)
    assert isinstance(outcome, DecisionMoved)
    assert move.refusal is not None
    assert move.refusal.code == "fallen"
    assert on_both.holds() is None


def test_revocation_of_the_same_commit_stops_the_move_behind_it_and_none_before(
    on_both: PromotionScene,
) -> None:
    (first, _), (second, move) = written(on_both, make_move()), written(on_both, make_move())
    before, taken_back, behind = together(on_both, first, revocation(on_both, evidence_of(on_both)), second)
    assert isinstance(before, tuple)
    assert isinstance(taken_back, tuple)
    assert isinstance(behind, DecisionMoved)
    assert move.refusal is None, "it is asked again when the revocation is visible"


def test_record_that_somebody_else_drafted_has_to_say_what_is_allowed(scene: PromotionScene) -> None:
    actor, asked = actor_of(scene, "registry"), MoveAsked.model_validate(make_move())
    verdict = judge_now(scene.service.services, wanted_by(actor, asked))
    assert isinstance(verdict, Allowed)
    body = allowed_body(asked, verdict) | {"grant": None}
    other = body | {"decision": digest_of("another decision")}
    wrong, right = (make_item(actor, "promotion", each, new_id()) for each in (other, body))
    assert [type(each) for each in together(scene, wrong, right)] == [DecisionMoved, tuple]


def test_who_comes_second_is_no_longer_compared_with_what_is_there(scene: PromotionScene) -> None:
    third = digest_of("a third model")
    scene.another(third)
    scene.decided(artifact=third)
    pass_better(scene)
    scene.move(make_move())
    assert scene.move(BETTER_MOVE)["code"] == "incumbent_changed", "it was compared with the third one"
    assert scene.holds() == ("1", ARTIFACT)


def test_target_is_emptied_once_when_a_person_allowed_it(scene: PromotionScene) -> None:
    scene.move(make_move())
    emptied = make_move("1", ("1", ARTIFACT), **EMPTYING)
    assert scene.move(emptied)["code"] == "no_demotion"
    allowed = scene.allow_demotion().json()["record"]
    (demoted,) = scene.move(emptied)["promotions"]
    assert stored_body(scene.reader, demoted["record"])["demotion"] == allowed
    assert (demoted["action"], scene.holds()) == ("demote", None)
    assert scene.move(emptied)["code"] == "no_demotion"


def test_moves_of_one_call_are_recorded_together_or_not_at_all(scene: PromotionScene) -> None:
    """A stage that is left for another: one target is emptied, the other one filled."""
    scene.move(make_move())
    pass_for(scene, "canary")
    leaving, entering = make_move("1", ("1", ARTIFACT), **EMPTYING), make_move(target="canary")
    assert scene.move(entering, leaving)["code"] == "no_demotion"
    assert {each["target"] for each in scene.released()} == {TO}
    scene.allow_demotion()
    judged = scene.move(entering, leaving)
    assert [each["action"] for each in judged["promotions"]] == ["promote", "demote"]
    assert {each["target"] for each in scene.released()} == {"canary"}


def test_registration_takes_the_registrys_number(scene: PromotionScene) -> None:
    asked = make_move(action="register", target="registration")
    assert scene.move(asked)["code"] == "no_gate"
    pass_for(scene, "registration")
    assert scene.move(asked | {"version": "7"})["allowed"]
    assert scene.states()[-1] == "registered"
    assert scene.holds() is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"id": "short"}, "/id"),
        ({"moves": []}, "/moves"),
        ({"moves": [make_move()] * 9}, "/moves"),
        ({"moves": [make_move(artifact=None)]}, "artifact"),
        ({"moves": [make_move(None, action="register", target="registration")]}, "version"),
    ],
    ids=str,
)
def test_what_says_too_little_is_no_request(scene: PromotionScene, changes: Body, told: str) -> None:
    body = {"id": new_id(), "moves": [make_move()]} | changes
    assert_refused(post(scene.guard, "/v1/promotions:move", body), 422, "invalid_input", told)


def test_only_a_registry_moves(scene: PromotionScene) -> None:
    body = {"id": new_id(), "moves": [make_move()]}
    assert_refused(post(scene.recorder, "/v1/promotions:move", body), 403, "role_missing", "registry")
