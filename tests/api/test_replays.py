"""Replay: what past decisions would have been under another policy, before it is published."""

import pytest

from tests.support.bodies import digest_of
from tests.support.calls import assert_refused, log_size, post
from tests.support.facts import get
from tests.support.gates import ARTIFACT, GATE, SIGN_OFF, GateScene, make_policy
from tests.support.service import RunningService

PATH = f"/v1/gates/{GATE}:replay"
AUC = "kind: threshold, metric: roc_auc, min: {}, use: lower-confidence-bound, severity: block"


@pytest.fixture
def scene(service: RunningService) -> GateScene:
    found = GateScene(service)
    found.ready()
    return found


def test_flips_are_listed_with_the_criteria_that_made_them_and_nothing_is_stored(scene: GateScene) -> None:
    another = digest_of("another")
    scene.train(another)
    scene.evaluate(another, auc=0.86)
    scene.attest(subject=another)
    first, second = scene.decided(), scene.decided(artifact=another)
    assert (first["verdict"], second["verdict"]) == ("passed", "blocked")
    size = log_size(scene.author)
    stricter = post(scene.author, PATH, {"policy": make_policy(2, auc=AUC.format(0.9)).decode()}).json()
    assert (stricter["replayed"], stricter["next"]) == (2, None)
    assert stricter["flips"] == [
        {
            "decision": first["decision"],
            "model": first["model"],
            "artifact": ARTIFACT,
            "from": "passed",
            "to": "blocked",
            "because": ["auc"],
        }
    ]
    kinder = post(scene.author, PATH, {"policy": make_policy(2, auc=AUC.format(0.8)).decode()}).json()
    assert [(each["decision"], each["to"]) for each in kinder["flips"]] == [(second["decision"], "passed")]
    assert log_size(scene.author) == size
    assert scene.in_force()["decision"]["decision"] == first["decision"]


def test_same_policy_flips_nothing_whatever_was_recorded_since(scene: GateScene) -> None:
    scene.decided()
    scene.attest(outcome="failed")
    scene.evaluate(auc=0.5, retry=1)
    scene.decided()
    found = post(scene.author, PATH, {"version": 1}).json()
    assert (found["replayed"], found["flips"]) == (2, [])


def test_new_criterion_is_told_as_the_reason(scene: GateScene) -> None:
    scene.decided()
    for name in ("grace", "heidi"):
        scene.approver(name)
    found = post(scene.author, PATH, {"policy": make_policy(2, sign_off=SIGN_OFF).decode()}).json()
    assert [(each["to"], each["because"]) for each in found["flips"]] == [("review_required", ["sign-off"])]


def test_older_decisions_follow_page_by_page(scene: GateScene) -> None:
    made = [scene.decided()["decision"] for _ in range(3)]
    policy = make_policy(2, auc=AUC.format(0.99)).decode()
    seen, after = [], None
    while True:
        page = post(scene.author, PATH, {"policy": policy, "limit": 2} | ({"after": after} if after else {}))
        seen += [each["decision"] for each in page.json()["flips"]]
        after = page.json()["next"]
        if after is None:
            break
    assert seen == made[::-1]


def test_what_can_not_be_replayed_is_refused(scene: GateScene) -> None:
    other = make_policy(name="another").decode()
    for body, said in (
        ({}, "either `policy`"),
        ({"policy": "x", "version": 1}, "either `policy`"),
        ({"policy": "criteria: ["}, "line"),
        ({"policy": other}, "another"),
    ):
        assert_refused(post(scene.author, PATH, body), 422, "invalid_input", said)
    assert_refused(post(scene.author, PATH, {"version": 9}), 404, "not_found")
    assert_refused(post(scene.evaluator, PATH, {"version": 1}), 403, "role_missing")
    theirs = GateScene(scene.service, namespace="team-b")
    assert_refused(post(theirs.author, PATH, {"version": 1}), 404, "not_found")
    assert get(scene.reader, f"/v1/gates/{GATE}")["version"] == 1
