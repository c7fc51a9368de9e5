"""Results of work over HTTP: handed in once, about what was asked, and refused when the contract moved on."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.work_scenes import Scene, claimed, make_scene, state
from tests.support.bodies import digest_of, make_snapshot, make_start
from tests.support.calls import assert_refused, log_size, post
from tests.support.contracts import ask, claim, complete, publish_suite, result_of
from tests.support.histories import History
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> Scene:
    return make_scene(service)


def test_same_result_twice_gives_the_first_answer_and_another_is_refused(scene: Scene) -> None:
    ask(scene.recorder)
    work = claimed(scene)
    result = result_of(work, scene.published)
    first = complete(scene.worker, work, result)
    size = log_size(scene.recorder)
    again = complete(scene.worker, work, result)
    assert (again.status_code, again.json()) == (200, first.json())
    other = complete(scene.worker, work, result_of(work, scene.published, failed=1))
    assert_refused(other, 409, "work_lease_lost", "done")
    assert log_size(scene.recorder) == size


def test_result_sent_many_times_at_once_is_recorded_once(scene: Scene) -> None:
    ask(scene.recorder)
    work = claimed(scene)
    result, size = result_of(work, scene.published), log_size(scene.recorder)
    workers = [scene.worker, *(scene.service.client("worker") for _ in range(7))]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda worker: complete(worker, work, result), workers))
    assert [answer.status_code for answer in answers] == [200] * 8
    assert len({answer.json()["record"] for answer in answers}) == 1
    assert log_size(scene.recorder) == size + 7 + 1, "seven keys and one result"


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("check", "another"),
        ("object", "customers"),
        ("baseline", digest_of("baseline")),
        ("parameters", {"day": "other"}),
        ("as_of", "2026-05-01T12:00:00Z"),
        ("run_id", "01900000-0000-7000-8000-000000000001"),
        ("transformation", digest_of("somebody else's output")),
    ],
)
def test_result_about_something_else_than_was_asked_is_refused(
    scene: Scene, part: str, value: object
) -> None:
    ask(scene.recorder)
    work = claimed(scene)
    answer = complete(scene.worker, work, result_of(work, scene.published) | {part: value})
    assert_refused(answer, 422, "invalid_input", f"/result/{part}")
    # The worker may mend it: the work is still its own.
    assert complete(scene.worker, work, result_of(work, scene.published)).status_code == 200


def test_result_on_other_bytes_than_the_snapshot_ends_the_check_as_failed(scene: Scene) -> None:
    location = {"root": "lake", "path": "orders/2026-05.parquet"}
    snapshot = make_snapshot(digest=digest_of("orders"), location=location)
    assert post(scene.recorder, "/v1/snapshots", snapshot).status_code == 201
    body = {"contract": "orders", "snapshot": digest_of("orders")}
    id = post(scene.recorder, "/v1/contract-checks", body).json()["id"]
    work = claimed(scene)
    assert (work["request"]["root"], work["request"]["path"]) == ("lake", "orders/2026-05.parquet")
    answer = complete(scene.worker, work, result_of(work, scene.published, manifest=digest_of("overwritten")))
    assert_refused(answer, 409, "conflict", digest_of("overwritten"), "overwritten")
    shown = state(scene, id)
    assert (shown["state"], shown["record"]) == ("failed", None)
    assert digest_of("overwritten") in shown["reason"]


def test_contract_that_moved_on_refuses_the_result_and_work_that_waits(scene: Scene) -> None:
    running, waiting = ask(scene.recorder), ask(scene.recorder)
    work = claimed(scene)
    assert work["id"] == running
    author = History(scene.service.services.ledger, scene.service.services.ring).actor("author")
    publish_suite(scene.service, author, 2, waived=["no_nan:amount"])
    size = log_size(scene.recorder)
    answer = complete(scene.worker, work, result_of(work, scene.published))
    assert_refused(answer, 409, "contract_moved", "version 1", "has 2 now")
    assert log_size(scene.recorder) == size
    assert claim(scene.worker) is None, "nobody can do what waits for version 1"
    for id in (running, waiting):
        assert state(scene, id)["state"] == "failed"
        assert "version" in state(scene, id)["reason"]
    assert post(scene.recorder, "/v1/runs", make_start()).status_code == 201
