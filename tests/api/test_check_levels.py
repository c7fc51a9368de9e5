"""A worker's level of evidence is for the work that it claimed, and a result rests on nothing that is not there."""

import json

import pytest

from models.actor import Role
from models.keys.administration import create_key
from tests.api.check_scenes import Scene, make_scene
from tests.support.bodies import Body, digest_of
from tests.support.calls import assert_refused, log_size
from tests.support.contracts import ask, claim, complete, make_result, result_of
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


def put_blob(scene: Scene, name: str) -> str:
    digest = digest_of(name)
    answer = scene.worker.put(f"/v1/blobs/{digest}", content=name.encode())
    assert answer.status_code in (200, 201), answer.text
    return digest


def shortened(result: Body, blob: str) -> Body:
    return result | {"checks": [], "checks_blob": blob}


@pytest.mark.parametrize("level", ["trusted_runner", "server_run"])
def test_result_at_a_workers_level_needs_claimed_work(scene: Scene, level: str) -> None:
    services = scene.service.services
    created = create_key(services.ledger, services.ring, namespace="team-a", roles=[Role.WORKER], level=level)
    size = log_size(scene.recorder)
    headers = {"Authorization": f"Bearer {created.token}"}
    line = {"kind": "contract.checked", "body": make_result(scene.published)}
    answer = scene.worker.post("/v1/records:batch", content=json.dumps(line), headers=headers)
    (item,) = answer.json()["items"]
    assert (item["status"], item["code"]) == (403, "role_missing")
    assert log_size(scene.recorder) == size
    ask(scene.recorder)
    body = {"kinds": ["contract_check"], "roots": ["lake"]}
    work = scene.worker.post("/v1/work:claim", json=body, headers=headers).json()
    done = scene.worker.post(
        f"/v1/work/{work['id']}:complete",
        json={"lease": work["lease"], "result": result_of(work, scene.published)},
        headers=headers,
    )
    assert done.status_code == 200, done.text
    shown = scene.recorder.get(f"/v1/contract-checks/{work['id']}").json()
    assert shown["evidence_level"] == level


def test_key_that_is_worker_and_recorder_reports_about_itself(scene: Scene) -> None:
    line = scene.batch(scene.service.client("worker", "recorder"), make_result(scene.published))
    assert line["status"] == 201, line
    shown = scene.recorder.get(f"/v1/contract-checks/{line['record']}").json()
    assert shown["evidence_level"] == "self_reported"


def test_result_whose_checks_lie_in_a_blob_needs_the_blob(scene: Scene) -> None:
    result = make_result(scene.published)
    line = scene.batch(scene.recorder, shortened(result, digest_of("nothing")))
    assert (line["status"], line["code"]) == (422, "invalid_input")
    assert line["errors"][0]["field"] == "/body/checks_blob"
    assert f"PUT /v1/blobs/{digest_of('nothing')}" in line["detail"]
    blob = put_blob(scene, "all checks")
    assert scene.batch(scene.recorder, shortened(result, blob))["status"] == 201


def test_worker_has_to_send_the_blob_before_the_result_and_keeps_its_work(scene: Scene) -> None:
    ask(scene.recorder)
    work = claim(scene.worker)
    assert work is not None
    result = result_of(work, scene.published)
    answer = complete(scene.worker, work, shortened(result, digest_of("all checks")))
    assert_refused(answer, 422, "invalid_input", "/result/checks_blob")
    assert complete(scene.worker, work, shortened(result, put_blob(scene, "all checks"))).status_code == 200


def test_blob_of_another_namespace_does_not_count(scene: Scene) -> None:
    other = scene.service.client("recorder", namespace="team-b")
    assert other.put(f"/v1/blobs/{digest_of('all checks')}", content=b"all checks").status_code == 201
    line = scene.batch(scene.recorder, shortened(make_result(scene.published), digest_of("all checks")))
    assert (line["status"], line["code"]) == (422, "invalid_input")
