"""Work over HTTP as workers meet it: claimed once, renewed, handed in once, taken over, given up."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from sqlalchemy import select, update
from sqlmodel import col

from models.work.states import LEASE_SECONDS, MAX_ATTEMPTS
from models.work.tables import Work
from tests.support.bodies import Body, digest_of, make_snapshot, make_start
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.contracts import ask, claim, complete, give_up, publish_suite, result_of
from tests.support.histories import History
from tests.support.service import RunningService

_TIMES = select(col(Work.id), col(Work.lease_expires_at), col(Work.available_at))


@dataclass(frozen=True)
class Scene:
    """A published contract, somebody who asks and somebody who works."""

    service: RunningService
    author: httpx.Client
    recorder: httpx.Client
    worker: httpx.Client
    published: Body

    def shift(self, seconds: float) -> None:
        """Moves all leases and waiting times back: as if so much time had passed."""
        passed = timedelta(seconds=seconds)
        with self.service.services.database.connection() as connection:
            rows = connection.execute(_TIMES).all()
            for row in rows:
                ends = None if row.lease_expires_at is None else row.lease_expires_at - passed
                connection.execute(
                    update(Work)
                    .where(col(Work.id) == row.id)
                    .values(lease_expires_at=ends, available_at=row.available_at - passed)
                )


@pytest.fixture
def scene(service: RunningService) -> Scene:
    history = History(service.services.ledger, service.services.ring)
    published = publish_suite(service, history.actor("author"))
    return Scene(
        service, service.client("author"), service.client("recorder"), service.client("worker"), published
    )


def claimed(scene: Scene, **changes: object) -> Body:
    work = claim(scene.worker, **changes)
    assert work is not None
    return work


def state(scene: Scene, id: str) -> Body:
    answer = scene.recorder.get(f"/v1/contract-checks/{id}")
    assert answer.status_code == 200, answer.text
    found: Body = answer.json()
    return found


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
