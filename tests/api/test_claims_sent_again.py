"""A claim whose answer was lost is sent again under the same token and gives the same work, not a lost attempt."""

import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.work_scenes import Scene, claimed, make_scene, state
from tests.support.calls import assert_refused
from tests.support.contracts import ask, claim, complete, result_of
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


def test_claim_sent_again_gives_the_same_work_and_costs_no_attempt(scene: Scene) -> None:
    id, lease = ask(scene.recorder), secrets.token_hex(16)
    lost = claimed(scene, lease=lease)
    again = claimed(scene, lease=lease)
    assert again == lost
    assert (again["id"], again["lease"], again["attempt"]) == (id, lease, 1)
    assert complete(scene.worker, again, result_of(again, scene.published)).status_code == 200
    assert state(scene, id)["state"] == "done"


def test_claim_sent_again_waits_for_nothing_and_takes_nothing_else(scene: Scene) -> None:
    first, second = ask(scene.recorder), ask(scene.recorder)
    lease = secrets.token_hex(16)
    assert claimed(scene, lease=lease)["id"] == first
    assert claimed(scene, lease=lease, wait_seconds=20)["id"] == first
    assert claimed(scene, lease=secrets.token_hex(16))["id"] == second


def test_lease_lasts_its_whole_time_from_the_claim_that_was_answered(scene: Scene) -> None:
    id, lease = ask(scene.recorder), secrets.token_hex(16)
    claimed(scene, lease=lease)
    scene.shift(50)
    again = claimed(scene, lease=lease)
    scene.shift(50)
    assert claim(scene.service.client("worker")) is None, "it is still held"
    assert again["attempt"] == 1
    assert state(scene, id)["state"] == "running"


def test_token_of_one_worker_gives_another_worker_nothing(scene: Scene) -> None:
    ask(scene.recorder)
    lease = secrets.token_hex(16)
    work = claimed(scene, lease=lease)
    other = scene.service.client("worker")
    assert claim(other, lease=lease) is None
    assert claim(scene.service.client("worker", namespace="team-b"), lease=lease) is None
    assert complete(scene.worker, work, result_of(work, scene.published)).status_code == 200


def test_work_that_was_taken_over_is_not_given_under_the_old_token(scene: Scene) -> None:
    id, lease = ask(scene.recorder), secrets.token_hex(16)
    claimed(scene, lease=lease)
    scene.shift(70)
    other = scene.service.client("worker")
    taken = claim(other)
    assert taken is not None
    assert (taken["id"], taken["attempt"]) == (id, 2)
    assert claim(scene.worker, lease=lease) is None


def test_claims_under_many_tokens_at_once_give_each_its_own_work(scene: Scene) -> None:
    asked = {ask(scene.recorder) for _ in range(6)}
    leases = [secrets.token_hex(16) for _ in asked]
    with ThreadPoolExecutor(6) as pool:
        works = list(pool.map(lambda lease: claimed(scene, lease=lease), leases))
    assert {work["id"] for work in works} == asked
    assert [work["lease"] for work in works] == leases


def test_token_that_could_be_guessed_is_refused(scene: Scene) -> None:
    body = {"kinds": ["contract_check"], "roots": ["lake"], "lease": "mine"}
    assert_refused(scene.worker.post("/v1/work:claim", json=body), 422, "invalid_input", "/lease")
