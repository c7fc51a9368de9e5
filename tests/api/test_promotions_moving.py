"""What comes between a check, its grant and its confirmation: nothing is promoted on what fell before."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from api.promoting import grant_body, grant_item, judge_now, settlement_item, wanted_by
from api.recording import Recorder
from api.schemas.promotions import MoveAsked, Settlement
from models.errors import DecisionMoved
from models.keys.administration import prepare_end
from models.ledger.drafts import Item
from models.promotions.verdicts import Allowed
from tests.support.actors import actor_of
from tests.support.bodies import Body, digest_of
from tests.support.calls import assert_refused, post
from tests.support.databases import DatabaseUrls
from tests.support.gates import ARTIFACT, TO
from tests.support.promotions import PromotionScene, evidence_of, make_move, revocation, together
from tests.support.service import RunningService, running_service

RACERS = 8
ROUNDS = 4


@pytest.fixture
def scene(service: RunningService) -> PromotionScene:
    found = PromotionScene(service)
    found.ready()
    found.decided()
    return found


def drafted(scene: PromotionScene) -> Item:
    """A grant that was judged and has no place in the log yet."""
    actor, asked = actor_of(scene, "registry"), MoveAsked.model_validate(make_move())
    verdict = judge_now(scene.service.services, wanted_by(actor, asked))
    assert isinstance(verdict, Allowed)
    return grant_item(actor, grant_body(asked, verdict))


def confirmation(scene: PromotionScene, grant: Body) -> Item:
    said = Settlement(grant=grant["id"], version="1", outcome="promoted")
    return settlement_item(scene.service.services, actor_of(scene, "registry"), said)


def test_one_of_many_who_ask_at_once_gets_the_grant(scene: PromotionScene) -> None:
    clients = [scene.person(None, "registry") for _ in range(RACERS)]

    def ask(client: httpx.Client) -> Body:
        answer = post(client, "/v1/promotions:check", make_move())
        assert answer.status_code == 200, answer.text
        judged: Body = answer.json()
        return judged

    with ThreadPoolExecutor(RACERS) as pool:
        judged = list(pool.map(ask, clients))
    assert [each["allowed"] for each in judged].count(True) == 1
    assert {each["code"] for each in judged} <= {None, "under_way", "moved"}


def test_two_grants_of_one_commit_are_one(scene: PromotionScene) -> None:
    first, second = together(scene, drafted(scene), drafted(scene))
    assert isinstance(first, tuple)
    assert isinstance(second, DecisionMoved)


def test_revocation_between_judging_and_writing_stops_the_grant(scene: PromotionScene) -> None:
    item = drafted(scene)
    scene.revoke(evidence_of(scene))
    (outcome,) = together(scene, item)
    assert isinstance(outcome, DecisionMoved)


def test_confirmation_after_a_revocation_is_refused(scene: PromotionScene) -> None:
    grant = scene.granted()
    scene.revoke(evidence_of(scene))
    assert_refused(scene.settle(grant), 409, "grant_void", "roll the move back", evidence_of(scene))
    assert scene.holds() is None
    assert scene.settle(grant, "failed").status_code == 201


def test_revocation_of_the_same_commit_stops_the_confirmation_behind_it(scene: PromotionScene) -> None:
    item = confirmation(scene, scene.granted())
    first, second = together(scene, revocation(scene, evidence_of(scene)), item)
    assert isinstance(first, tuple)
    assert isinstance(second, DecisionMoved)
    assert scene.holds() is None


def test_key_that_is_revoked_in_the_same_commit_stops_the_confirmation(scene: PromotionScene) -> None:
    item = confirmation(scene, scene.granted())
    ended = prepare_end(scene.evaluator.headers["X-Key"], namespace="team-a", reason="stolen")
    first, second = together(scene, ended, item)
    assert isinstance(first, tuple)
    assert isinstance(second, DecisionMoved)


def test_what_others_record_in_the_same_commit_holds_nobody_up(scene: PromotionScene) -> None:
    body = {
        "kind": "protected-population",
        "subject": digest_of("another"),
        "outcome": "passed",
        "producer": "checker 1.0",
        "produced_at": "2026-05-01T12:00:00Z",
    }
    recorder = Recorder(scene.service.services.ring.pepper)
    theirs = recorder.item("evidence.attested", actor_of(scene, "evaluator"), body, None)
    outcomes = together(scene, theirs, confirmation(scene, scene.granted()))
    assert all(isinstance(each, tuple) for each in outcomes)
    assert scene.holds() == ("1", ARTIFACT)


def test_no_promotion_stands_behind_the_revocation_it_raced_with(scene: PromotionScene) -> None:
    """Whichever of the two is first in the log."""
    outcomes = set()
    for number in range(ROUNDS):
        grant = scene.granted("1", scene.holds())
        record, key = evidence_of(scene), f"race-{number}"
        with ThreadPoolExecutor(2) as pool:
            confirmed = pool.submit(scene.settle, grant)
            body = {"record": record, "effect": "revoked", "reason": "wrong"}
            revoked = pool.submit(post, scene.author, "/v1/revocations", body, key)
        answer, taken_back = confirmed.result(), revoked.result()
        assert taken_back.status_code == 201
        outcomes.add(answer.status_code)
        if answer.status_code == 201:
            assert answer.json()["position"] < taken_back.json()["position"]
        else:
            assert_refused(answer, 409, "grant_void", record)
            assert scene.settle(grant, "failed").status_code == 201
        scene.attest(producer=f"checker {number}")
        scene.decided()
    assert outcomes <= {201, 409}


def test_service_that_ends_between_grant_and_confirmation_forgets_neither(
    database_urls: DatabaseUrls, tmp_path: Path
) -> None:
    with running_service(database_urls, tmp_path / "data") as service:
        before = PromotionScene(service)
        before.ready()
        before.decided()
        grant, token = before.granted(), before.guard.headers["Authorization"]
    with running_service(database_urls, tmp_path / "data") as service:
        after = PromotionScene(service)
        assert after.holds() is None
        guard = httpx.Client(base_url=service.url, headers={"Authorization": token}, timeout=30)
        body = {"grant": grant["id"], "version": "1", "outcome": "promoted"}
        with guard:
            assert post(guard, "/v1/promotions:check", make_move()).json()["code"] == "under_way"
            after.pass_time()
            assert_refused(post(guard, "/v1/promotions", body), 409, "grant_void", "over")
            allowed = post(guard, "/v1/promotions:check", make_move()).json()
            body["grant"] = allowed["grant"]["id"]
            assert post(guard, "/v1/promotions", body).status_code == 201
        assert [each["target"] for each in after.released()] == [TO]
