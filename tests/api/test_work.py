"""Work over HTTP as workers meet it: claimed once, renewed, taken over, given up."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from models.work.states import LEASE_SECONDS, MAX_ATTEMPTS
from tests.api.work_scenes import Scene, claimed, make_scene, state
from tests.support.calls import assert_refused, log_size, stored_body
from tests.support.contracts import ask, claim, complete, give_up, result_of
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


def test_check_is_claimed_with_all_it_needs_and_becomes_a_record(scene: Scene) -> None:
    id = ask(scene.recorder, parameters={"day": "2026-05-01"}, as_of="2026-05-02T00:00:00Z")
    assert state(scene, id)["state"] == "queued"
    work = claimed(scene)
    assert (work["id"], work["kind"], work["attempt"], work["lease_seconds"]) == (id, "contract_check", 1, 60)
    assert work["request"]["contract"] == work["inputs"]["contract"]
    assert work["request"]["as_of"] == "2026-05-02T00:00:00.000000Z"
    assert [check["id"] for check in work["inputs"]["suite"]["objects"][0]["checks"]] == [
        "check 0",
        "check 1",
    ]
    assert claim(scene.worker) is None
    answer = complete(scene.worker, work, result_of(work, scene.published, failed=1))
    assert answer.status_code == 200, answer.text
    shown = state(scene, id)
    assert (shown["state"], shown["record"]) == ("done", answer.json()["record"])
    assert (shown["evidence_level"], shown["result"]["outcome"]) == ("trusted_runner", "failed")
    assert shown["result"] == stored_body(scene.recorder, shown["record"])
    assert shown["result"]["parameters"] == {"day": "2026-05-01"}


def test_work_is_taken_over_when_its_lease_ends_and_the_late_result_is_refused(scene: Scene) -> None:
    id = ask(scene.recorder)
    lost = claimed(scene)
    assert claim(scene.worker) is None
    scene.shift(LEASE_SECONDS + 1)
    assert state(scene, id)["state"] == "queued"
    taken = claimed(scene)
    assert (taken["id"], taken["attempt"]) == (id, 2)
    size = log_size(scene.recorder)
    for answer in (
        complete(scene.worker, lost, result_of(lost, scene.published)),
        give_up(scene.worker, lost, retry=False),
        scene.worker.post(f"/v1/work/{id}:renew", json={"lease": lost["lease"]}),
    ):
        assert_refused(answer, 409, "work_lease_lost", "another worker")
    assert log_size(scene.recorder) == size
    assert complete(scene.worker, taken, result_of(taken, scene.published)).status_code == 200


def test_renewed_lease_holds_and_progress_is_shown(scene: Scene) -> None:
    id = ask(scene.recorder)
    work = claimed(scene)
    scene.shift(LEASE_SECONDS - 5)
    progress = {"done": 3, "total": 23, "text": "reading rows"}
    answer = scene.worker.post(f"/v1/work/{id}:renew", json={"lease": work["lease"], "progress": progress})
    assert answer.json() == {"cancelled": False, "lease_seconds": 60}
    scene.shift(LEASE_SECONDS - 5)
    assert claim(scene.worker) is None
    shown = state(scene, id)
    assert (shown["state"], shown["progress"]) == ("running", progress)


def test_work_whose_lease_ended_unseen_can_still_be_handed_in(scene: Scene) -> None:
    ask(scene.recorder)
    work = claimed(scene)
    scene.shift(LEASE_SECONDS + 100)
    assert complete(scene.worker, work, result_of(work, scene.published)).status_code == 200


def test_work_that_no_worker_survives_is_dead_after_three_attempts(scene: Scene) -> None:
    id = ask(scene.recorder)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert claimed(scene)["attempt"] == attempt
        scene.shift(LEASE_SECONDS + 1)
    for _ in range(2):
        shown = state(scene, id)
        assert (shown["state"], shown["attempt"]) == ("dead", MAX_ATTEMPTS)
        assert "stopped renewing" in shown["reason"]
        assert claim(scene.worker) is None


def test_error_is_tried_again_only_where_that_may_help(scene: Scene) -> None:
    hopeless, flaky = ask(scene.recorder), ask(scene.recorder)
    work = claimed(scene)
    assert give_up(scene.worker, work, retry=False).json() == {
        "id": hopeless,
        "state": "failed",
        "record": None,
    }
    assert give_up(scene.worker, work, retry=False).json()["state"] == "failed"
    shown = state(scene, hopeless)
    assert (shown["state"], shown["result"]) == ("failed", None)
    assert shown["reason"] == "worker.killed: the child was killed at its memory limit"
    states = []
    for _ in range(MAX_ATTEMPTS):
        states.append(give_up(scene.worker, claimed(scene), retry=True).json()["state"])
        assert claim(scene.worker) is None, "it rests before the next attempt"
        scene.shift(60)
    assert states == ["queued", "queued", "dead"]
    assert state(scene, flaky)["state"] == "dead"


def test_cancelled_check_is_never_claimed_and_a_worker_at_it_is_told(scene: Scene) -> None:
    waiting, running = ask(scene.recorder), ask(scene.recorder)
    assert scene.recorder.post(f"/v1/contract-checks/{waiting}:cancel").json()["state"] == "cancelled"
    work = claimed(scene)
    assert work["id"] == running
    assert scene.recorder.post(f"/v1/contract-checks/{running}:cancel").status_code == 200
    assert scene.recorder.post(f"/v1/contract-checks/{running}:cancel").status_code == 200
    renewed = scene.worker.post(f"/v1/work/{running}:renew", json={"lease": work["lease"]})
    assert renewed.json()["cancelled"] is True
    late = complete(scene.worker, work, result_of(work, scene.published))
    assert_refused(late, 409, "work_lease_lost", "cancelled")
    assert [state(scene, id)["state"] for id in (waiting, running)] == ["cancelled", "cancelled"]
    assert claim(scene.worker) is None


def test_check_that_has_ended_cannot_be_cancelled(scene: Scene) -> None:
    id = ask(scene.recorder)
    work = claimed(scene)
    complete(scene.worker, work, result_of(work, scene.published))
    assert_refused(scene.recorder.post(f"/v1/contract-checks/{id}:cancel"), 409, "work_ended", "done")


def test_worker_gets_only_kinds_and_roots_it_named(scene: Scene) -> None:
    ask(scene.recorder, root="taxi", path="2019-01")
    assert claim(scene.worker) is None
    assert claim(scene.worker, kinds=["baseline"], roots=["taxi"]) is None
    assert claim(scene.worker, roots=["lake", "taxi"]) is not None


def test_work_of_another_namespace_is_not_seen(scene: Scene) -> None:
    id = ask(scene.recorder)
    stranger = scene.service.client("worker", "recorder", namespace="team-b")
    assert claim(stranger) is None
    assert_refused(stranger.get(f"/v1/work/{id}"), 404, "not_found")
    assert_refused(stranger.get(f"/v1/contract-checks/{id}"), 404, "not_found")
    work = claimed(scene)
    lease = {"lease": work["lease"]}
    assert_refused(stranger.post(f"/v1/work/{id}:renew", json=lease), 404, "not_found")
    assert_refused(stranger.post(f"/v1/contract-checks/{id}:cancel"), 404, "not_found")


def test_oldest_work_comes_first(scene: Scene) -> None:
    asked = [ask(scene.recorder) for _ in range(3)]
    assert [claimed(scene)["id"] for _ in asked] == asked


def test_waiting_claim_and_waiting_reader_are_answered_as_soon_as_there_is_something(scene: Scene) -> None:
    """Neither holds a connection meanwhile: the pool has 16, and 40 wait."""
    with ThreadPoolExecutor(40) as pool:
        waiting = [
            pool.submit(claim, scene.service.client("worker"), roots=["lake"], wait_seconds=20)
            for _ in range(40)
        ]
        asked = [ask(scene.recorder) for _ in range(40)]
        works = [future.result() for future in waiting]
        assert sorted(work["id"] for work in works if work) == sorted(asked)
        reading = pool.submit(scene.recorder.get, f"/v1/contract-checks/{asked[0]}", params={"wait": 20})
        work = next(work for work in works if work and work["id"] == asked[0])
        complete(scene.worker, work, result_of(work, scene.published))
        assert reading.result().json()["state"] == "done"


def test_claim_and_reader_that_wait_in_vain_are_answered_too(scene: Scene) -> None:
    assert claim(scene.worker, wait_seconds=0.3) is None
    id = ask(scene.recorder)
    began = datetime.now(UTC)
    answer = scene.recorder.get(f"/v1/contract-checks/{id}", params={"wait": 1})
    assert answer.json()["state"] == "queued"
    assert datetime.now(UTC) - began >= timedelta(seconds=1)
