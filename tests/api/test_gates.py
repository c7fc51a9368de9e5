"""Gates: policies in versions that never change, refused when nobody could ever pass them as they are meant."""

import pytest

from shipworthy.formats.digests import sha256_digest
from tests.support.bodies import digest_of, make_start
from tests.support.calls import assert_refused, log_size, post
from tests.support.facts import get, get_all
from tests.support.gates import (
    ARTIFACT,
    GATE,
    MODEL,
    SIGN_OFF,
    TRAIN,
    WAIVERS,
    YAML,
    GateScene,
    make_policy,
)
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> GateScene:
    return GateScene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> GateScene:
    """For what is refused before any database is asked."""
    return GateScene(sqlite_service)


def test_policy_is_kept_byte_for_byte_under_both_digests(scene: GateScene) -> None:
    policy = b"# a comment that no parser keeps\n" + make_policy()
    answer = scene.publish(policy)
    assert (answer.status_code, answer.json()["created"]) == (201, True)
    made = answer.json()
    assert (made["digest"], made["version"]) == (sha256_digest(policy), 1)
    assert made["applies_to"] == {"model": MODEL, "to": "champion", "valid_for_seconds": 604800.0}
    raw = scene.reader.get(f"/v1/gates/{GATE}", params={"raw": 1})
    assert (raw.content, raw.headers["x-content-type-options"]) == (policy, "nosniff")
    shown = get(scene.reader, f"/v1/gates/{GATE}/versions/1")
    assert (shown["record"], shown["criteria"]) == (made["record"], ["auc", "bias"])
    same = scene.publish(policy)
    assert (same.status_code, same.json()["created"], same.json()["record"]) == (200, False, made["record"])
    reordered = scene.author.post("/v1/gates:lint", content=make_policy(), headers=YAML).json()
    assert reordered["document_digest"] == made["document_digest"]


def test_published_version_never_changes_and_the_next_is_one_more(scene: GateScene) -> None:
    first = make_policy(version=7)
    scene.published(first)
    changed = scene.publish(make_policy(version=7, valid_for="P1D"))
    assert_refused(changed, 409, "gate_moved", "write version 8")
    assert_refused(scene.publish(make_policy(version=9)), 409, "gate_moved", "write version 8")
    second = make_policy(version=8, valid_for="P1D")
    scene.published(second)
    assert_refused(scene.publish(first), 409, "gate_moved", "write version 9")
    for version, policy in ((7, first), (8, second)):
        raw = scene.reader.get(f"/v1/gates/{GATE}/versions/{version}", params={"raw": 1})
        assert raw.content == policy
    assert [each["version"] for each in get_all(scene.reader, f"/v1/gates/{GATE}/versions", limit=1)] == [
        8,
        7,
    ]
    assert [each["version"] for each in get_all(scene.reader, "/v1/gates")] == [8]


def test_one_gate_stands_before_a_target_so_that_nobody_chooses_an_easier_one(scene: GateScene) -> None:
    scene.published(make_policy())
    easier = make_policy(name="easier")
    assert_refused(scene.publish(easier, "easier"), 409, "target_taken", GATE)
    assert scene.publish(make_policy(name="staging", to="staging"), "staging").status_code == 201
    scene.published(make_policy(version=2, to="production"))
    assert scene.publish(easier, "easier").status_code == 201
    assert_refused(scene.publish(make_policy(version=3)), 409, "target_taken", "easier")


def test_review_that_too_few_could_give_is_refused_when_it_is_published(scene: GateScene) -> None:
    policy = make_policy(sign_off=SIGN_OFF)
    assert_refused(
        scene.publish(policy), 422, "invalid_input", "2 persons of the groups model-risk", "0 have"
    )
    scene.approver("grace")
    scene.approver("grace")
    refused = scene.publish(policy)
    assert_refused(refused, 422, "invalid_input", "1 has", "--groups model-risk")
    assert refused.json()["errors"][0]["field"] == "/criteria/2/approvals"
    scene.person("heidi", "approver", groups=("another",))
    assert scene.publish(policy).status_code == 422
    scene.person("ben", "approver", groups=("model-risk",))
    assert scene.publish(policy).status_code == 422, "the author can't approve"
    scene.approver("ivan")
    assert scene.publish(policy).status_code == 201


def test_review_needs_an_author_who_is_somebody(scene: GateScene) -> None:
    for name in ("grace", "heidi"):
        scene.approver(name)
    nobody = scene.person(None, "author")
    policy = make_policy(sign_off=SIGN_OFF)
    refused = nobody.put(f"/v1/gates/{GATE}", content=policy, headers=YAML)
    assert_refused(refused, 422, "invalid_input", "names no person", "--owner")
    waivable = make_policy(waivers=WAIVERS.replace("approvals: 2", "approvals: 3"))
    assert_refused(scene.publish(waivable), 422, "invalid_input", "/waivers/approvals", "3 persons")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (b"", "empty"),
        (b"\xff", "UTF-8"),
        (make_policy(auc="", bias=""), "/criteria"),
        (make_policy().replace(b"min: 0.85", b"min: .nan"), "/criteria/0/min"),
        (make_policy().replace(b"severity: block", b"severity: blok"), "/criteria/0/severity"),
        (make_policy() + b"criteria: []\n", "criteria"),
        (make_policy().replace(b"kind: ReleaseGate", b"kind: ReleaseGate\nminimum: 1"), "/minimum"),
    ],
)
def test_bytes_that_are_no_policy_are_refused_with_the_line(
    sqlite_scene: GateScene, policy: bytes, said: str
) -> None:
    size = log_size(sqlite_scene.reader)
    refused = sqlite_scene.publish(policy)
    assert_refused(refused, 422, "invalid_input", said)
    assert refused.json()["detail"].startswith("line ")
    linted = sqlite_scene.author.post("/v1/gates:lint", content=policy, headers=YAML).json()
    assert (linted["ok"], linted["problems"][0]["severity"]) == (False, "error")
    assert log_size(sqlite_scene.reader) == size + 1, "the author's key"


def test_policy_is_published_under_its_own_name_as_yaml_or_json(sqlite_scene: GateScene) -> None:
    assert_refused(sqlite_scene.publish(make_policy(), "another"), 422, "invalid_input", "/metadata/name")
    answer = sqlite_scene.author.put(
        f"/v1/gates/{GATE}", content=make_policy(), headers={"Content-Type": "text/csv"}
    )
    assert_refused(answer, 422, "invalid_input", "application/yaml")


def test_lint_says_what_the_author_should_know_and_stores_nothing(sqlite_scene: GateScene) -> None:
    policy = make_policy(auc="kind: threshold, metric: roc_auc, min: 0.85, use: estimate, severity: block")
    size = log_size(sqlite_scene.author)
    found = sqlite_scene.author.post("/v1/gates:lint", content=policy, headers=YAML).json()
    assert (found["ok"], found["version"], found["name"]) == (True, 1, GATE)
    assert "/criteria/0/use" in {each["pointer"] for each in found["problems"]}
    assert {each["severity"] for each in found["problems"]} <= {"warning", "info"}
    assert log_size(sqlite_scene.author) == size


def test_registration_gate_lets_no_version_be_made_without_a_pass(scene: GateScene) -> None:
    scene.published(make_policy(to="registration"))
    scene.record_data()
    refused = scene.register_version("1")
    assert_refused(refused, 409, "gate_closed", "has not decided")
    scene.evaluate()
    scene.attest()
    asked = scene.decided(to="registration")
    assert asked["verdict"] == "passed"
    assert scene.register_version("1").status_code == 201
    assert_refused(scene.register_version("2", digest_of("another")), 409, "gate_closed")
    scene.attest(outcome="failed")
    assert_refused(scene.register_version("3"), 409, "gate_closed", "did not pass")
    nested = {"model": MODEL, "version": "4", "artifact": ARTIFACT}
    answer = post(scene.recorder, "/v1/runs", {**_start(), "model_versions": [nested]})
    assert_refused(answer, 409, "gate_closed")
    other = {"model": "another", "version": "4", "artifact": ARTIFACT}
    assert post(scene.recorder, "/v1/runs", {**_start(), "model_versions": [other]}).status_code == 201


def _start() -> dict[str, object]:
    return make_start(tags={"data": TRAIN})
