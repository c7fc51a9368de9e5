"""Waivers and break-glass: what persons may let pass, together, for a while, and never silently."""

import pytest

from shipworthy.formats.times import parse_instant
from tests.support.calls import assert_refused, post
from tests.support.facts import get_all
from tests.support.gates import ARTIFACT, MODEL, TO, WAIVERS, Reviewed, ahead, make_policy
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Reviewed:
    return Reviewed(service)


def test_what_was_not_measured_is_waived_by_two_and_not_reviewed_away(scene: Reviewed) -> None:
    scene.prepare()
    scene.attest(outcome="failed")
    blocked = scene.decided()
    for client in (scene.grace, scene.heidi):
        scene.review(client, blocked)
    assert scene.decided()["verdict"] == "blocked", "approvals clear no block"
    assert scene.waive(scene.ivan).status_code == 201
    assert scene.decided()["verdict"] == "blocked", "one of two"
    assert scene.waive(scene.approver("judy")).status_code == 201
    made = scene.decided()
    assert made["verdict"] == "passed"
    assert {each["id"]: each["outcome"] for each in made["criteria"]}["bias"] == "waived"
    assert len(made["waivers"]) == 2
    assert scene.in_force()["active"]
    assert len(get_all(scene.reader, "/v1/waivers", artifact=ARTIFACT, limit=1)) == 2


def test_who_waived_may_not_approve(scene: Reviewed) -> None:
    scene.prepare()
    scene.attest(outcome="failed")
    for client in (scene.grace, scene.ivan):
        scene.waive(client)
    made = scene.decided()
    assert made["verdict"] == "review_required"
    assert_refused(scene.review(scene.grace, made), 403, "separation_of_duties", "waived")
    scene.review(scene.heidi, made)
    assert scene.decided()["verdict"] == "review_required"


def test_waiver_is_refused_for_what_the_policy_does_not_let_anybody_waive(scene: Reviewed) -> None:
    scene.prepare()
    for changes, said in (
        ({"criterion": "auc"}, "/criterion"),
        ({"criterion": "nothing"}, "it lists bias"),
        ({"to": "staging"}, "/to"),
        ({"expires_at": ahead(days=31)}, "30 days"),
        ({"expires_at": ahead(seconds=-1)}, "has passed"),
        ({"expires_at": "2099-01-01T00:00:00"}, "zone"),
    ):
        assert_refused(scene.waive(scene.grace, **changes), 422, "invalid_input", said)
    assert_refused(scene.waive(scene.approver("ada")), 403, "separation_of_duties", "trained")
    assert_refused(scene.waive(scene.approver("ben")), 403, "separation_of_duties", "published")
    assert_refused(scene.waive(scene.evaluator), 403, "role_missing")
    assert_refused(scene.waive(scene.grace, gate="none"), 404, "not_found")


def test_expired_waiver_is_refused_on_every_path(scene: Reviewed) -> None:
    """In a new decision, in force, and when a version is registered, by one function."""
    scene.grace, scene.heidi, scene.ivan = map(scene.approver, ("grace", "heidi", "ivan"))
    scene.ready(make_policy(waivers=WAIVERS, to="registration"))
    scene.attest(outcome="failed")
    end = ahead(hours=1)
    for client in (scene.grace, scene.heidi):
        assert scene.waive(client, to="registration", expires_at=end).status_code == 201
    made = scene.decided(to="registration")
    assert (made["verdict"], parse_instant(made["valid_until"]) <= parse_instant(end)) == ("passed", True)
    assert scene.standing_at(ahead(minutes=50), to="registration").is_active
    missing = scene.standing_at(end, to="registration").missing
    assert any("waiver of bias has expired" in each for each in missing)
    assert [scene.verdict_at(made, when) for when in (ahead(minutes=50), end)] == ["passed", "blocked"]
    assert scene.register_version("1").status_code == 201
    scene.end(made)
    assert_refused(scene.register_version("2"), 409, "gate_closed", "time is over")


def test_break_glass_takes_two_persons_and_is_no_pass(scene: Reviewed) -> None:
    scene.published(make_policy(auc="kind: threshold, metric: roc_auc, min: 0.99, severity: block"))
    scene.train()
    grace, heidi = scene.approver("grace"), scene.approver("heidi")
    body = {
        "model": MODEL,
        "artifact": ARTIFACT,
        "to": TO,
        "reason": "fraud ring",
        "expires_at": ahead(days=1),
    }
    first = post(grace, "/v1/break-glass", body)
    assert (first.status_code, first.json()["decision"], first.json()["waiting"]) == (201, None, True)
    same = post(scene.person("grace", "approver"), "/v1/break-glass", {**body, "reason": "again"})
    assert same.json()["waiting"], "one person with two keys"
    assert post(heidi, "/v1/break-glass", {**body, "to": "staging"}).json()["waiting"]
    assert not scene.in_force()["active"]
    second = post(heidi, "/v1/break-glass", body)
    made = second.json()["decision"]
    assert (made["type"], made["verdict"]) == ("break_glass", "break_glass")
    assert "BREAK-GLASS" in made["sentence"]
    assert len({each["owner"] for each in made["reviews"]}) == 2
    again = post(heidi, "/v1/break-glass", body)
    assert (again.status_code, again.json()["decision"]["decision"]) == (200, made["decision"])
    found = scene.in_force()
    assert (found["active"], found["why"].startswith("BREAK-GLASS")) == (True, True)
    assert get_all(scene.reader, "/v1/decisions", verdict="passed") == []
    later = post(grace, "/v1/break-glass", {**body, "reason": "once more"}).json()
    assert later["waiting"], "a wish counts for one decision"
    assert scene.decided()["verdict"] == "blocked"
    assert not scene.in_force()["active"], "the gate was asked since, and said no"


def test_break_glass_ends_and_is_never_for_good(scene: Reviewed) -> None:
    grace, heidi = scene.approver("grace"), scene.approver("heidi")
    body = {"model": MODEL, "artifact": ARTIFACT, "to": TO, "reason": "fraud ring"}
    for expires_at, said in ((ahead(days=8), "7 days"), (ahead(seconds=-1), "has passed")):
        refused = post(grace, "/v1/break-glass", {**body, "expires_at": expires_at})
        assert_refused(refused, 422, "invalid_input", said)
    assert_refused(post(scene.author, "/v1/break-glass", {}), 403, "role_missing")
    end = ahead(hours=1)
    for client in (grace, heidi):
        assert post(client, "/v1/break-glass", {**body, "expires_at": end}).status_code == 201
    assert scene.in_force()["active"]
    assert "time is over" in scene.standing_at(end).missing[0]
