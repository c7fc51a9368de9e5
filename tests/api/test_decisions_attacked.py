"""Ways to make an artifact pass that must not: with words of stolen keys, by burying a denial, by choosing rows, and
by talking over a check that failed."""

import json

import httpx
import pytest
from sqlalchemy import insert, select
from sqlmodel import col

from models.bulk import sql_table
from models.gates.people import MAX_SAID
from models.gates.tables import Review
from models.keys.administration import revoke_key
from tests.support.attempts import opened
from tests.support.bodies import digest_of
from tests.support.calls import post
from tests.support.contracts import make_result, publish
from tests.support.gates import (
    ARTIFACT,
    EVALUATION,
    MODEL,
    SIGN_OFF,
    TO,
    TRAIN,
    Reviewed,
    ahead,
    make_policy,
)
from tests.support.service import RunningService

CHECKED = "kind: artifact, checksum: required, severity: block"
STABLE = "kind: stability, metric: roc_auc, runs: 5, maxCv: 0.5, severity: block"
CONTRACT = "kind: evidence, evidence: data-contract, minimumChecks: 1, severity: block"
FEW = make_policy().replace(b"budget: 10", b"budget: 1")


@pytest.fixture
def scene(service: RunningService) -> Reviewed:
    return Reviewed(service)


def steal(scene: Reviewed, client: httpx.Client) -> None:
    """The key of a client is found to be in other hands, and revoked."""
    services, key = scene.service.services, client.headers["X-Key"]
    revoke_key(services.ledger, key, namespace=scene.namespace, reason="stolen")
    services.authenticator.forget(key)


def measured_family(scene: Reviewed) -> str:
    """Four more runs with seeds of their own; the attempt of the last one."""
    attempt = ""
    for number in range(2, 6):
        artifact = digest_of(f"model {number}")
        scene.train(artifact, seeds={"values": {"torch": number}})
        attempt = scene.evaluate(artifact, auc=0.91 + number / 1000)["attempt"]
    return attempt


def test_wish_of_a_stolen_key_and_one_person_break_no_glass(scene: Reviewed) -> None:
    scene.train()
    stolen, heidi = scene.approver("grace"), scene.approver("heidi")
    body = {"model": MODEL, "artifact": ARTIFACT, "to": TO, "reason": "now", "expires_at": ahead(days=1)}
    assert post(stolen, "/v1/break-glass", body).json()["waiting"]
    steal(scene, stolen)
    assert post(heidi, "/v1/break-glass", body).json()["waiting"]
    assert not scene.in_force()["active"]
    assert not post(scene.approver("ivan"), "/v1/break-glass", body).json()["waiting"]


def test_checksum_of_a_stolen_key_counts_for_nothing(scene: Reviewed) -> None:
    scene.ready(make_policy(file=CHECKED))
    stolen = scene.person("mallory", "evaluator")
    body = {
        "kind": "artifact-checksum",
        "subject": ARTIFACT,
        "outcome": "passed",
        "producer": "sum 1",
        "produced_at": ahead(minutes=-1),
    }
    assert post(stolen, "/v1/evidence", body).status_code == 201
    assert scene.decided()["verdict"] == "passed"
    steal(scene, stolen)
    assert scene.decided()["verdict"] == "blocked"


def test_attempts_that_a_stolen_key_allowed_are_not_allowed(scene: Reviewed) -> None:
    grace, stolen = scene.approver("grace"), scene.approver("heidi")
    scene.published(FEW)
    scene.record_data()
    opened(scene.evaluator, candidate=digest_of("another"))
    scene.train()
    scene.evaluate()
    scene.attest()
    assert scene.decided()["verdict"] == "blocked", "the second attempt of one"
    more = {"dataset": EVALUATION, "extra": 5, "reason": "a bug in the evaluator"}
    for client in (grace, stolen):
        assert post(client, "/v1/evaluation-attempts/extensions", more).status_code == 201
    assert scene.decided()["verdict"] == "passed"
    steal(scene, stolen)
    assert not scene.in_force()["active"]
    assert scene.decided()["verdict"] == "blocked"


def test_denial_is_not_buried_under_what_is_said_after_it(scene: Reviewed) -> None:
    first = scene.prepare()
    assert scene.review(scene.ivan, first, "deny").status_code == 201
    for client in (scene.grace, scene.heidi):
        assert scene.review(client, first).status_code == 201
    assert scene.review(scene.evaluator, first, "request").status_code == 201
    # As if the evaluator had asked ever again, with another reason each time.
    with scene.service.services.database.connection() as connection:
        asked = select(sql_table(Review)).where(col(Review.action) == "requested")
        row = dict(connection.execute(asked).mappings().one())
        copies = [row | {"record": digest_of(f"request {number}")} for number in range(MAX_SAID)]
        connection.execute(insert(sql_table(Review)), copies)
    made = scene.decided()
    states = {each["id"]: each["state"] for each in made["criteria"]}
    assert (made["verdict"], states["sign-off"]) == ("blocked", "denied")


def test_revoked_policy_decides_nothing_until_the_next_version(scene: Reviewed) -> None:
    scene.ready()
    made = scene.decided()
    (policy,) = [each["record"] for each in made["inputs"] if each["role"] == "policy"]
    scene.revoke(policy)
    again = scene.decided()
    assert (again["verdict"], {each["code"] for each in again["criteria"]}) == ("blocked", {"policy_revoked"})
    assert not scene.in_force()["active"]
    scene.published(make_policy(version=2))
    assert scene.decided()["verdict"] == "passed"


@pytest.mark.parametrize("role", ["artifact", "policy", "attempt", "evaluation", "statistics", "evidence"])
def test_what_was_contested_before_asks_for_a_review(scene: Reviewed, role: str) -> None:
    for name in ("grace", "heidi"):
        scene.approver(name)
    sign_off = SIGN_OFF.replace("first-release", "contested-data-provenance")
    scene.ready(make_policy(sign_off=sign_off))
    made = scene.decided()
    assert made["verdict"] == "passed"
    (record,) = [each["record"] for each in made["inputs"] if each["role"] == role]
    scene.revoke(record, "contested")
    again = scene.decided()
    assert (again["verdict"], again["triggers"][0]) == ("review_required", "contested-data-provenance")


def test_rows_that_somebody_picked_from_the_snapshot_are_not_the_snapshot(scene: Reviewed) -> None:
    """The minimum of the policy is met: with a larger snapshot to choose from, any model can look good on so many."""
    scene.published(make_policy())
    data = {"namespace": "lake", "name": "fraud-eval"}
    snapshot = {"digest": EVALUATION, "dataset": data, "grade": "manifest", "row_count": 5000}
    assert post(scene.recorder, "/v1/snapshots", snapshot).status_code == 201
    scene.train()
    scene.evaluate()
    scene.attest()
    made = scene.decided()
    assert made["verdict"] == "blocked"
    assert "1,000 rows were evaluated, the evaluation snapshot has 5,000" in made["criteria"][0]["sentence"]


def test_word_that_data_keeps_its_contract_outweighs_no_check_that_failed(scene: Reviewed) -> None:
    scene.ready(make_policy(contract=CONTRACT))
    published = publish(scene.author)
    assert scene.attest("data-contract", TRAIN, checks=9)
    assert scene.decided()["verdict"] == "passed"
    checked = {"kind": "contract.checked", "body": make_result(published, failed=1, manifest=TRAIN)}
    answer = scene.recorder.post("/v1/records:batch", content=json.dumps(checked))
    assert answer.json()["items"][0]["status"] == 201, answer.text
    assert not scene.in_force()["active"] or scene.decided()["verdict"] == "blocked"
    assert scene.attest("data-contract", TRAIN, checks=10)
    assert scene.decided()["verdict"] == "blocked"


def test_runs_of_the_family_that_a_stolen_key_measured_count_for_nothing(scene: Reviewed) -> None:
    scene.ready(make_policy(stable=STABLE))
    honest, stolen = scene.evaluator, scene.person("mallory", "evaluator")
    scene.evaluator = stolen
    attempt = measured_family(scene)
    scene.evaluator = honest
    made = scene.decided()
    assert made["verdict"] == "passed"
    assert attempt in {each["record"] for each in made["inputs"]}
    steal(scene, stolen)
    assert not scene.in_force()["active"]
    assert scene.decided()["verdict"] == "blocked"


def test_run_of_the_family_whose_attempt_was_revoked_is_none(scene: Reviewed) -> None:
    scene.ready(make_policy(stable=STABLE))
    attempt = measured_family(scene)
    assert scene.decided()["verdict"] == "passed"
    scene.revoke(attempt)
    assert not scene.in_force()["active"]
    assert scene.decided()["verdict"] == "blocked"
