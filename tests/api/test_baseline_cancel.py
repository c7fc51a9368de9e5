"""A baseline that nobody wants any more is cancelled like a check, by whoever may ask for one."""

import pytest

from tests.api.test_baselines import ASKED
from tests.api.work_scenes import Scene, claimed, make_scene
from tests.support.calls import assert_refused, log_size, post
from tests.support.contracts import ask, claim, complete, make_baseline
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


def asked(scene: Scene) -> str:
    return str(post(scene.author, "/v1/baselines", ASKED).json()["id"])


def test_baseline_that_waits_is_never_made(scene: Scene) -> None:
    id = asked(scene)
    first = scene.author.post(f"/v1/work/{id}:cancel")
    assert (first.status_code, first.json()["state"]) == (200, "cancelled")
    assert scene.author.post(f"/v1/work/{id}:cancel").json()["state"] == "cancelled", "twice is once"
    assert claim(scene.worker) is None
    assert scene.author.get(f"/v1/work/{id}").json()["state"] == "cancelled"


def test_worker_hears_of_it_and_its_baseline_is_refused(scene: Scene) -> None:
    id = asked(scene)
    work, size = claimed(scene), log_size(scene.recorder)
    assert scene.author.post(f"/v1/work/{id}:cancel").status_code == 200
    renewed = scene.worker.post(f"/v1/work/{id}:renew", json={"lease": work["lease"]})
    assert renewed.json()["cancelled"] is True
    assert_refused(complete(scene.worker, work, make_baseline()), 409, "work_lease_lost", "cancelled")
    assert log_size(scene.recorder) == size


def test_baseline_that_was_made_is_not_cancelled(scene: Scene) -> None:
    id = asked(scene)
    assert complete(scene.worker, claimed(scene), make_baseline()).status_code == 200
    assert_refused(scene.author.post(f"/v1/work/{id}:cancel"), 409, "work_ended", "done")


def test_only_baselines_of_the_namespace_are_cancelled_here(scene: Scene) -> None:
    check, baseline = ask(scene.recorder), asked(scene)
    assert_refused(scene.author.post(f"/v1/work/{check}:cancel"), 404, "not_found")
    other = scene.service.client("author", namespace="team-b")
    assert_refused(other.post(f"/v1/work/{baseline}:cancel"), 404, "not_found")
    assert_refused(scene.recorder.post(f"/v1/work/{baseline}:cancel"), 403, "role_missing")
