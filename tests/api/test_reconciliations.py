"""A registry compared with the records: everything that is not as it was decided is found and told."""

import pytest

from tests.support.bodies import Body, digest_of
from tests.support.calls import assert_refused, log_size, post
from tests.support.gates import ARTIFACT, MODEL, TO, make_policy
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService

OTHER = digest_of("other bytes")
WHEN = {"started_at": "2026-05-01T12:00:00Z", "finished_at": "2026-05-01T12:00:01Z"}


@pytest.fixture
def scene(sqlite_service: RunningService) -> PromotionScene:
    return PromotionScene(sqlite_service)


def seen(version: str = "1", artifact: str | None = ARTIFACT, **changes: object) -> Body:
    return {"model": MODEL, "target": TO, "version": version, "artifact": artifact} | changes


def reconciled(scene: PromotionScene, *observed: Body, **changes: object) -> list[Body]:
    """The findings."""
    body = WHEN | {"observed": list(observed), "complete": True} | changes
    answer = post(scene.worker, "/v1/reconciliations", body)
    assert answer.status_code in (200, 201), answer.text
    found: list[Body] = answer.json()["findings"]
    latest = scene.reader.get("/v1/reconciliations:latest").json()
    assert latest["findings"] == found
    assert latest["record"] == answer.json()["record"]
    assert latest["observed"] == len(observed)
    return found


def kinds(findings: list[Body]) -> list[str]:
    return [each["kind"] for each in findings]


def promoted(scene: PromotionScene) -> None:
    scene.ready()
    scene.decided()
    scene.promote()


def test_registry_that_holds_what_was_promoted_has_no_findings(service: RunningService) -> None:
    scene = PromotionScene(service)
    assert_refused(scene.reader.get("/v1/reconciliations:latest"), 404, "not_found", "SHIPWORTHY_MLFLOW_URI")
    promoted(scene)
    assert reconciled(scene, seen()) == []
    size = log_size(scene.reader)
    assert reconciled(scene, seen()) == []
    assert log_size(scene.reader) == size, "what looks the same is no new record"
    age = scene.reader.get("/v1/reconciliations:latest").json()["age_seconds"]
    assert 0 <= age < 60
    assert_refused(post(scene.recorder, "/v1/reconciliations", WHEN), 403, "role_missing", "worker")


def test_bytes_that_changed_after_the_promotion_are_the_worst(scene: PromotionScene) -> None:
    promoted(scene)
    found = reconciled(
        scene, seen(artifact=OTHER), seen("7", OTHER, target="Production"), seen("8", target="staging")
    )
    assert kinds(found) == ["artifact_changed", "undecided", "undecided"]
    assert ARTIFACT in found[0]["sentence"]
    assert OTHER in found[0]["sentence"]
    assert found[0]["since"] is not None
    assert "No gate stands before Production" in found[1]["sentence"]


def test_name_that_was_moved_past_the_guard_is_found_also_when_its_gate_passed_it(
    scene: PromotionScene,
) -> None:
    scene.ready()
    scene.decided()
    assert kinds(reconciled(scene, seen())) == ["moved_without_grant"]
    assert kinds(reconciled(scene, seen("1", OTHER))) == ["undecided"]
    scene.observe(scene.worker, how="reconcile")
    assert kinds(reconciled(scene, seen())) == ["moved_without_grant"], "seeing it decides nothing"
    scene.promote("1", ("1", ARTIFACT))
    assert reconciled(scene, seen()) == []
    assert kinds(reconciled(scene, seen("5", OTHER))) == ["moved_without_grant"]


def test_promotion_that_the_registry_does_not_show_is_found(scene: PromotionScene) -> None:
    promoted(scene)
    (found,) = reconciled(scene)
    assert (found["kind"], found["version"]) == ("record_without_move", "1")
    assert "holds nothing" in found["sentence"]
    assert reconciled(scene, complete=False) == [], "what was not looked at is not missing"
    scene.another(OTHER)
    scene.decided(artifact=OTHER)
    scene.promote("2", ("1", ARTIFACT), artifact=OTHER)
    assert kinds(reconciled(scene, seen())) == ["record_without_move"]


def test_promoted_model_whose_gate_would_fail_today_is_found(service: RunningService) -> None:
    scene = PromotionScene(service)
    scene.ready()
    made = scene.decided()
    scene.promote()
    scene.end(made)
    size = log_size(scene.reader)
    assert reconciled(scene, seen()) == [], "its pass is over, and its gate would pass it again"
    assert log_size(scene.reader) == size + 1, "asking the gate records no decision"
    stricter = "kind: threshold, metric: roc_auc, min: 0.99, use: lower-confidence-bound, severity: block"
    scene.published(make_policy(version=2, auc=stricter))
    (found,) = reconciled(scene, seen())
    assert found["kind"] == "would_fail"
    assert "0.99" in found["sentence"]
    scene.attest(outcome="failed")
    (found,) = reconciled(scene, seen())
    assert found["kind"] == "would_fail"
    assert found["who"]


def test_what_cannot_be_read_is_told(scene: PromotionScene) -> None:
    promoted(scene)
    (found,) = reconciled(scene, seen(artifact=None, unreadable="no access to the bucket"))
    assert (found["kind"], found["who"]) == ("unreadable", ["worker"])
    assert "no access to the bucket" in found["sentence"]


def test_grant_that_was_never_confirmed_is_shown_until_something_else_happened(
    scene: PromotionScene,
) -> None:
    scene.ready()
    scene.decided()
    grant = scene.granted()
    assert reconciled(scene) == [], "it may still be confirmed"
    scene.pass_time()
    (found,) = reconciled(scene)
    assert found["kind"] == "unconfirmed_grant"
    assert grant["id"] in found["sentence"]
    scene.promote()
    assert reconciled(scene, seen()) == []


def test_many_names_are_told_in_one_answer(scene: PromotionScene) -> None:
    """Their record stays small: what was seen and found lies in a blob."""
    names = [seen(str(each), OTHER, target=f"name-{each}") for each in range(300)]
    assert kinds(reconciled(scene, *names)) == ["undecided"] * 300
