"""Decisions: made of what was really recorded, signed, kept with all they rest on, and used only while that stands."""

import json

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from models.keys.administration import revoke_key
from shipworthy.formats.dsse import IN_TOTO_TYPE, check_signature
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.times import parse_instant
from tests.support.calls import assert_refused, stored_body
from tests.support.facts import get
from tests.support.gates import ARTIFACT, GATE, MODEL, TRAIN, GateScene, ahead, make_policy
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> GateScene:
    return GateScene(service)


def test_artifact_that_meets_its_policy_passes_and_the_whole_answer_is_recorded(scene: GateScene) -> None:
    scene.ready()
    asked = scene.ask()
    assert asked.status_code == 201
    made = asked.json()
    assert (made["verdict"], made["unblocks"], made["mode"]) == ("passed", [], "enforce")
    assert [(each["id"], each["outcome"]) for each in made["criteria"]] == [
        ("auc", "passed"),
        ("bias", "passed"),
    ]
    assert made["artifact"] == {"digest": ARTIFACT, "size_bytes": 4096}
    assert made["attempt"]["number"] == 1
    assert made["attempt"]["alpha"] == pytest.approx(0.0304, abs=1e-4)
    assert made["incumbent"]["how"] == "none"
    assert made["training_run"]["owner"] == made["separation"]["trainer"]
    roles = {each["role"] for each in made["inputs"]}
    assert {"attempt", "evaluation", "statistics", "evidence", "policy", "dataset"} <= roles
    body = stored_body(scene.reader, made["decision"])
    assert {
        **body["statement"]["predicate"],
        "decision": made["decision"],
        "position": made["position"],
    } == made
    assert body["statement"]["subject"] == [
        {"name": MODEL, "digest": {"sha256": ARTIFACT.removeprefix("sha256:")}}
    ]
    key = scene.service.services.ring.decision_key.public_key()
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    check_signature(IN_TOTO_TYPE, canonicalize(body["statement"]), body["signature"]["sig"], raw)
    assert made["asOf"]["size"] <= made["position"]
    for each in made["inputs"]:
        place = get(scene.reader, "/v1/log/proof/inclusion", record=each["record"])
        assert place["position"] < made["asOf"]["size"]
    facts = json.loads(scene.reader.get(f"/v1/blobs/{made['facts']}").content)
    assert facts["statistics"]["metrics"]["roc_auc"]["estimate"] == 0.91
    sealed = json.loads(scene.reader.get(f"/v1/blobs/{made['training_run']['made_of']}").content)
    assert sealed["run_id"] == made["training_run"]["run_id"]
    shown = get(scene.reader, f"/v1/decisions/{made['decision']}")
    assert shown == made | {"marks": []}
    found = scene.in_force()
    assert (found["active"], found["decision"]["decision"]) == (True, made["decision"])
    assert found["gate"] == {"name": GATE, "version": 1}


def test_nothing_recorded_is_blocked_and_says_what_is_missing(scene: GateScene) -> None:
    scene.published(make_policy())
    made = scene.decided()
    assert made["verdict"] == "blocked"
    assert {each["outcome"] for each in made["criteria"]} == {"error"}
    assert made["unblocks"]
    found = scene.in_force()
    assert not found["active"]
    assert made["sentence"] in found["why"]


def test_target_without_a_gate_lets_nothing_pass(scene: GateScene) -> None:
    found = scene.in_force()
    assert (found["active"], found["decision"], found["gate"]) == (False, None, None)
    assert "No gate stands before champion" in found["why"]


def test_later_blocked_decision_supersedes_the_pass(scene: GateScene) -> None:
    """Re-verification fails: what was measured again is what counts, not what once passed."""
    scene.ready()
    passed = scene.decided()
    scene.evaluate(auc=0.7, retry=1)
    blocked = scene.decided()
    assert (blocked["verdict"], blocked["supersedes"]) == ("blocked", passed["decision"])
    found = scene.in_force()
    assert (found["active"], found["decision"]["decision"]) == (False, blocked["decision"])
    assert get(scene.reader, f"/v1/decisions/{passed['decision']}")["verdict"] == "passed"


def test_failed_verification_ends_the_pass_before_anybody_decides_again(scene: GateScene) -> None:
    scene.ready()
    scene.decided()
    failed = scene.attest(outcome="failed")
    found = scene.in_force()
    assert not found["active"]
    assert failed in found["why"]
    scene.revoke(failed)
    assert scene.in_force()["active"], "a failure that was taken back was never said"
    checked = {"kind": "artifact-checksum", "outcome": "failed"}
    scene.attest(**checked)
    assert not scene.in_force()["active"]


def test_a_checksum_counts_until_it_expires(scene: GateScene) -> None:
    scene.ready(make_policy(file="kind: artifact, checksum: required, severity: block"))
    soon = ahead(hours=1)
    scene.attest("artifact-checksum", expires_at=soon)
    passed = scene.decided()
    assert passed["verdict"] == "passed"
    assert parse_instant(passed["valid_until"]) <= parse_instant(soon)
    scene.attest("artifact-checksum", expires_at=ahead(seconds=-1))
    assert scene.decided()["verdict"] == "blocked"


@pytest.mark.parametrize("role", ["evidence", "statistics", "attempt", "evaluation", "dataset", "policy"])
def test_pass_falls_with_each_record_that_it_rests_on(scene: GateScene, role: str) -> None:
    scene.ready()
    made = scene.decided()
    (record,) = [each["record"] for each in made["inputs"] if each["role"] == role]
    scene.revoke(record)
    found = scene.in_force()
    assert not found["active"]
    assert record in found["why"]


def test_pass_falls_with_the_run_that_made_the_artifact_and_with_itself(scene: GateScene) -> None:
    scene.ready()
    made = scene.decided()
    scene.revoke(made["decision"])
    assert made["decision"] in scene.in_force()["why"]
    again = scene.decided()
    assert scene.in_force()["active"]
    scene.revoke(again["training_run"]["record"])
    assert not scene.in_force()["active"]
    assert scene.decided()["verdict"] == "blocked", "whether the data is disjoint is not known any more"


def test_contested_training_data_ends_the_pass_and_triggers_review(scene: GateScene) -> None:
    scene.ready()
    made = scene.decided()
    snapshot = get(scene.reader, f"/v1/snapshots/{TRAIN}")["record"]
    scene.revoke(snapshot, "contested")
    assert not scene.in_force()["active"]
    again = scene.decided()
    assert "contested-data-provenance" in again["triggers"]
    assert "contested-data-provenance" not in made["triggers"]


def test_evidence_of_a_revoked_key_counts_for_nothing_before_and_after(scene: GateScene) -> None:
    scene.ready()
    scene.decided()
    services = scene.service.services
    key = scene.evaluator.headers["X-Key"]
    revoke_key(services.ledger, key, namespace="team-a", reason="stolen")
    services.authenticator.forget(key)
    found = scene.in_force()
    assert (found["active"], key in found["why"]) == (False, True)
    made = scene.ask(scene.recorder).json()
    assert made["verdict"] == "blocked"
    assert {each["code"] for each in made["criteria"]} <= {"revoked", "no_evidence"}


def test_next_policy_version_ends_the_pass(scene: GateScene) -> None:
    scene.ready()
    scene.decided()
    scene.published(make_policy(version=2, auc=""))
    found = scene.in_force()
    assert (found["active"], found["gate"]["version"]) == (False, 2)
    assert "version 1" in found["why"]
    assert scene.decided()["gate"]["version"] == 2
    assert scene.in_force()["active"]


def test_gate_that_moved_away_leaves_its_target_closed(scene: GateScene) -> None:
    scene.ready()
    scene.decided()
    scene.published(make_policy(version=2, to="staging"))
    found = scene.in_force()
    assert (found["active"], found["gate"]) == (False, None)
    assert_refused(scene.ask(), 422, "invalid_input", "/to", "staging")


def test_pass_ends_when_its_time_is_over(scene: GateScene) -> None:
    scene.ready(make_policy(valid_for="PT1H"))
    made = scene.decided()
    assert made["valid_until"] < ahead(hours=1)
    assert scene.standing_at(ahead(minutes=59)).is_active
    ended = scene.standing_at(made["valid_until"])
    assert not ended.is_active
    assert "time is over" in ended.missing[0]


def test_shadow_decision_is_recorded_and_never_in_force(scene: GateScene) -> None:
    scene.ready()
    shadow = scene.decided(mode="shadow")
    assert (shadow["verdict"], shadow["supersedes"]) == ("passed", None)
    assert scene.in_force()["decision"] is None
    enforced = scene.decided()
    scene.evaluate(auc=0.7, retry=1)
    assert scene.decided(mode="shadow")["verdict"] == "blocked"
    assert scene.in_force()["decision"]["decision"] == enforced["decision"]
