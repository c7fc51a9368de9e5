"""What checks said of data appears in the lineage of every model that was made from it."""

from typing import Any

import pytest

from tests.support.bodies import Body, digest_of, make_artifact, make_snapshot, make_start, make_version
from tests.support.calls import post
from tests.support.contracts import make_result, publish_suite
from tests.support.histories import History
from tests.support.service import RunningService


class Scene:
    """Contract "orders" of two checks, and keys of three levels of evidence."""

    def __init__(self, service: RunningService) -> None:
        self.history = History(service.services.ledger, service.services.ring)
        self.author = self.history.actor("author")
        self.worker, self.reporter = self.history.actor("worker"), self.history.actor("recorder")
        self.service = service
        self.client = service.client("recorder", "author")
        self.published = publish_suite(service, self.author)

    def check(self, data: str, *, failed: int = 0, by: str = "worker", **changes: object) -> str:
        result = make_result(self.published, failed=failed, manifest=digest_of(data)) | changes
        return self.history.add(getattr(self, by), "contract.checked", result).digest

    def train(self, *reads: str, writes: str = "model", **more: object) -> Body:
        inputs = [
            {"role": name, "snapshot": make_snapshot(digest=digest_of(name), grade="content")}
            for name in reads
        ]
        run = make_start(inputs=inputs, artifacts=[make_artifact(digest=digest_of(writes))], **more)
        assert post(self.client, "/v1/runs", run).status_code == 201
        return run

    def lineage(self, run: Body, **query: int) -> dict[str, Any]:
        answer = self.client.get(f"/v1/runs/{run['run_id']}/lineage", params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return Scene(service)


def shown(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(check["data"]["manifest"], check["outcome"]) for check in found["contract_checks"]]


def warnings(found: dict[str, Any]) -> list[str]:
    return [each["reason"] for each in found["completeness"] if each["part"] == "contract.orders"]


def test_failed_check_appears_in_every_model_made_from_the_data(scene: Scene) -> None:
    record = scene.check("clicks", failed=1)
    first = scene.train("clicks", writes="base")
    second = scene.train("clicks", "labels", writes="other")
    base = [{"role": "base_model", "digest": digest_of("base")}]
    third = make_start(inputs=base, artifacts=[make_artifact()])
    version = make_version(run_id=third["run_id"])
    assert post(scene.client, "/v1/runs", third).status_code == 201
    assert post(scene.client, "/v1/model-versions", version).status_code == 201
    for run in (first, second, third):
        found = scene.lineage(run)
        assert shown(found) == [(digest_of("clicks"), "failed")]
        (warning,) = warnings(found)
        assert f"failed on the data {digest_of('clicks')} (clicks)" in warning
        assert f"/v1/contract-checks/{record}" in warning
        assert record in [each["record"] for each in found["proof"]["records"]]
    by_version = scene.client.get("/v1/models/ranker/versions/1/lineage").json()
    assert shown(by_version) == [(digest_of("clicks"), "failed")]
    assert scene.client.get(f"/v1/contract-checks/{record}").json()["result"]["outcome"] == "failed"


def test_check_that_could_not_be_evaluated_is_told_and_a_passed_one_is_no_warning(scene: Scene) -> None:
    scene.check("clicks")
    scene.check("labels", outcome="error", reason="the child was killed at its memory limit")
    found = scene.lineage(scene.train("clicks", "labels"))
    assert shown(found) == [(digest_of("labels"), "error"), (digest_of("clicks"), "passed")]
    (warning,) = warnings(found)
    assert "could not be evaluated" in warning


def test_own_report_does_not_hide_what_a_trusted_runner_found(scene: Scene) -> None:
    scene.check("clicks", failed=2)
    scene.check("clicks", by="reporter")
    found = scene.lineage(scene.train("clicks"))
    assert [(check["outcome"], check["evidence_level"]) for check in found["contract_checks"]] == [
        ("failed", "trusted_runner"),
        ("passed", "self_reported"),
    ]
    assert len(warnings(found)) == 1


def test_later_result_takes_the_place_of_one_of_the_same_version_and_level_only(scene: Scene) -> None:
    scene.check("clicks", failed=1)
    scene.check("clicks")
    run = scene.train("clicks")
    assert shown(scene.lineage(run)) == [(digest_of("clicks"), "passed")]
    scene.check("clicks", failed=1, started_at="2026-05-01T13:00:00Z")
    scene.published = publish_suite(scene.service, scene.author, 2, waived=["no_nan:amount"])
    scene.check("clicks")
    found = scene.lineage(run)
    assert [(check["contract"]["version"], check["outcome"]) for check in found["contract_checks"]] == [
        (1, "failed"),
        (2, "passed"),
    ]
    assert len(warnings(found)) == 1, "a contract that was loosened doesn't unsay what the older one found"


def test_check_of_a_transformations_output_appears_by_transformation_and_by_output(scene: Scene) -> None:
    steps = [
        {"name": "deduplicate", "version": "1", "output": digest_of("deduplicated")},
        {"name": "tokenize", "version": "2"},
    ]
    run = scene.train("clicks", transformations=steps)
    view = scene.client.get(f"/v1/runs/{run['run_id']}").json()
    scene.check("deduplicated", failed=1)
    scene.check("tokens", failed=1, transformation=view["transformations"][1])
    found = scene.lineage(run)
    assert sorted(shown(found)) == sorted(
        [(digest_of("deduplicated"), "failed"), (digest_of("tokens"), "failed")]
    )
    assert all("(transformation)" in warning for warning in warnings(found))


def test_lineage_as_of_knows_only_the_checks_of_then(scene: Scene) -> None:
    run = scene.train("clicks")
    before = scene.lineage(run)["as_of"]["position"]
    scene.check("clicks", failed=1)
    assert shown(scene.lineage(run, as_of=before)) == []
    assert len(shown(scene.lineage(run))) == 1


def test_revoked_result_is_shown_as_that_and_warns_no_more(scene: Scene) -> None:
    record = scene.check("clicks", failed=1)
    run = scene.train("clicks")
    body = {"record": record, "effect": "revoked", "reason": "checked with a broken engine"}
    assert post(scene.client, "/v1/revocations", body).status_code == 201
    found = scene.lineage(run)
    assert [check["revoked"] for check in found["contract_checks"]] == [True]
    assert warnings(found) == []
    assert scene.client.get(f"/v1/contract-checks/{record}").json()["marks"][0]["effect"] == "revoked"


def test_checks_of_another_namespace_stay_there(scene: Scene) -> None:
    stranger = scene.history.actor("author", namespace="team-b")
    published = publish_suite(scene.service, stranger)
    result = make_result(published, failed=1, manifest=digest_of("clicks"))
    scene.history.add(scene.history.actor("worker", namespace="team-b"), "contract.checked", result)
    assert shown(scene.lineage(scene.train("clicks"))) == []
