"""A verification that nobody wants any more is called off by whoever may ask for one."""

import pytest

from tests.support.calls import assert_refused, log_size
from tests.support.contracts import complete
from tests.support.service import RunningService
from tests.support.verifications import Scene, claimed, make_scene, result_of


@pytest.fixture
def scene(sqlite_service: RunningService) -> Scene:
    return make_scene(sqlite_service, "team-a")


def asked(scene: Scene) -> str:
    return str(scene.ask(scene.save(scene.run(), "600")).json()["id"])


def test_verification_that_waits_is_never_done(scene: Scene) -> None:
    id = asked(scene)
    first = scene.recorder.post(f"/v1/work/{id}:cancel")
    assert (first.status_code, first.json()["state"]) == (200, "cancelled")
    assert scene.recorder.post(f"/v1/work/{id}:cancel").json()["state"] == "cancelled", "twice is once"
    assert scene.claim("lake") is None


def test_worker_hears_of_it_and_takes_no_level_away(scene: Scene) -> None:
    id = asked(scene)
    work, size = claimed(scene), log_size(scene.recorder)
    assert scene.recorder.post(f"/v1/work/{id}:cancel").status_code == 200
    renewed = scene.worker.post(f"/v1/work/{id}:renew", json={"lease": work["lease"]})
    assert renewed.json()["cancelled"] is True
    assert_refused(complete(scene.worker, work, result_of(work)), 409, "work_lease_lost", "cancelled")
    assert log_size(scene.recorder) == size


def test_only_whoever_may_ask_calls_it_off_and_not_what_has_ended(scene: Scene) -> None:
    id = asked(scene)
    assert_refused(scene.worker.post(f"/v1/work/{id}:cancel"), 403, "role_missing")
    other = scene.service.client("recorder", namespace="team-b")
    assert_refused(other.post(f"/v1/work/{id}:cancel"), 404, "not_found")
    work = claimed(scene)
    assert complete(scene.worker, work, result_of(work)).status_code == 200
    assert_refused(scene.recorder.post(f"/v1/work/{id}:cancel"), 409, "work_ended", "done")
