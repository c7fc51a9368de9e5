"""Reviews: by whom, for what, for how long; never more than a new decision makes of them."""

from collections.abc import Callable

import pytest

from models.keys.administration import revoke_key
from tests.support.bodies import digest_of
from tests.support.calls import assert_refused, log_size
from tests.support.facts import get, get_all
from tests.support.gates import (
    ARTIFACT,
    SIGN_OFF,
    WAIVERS,
    Reviewed,
    ahead,
    make_policy,
)
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Reviewed:
    return Reviewed(service)


def test_two_persons_approve_and_a_new_decision_passes(scene: Reviewed) -> None:
    first = scene.prepare()
    assert first["verdict"] == "review_required"
    asked = scene.review(scene.evaluator, first, "request")
    assert asked.status_code == 201
    (waiting,) = get_all(scene.reader, "/v1/reviews", state="open")
    assert (waiting["decision"], waiting["said"][0]["action"]) == (first["decision"], "requested")
    assert scene.review(scene.grace, first).status_code == 201
    assert scene.decided()["verdict"] == "review_required", "one of two"
    assert scene.review(scene.heidi, first).status_code == 201
    assert not scene.in_force()["active"], "an approval changes no decision that was made"
    made = scene.decided()
    assert (made["verdict"], len(made["reviews"])) == ("passed", 2)
    assert scene.in_force()["active"]
    assert get(scene.reader, f"/v1/decisions/{first['decision']}")["verdict"] == "review_required"
    assert get_all(scene.reader, "/v1/reviews", state="open") == []
    assert len(get_all(scene.reader, "/v1/reviews", state="approved", decision=first["decision"])) == 2


def test_same_words_of_two_persons_are_two_approvals_and_of_one_are_one(scene: Reviewed) -> None:
    first = scene.prepare()
    size = log_size(scene.reader)
    for client in (scene.grace, scene.grace, scene.heidi):
        assert scene.review(client, first).status_code in (200, 201)
    assert log_size(scene.reader) == size + 2
    again = scene.person("grace", "approver", groups=("model-risk",))
    assert scene.review(again, first, reason="with another key").status_code == 201
    for record in get_all(scene.reader, "/v1/reviews", state="approved"):
        assert "grace" not in str(record)
    assert scene.decided()["verdict"] == "passed"


def test_another_key_of_the_same_person_is_no_second_approval(scene: Reviewed) -> None:
    first = scene.prepare()
    scene.review(scene.grace, first)
    scene.review(scene.person(" Grace", "approver", groups=("model-risk",)), first, reason="again")
    assert scene.decided()["verdict"] == "review_required"


@pytest.mark.parametrize(("name", "said"), [("ada", "trained"), ("ben", "policy was published")])
def test_who_trained_or_wrote_the_policy_may_not_approve(scene: Reviewed, name: str, said: str) -> None:
    first = scene.prepare()
    same = scene.approver(name)
    assert_refused(scene.review(same, first), 403, "separation_of_duties", said)
    assert scene.review(same, first, "deny").status_code == 201, "anybody may stop a release"
    assert scene.decided()["verdict"] == "blocked"


def test_who_started_a_run_with_another_persons_key_trained_it_too(scene: Reviewed) -> None:
    scene.prepare()
    another = digest_of("another")
    scene.train(another, initiated_by="grace@example.org")
    scene.evaluate(another)
    scene.attest(subject=another)
    made = scene.decided(artifact=another)
    for client in (scene.grace, scene.approver("ada")):
        assert_refused(scene.review(client, made), 403, "separation_of_duties")
    scene.review(scene.heidi, made)
    scene.review(scene.ivan, made)
    assert scene.decided(artifact=another)["verdict"] == "passed"


def test_unknown_trainer_satisfies_nothing(scene: Reviewed) -> None:
    scene.prepare()
    another = digest_of("another")
    scene.train(another, recorder=scene.person(None, "recorder"))
    scene.evaluate(another)
    scene.attest(subject=another)
    made = scene.decided(artifact=another)
    assert made["training_run"]["owner"] is None
    assert_refused(scene.review(scene.grace, made), 403, "separation_of_duties", "nobody knows who trained")
    waived = scene.waive(scene.grace, artifact=another)
    assert_refused(waived, 403, "separation_of_duties", "nobody knows")
    assert made["verdict"] == "blocked"


def test_approver_of_another_group_does_not_count(scene: Reviewed) -> None:
    first = scene.prepare()
    scene.review(scene.grace, first)
    scene.review(scene.person("judy", "approver", groups=("marketing",)), first)
    assert scene.decided()["verdict"] == "review_required"


def _another_artifact(scene: Reviewed) -> str:
    another = digest_of("another")
    scene.train(another)
    scene.evaluate(another)
    scene.attest(subject=another)
    return another


def _new_version(scene: Reviewed) -> str:
    scene.published(make_policy(version=2, sign_off=SIGN_OFF, waivers=WAIVERS))
    return ARTIFACT


@pytest.mark.parametrize("change", [_another_artifact, _new_version])
def test_approval_survives_neither_another_artifact_nor_policy_version(
    scene: Reviewed, change: Callable[[Reviewed], str]
) -> None:
    first = scene.prepare()
    for client in (scene.grace, scene.heidi):
        scene.review(client, first)
    artifact = change(scene)
    assert scene.decided(artifact=artifact)["verdict"] == "review_required"
    if artifact == ARTIFACT:
        late = scene.review(scene.ivan, first)
        assert_refused(late, 409, "gate_moved", "version 2")


def test_expired_and_revoked_approvals_end_the_pass(scene: Reviewed) -> None:
    first = scene.prepare()
    assert_refused(
        scene.review(scene.grace, first, expires_at=ahead(seconds=-1)), 422, "invalid_input", "/expires_at"
    )
    assert_refused(
        scene.review(scene.grace, first, expires_at="2099-01-01T00:00:00"), 422, "invalid_input", "zone"
    )
    approvals = [scene.review(client, first).json()["record"] for client in (scene.grace, scene.heidi)]
    assert scene.decided()["verdict"] == "passed"
    scene.revoke(approvals[0])
    assert approvals[0] in scene.in_force()["why"]
    assert scene.decided()["verdict"] == "review_required"
    end = ahead(hours=1)
    scene.review(scene.ivan, first, expires_at=end)
    made = scene.decided()
    assert made["verdict"] == "passed"
    assert scene.standing_at(ahead(minutes=50)).is_active
    assert any("approval has expired" in each for each in scene.standing_at(end).missing)
    assert scene.verdict_at(made, ahead(minutes=50)) == "passed"
    assert scene.verdict_at(made, end) == "review_required"


def test_denial_blocks_and_ends_a_pass_that_was_given(scene: Reviewed) -> None:
    first = scene.prepare()
    for client in (scene.grace, scene.heidi):
        scene.review(client, first)
    scene.decided()
    assert scene.in_force()["active"]
    scene.review(scene.ivan, first, "deny")
    assert "denial" in scene.in_force()["why"]
    assert scene.decided()["verdict"] == "blocked"
    assert get_all(scene.reader, "/v1/reviews", state="open") == []


def test_key_of_an_approver_that_was_revoked_takes_its_approval_along(scene: Reviewed) -> None:
    first = scene.prepare()
    for client in (scene.grace, scene.heidi):
        scene.review(client, first)
    scene.decided()
    services = scene.service.services
    revoke_key(services.ledger, scene.grace.headers["X-Key"], namespace="team-a", reason="left")
    assert not scene.in_force()["active"]
    assert scene.decided()["verdict"] == "review_required"
