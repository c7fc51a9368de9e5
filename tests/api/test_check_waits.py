"""Calls that wait are bounded for each key, so that one can't keep all others from looking."""

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import httpx
import pytest

from api import waiting
from tests.api.work_scenes import Scene, make_scene
from tests.support.calls import assert_refused
from tests.support.contracts import ask
from tests.support.service import RunningService

MOST = 3


@pytest.fixture
def scene(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(waiting, "MAX_WAITS", MOST)
    return make_scene(service)


Answers = list[Future[httpx.Response]]


def one_refused(waits: Answers) -> Answers:
    """Of one more call than may wait, one is answered at once; the others, which wait on."""
    done, waiting_on = wait(waits, timeout=20, return_when=FIRST_COMPLETED)
    (refused,) = (each.result() for each in done)
    assert_refused(refused, 429, "too_many_waits", "wait already")
    assert int(refused.headers["Retry-After"]) > 0
    return list(waiting_on)


def test_reads_of_one_key_that_wait_are_bounded_and_other_keys_wait_on(scene: Scene) -> None:
    path = f"/v1/contract-checks/{ask(scene.recorder)}"

    def look(seconds: int, client: httpx.Client = scene.recorder) -> httpx.Response:
        return client.get(path, params={"wait": seconds})

    with ThreadPoolExecutor(MOST + 1) as pool:
        waits = one_refused([pool.submit(look, 25) for _ in range(MOST + 1)])
        assert look(0).status_code == 200, "who does not wait takes no place"
        assert look(1, scene.author).status_code == 200
        assert scene.recorder.post(f"{path}:cancel").status_code == 200
        assert [each.result().json()["state"] for each in waits] == ["cancelled"] * MOST
    assert look(1).status_code == 200, "places are given back"


def test_claims_of_one_key_that_wait_are_bounded_and_the_others_get_the_work(scene: Scene) -> None:
    def claim() -> httpx.Response:
        body = {"kinds": ["contract_check"], "roots": ["lake"], "wait_seconds": 25}
        return scene.worker.post("/v1/work:claim", json=body)

    with ThreadPoolExecutor(MOST + 1) as pool:
        waits = one_refused([pool.submit(claim) for _ in range(MOST + 1)])
        asked = {ask(scene.recorder) for _ in range(MOST)}
        assert {each.result().json()["id"] for each in waits} == asked
