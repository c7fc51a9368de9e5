"""One slot of a worker against a scripted service: what it answers, and when it stops."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from api.workers.lease import Stopping
from api.workers.loop import Backoff, Slot
from api.workers.settings import WorkerSettings
from tests.workers.scripted import Reply, Script, scripted, work

RENEWED = [Reply(body={"cancelled": False, "lease_seconds": 60})]
TAKEN = [Reply(body={"id": "5c5b", "state": "failed", "record": None})]


@contextmanager
def slot(service: Script, folder: Path, **settings: Any) -> Iterator[Slot]:
    """A running slot with the root `here`; it must end within seconds of being told to."""
    stopping = Stopping(0)
    here = folder / "here"
    here.mkdir(exist_ok=True)
    (here / "data.csv").write_bytes(b"n\n1\n")
    given = WorkerSettings(service.url, {"here": str(here)}, claim_seconds=1, **settings)
    running = Slot(1, given, "sw_key", folder, stopping)
    running.start()
    try:
        yield running
    finally:
        stopping.ask()
        running.join(10)
        assert not running.is_alive()


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("s3://bucket/data.csv", "URL"),
        ("../data.csv", "'..'"),
        ("/etc/passwd", "absolute"),
        ("none.csv", "none.csv"),
    ],
)
def test_path_that_is_not_below_the_root_fails_the_work_with_a_sentence(
    tmp_path: Path, path: str, word: str
) -> None:
    with (
        scripted(claim=[Reply(body=work(path)), Reply(204)], renew=RENEWED, complete=TAKEN) as service,
        slot(service, tmp_path),
    ):
        service.wait_for(":complete")
    (answer,) = service.bodies(":complete")
    assert answer["lease"] == "0" * 32
    assert answer["error"]["code"] == "data_refused"
    assert answer["error"]["retry"] is False
    assert word in answer["error"]["message"]


def test_root_that_this_worker_does_not_have_is_left_to_another(tmp_path: Path) -> None:
    with (
        scripted(
            claim=[Reply(body=work(root="there")), Reply(204)], renew=RENEWED, complete=TAKEN
        ) as service,
        slot(service, tmp_path),
    ):
        service.wait_for(":complete")
    assert service.bodies(":complete")[0]["error"]["retry"] is True


def test_other_data_than_the_snapshot_that_was_asked_for_is_not_checked(tmp_path: Path) -> None:
    claimed = work(snapshot="sha256:" + "c" * 64)
    with (
        scripted(claim=[Reply(body=claimed), Reply(204)], renew=RENEWED, complete=TAKEN) as service,
        slot(service, tmp_path),
    ):
        service.wait_for(":complete")
    assert "is not the snapshot that was asked for" in service.bodies(":complete")[0]["error"]["message"]


def test_answer_is_offered_again_until_it_is_taken(tmp_path: Path) -> None:
    busy = Reply(503, {"detail": "busy", "code": "unavailable"}, {"Retry-After": "0"})
    with (
        scripted(
            claim=[Reply(body=work("none.csv")), Reply(204)], renew=RENEWED, complete=[busy, Reply(0), *TAKEN]
        ) as service,
        slot(service, tmp_path),
    ):
        service.wait_for(":complete", 3)
    assert len({str(body) for body in service.bodies(":complete")}) == 1


def test_lost_lease_drops_the_work_and_the_next_is_claimed(tmp_path: Path) -> None:
    lost = Reply(409, {"detail": "another worker took it over", "code": "work_lease_lost"})
    with (
        scripted(claim=[Reply(body=work("none.csv")), Reply(204)], renew=[lost], complete=[lost]) as service,
        slot(service, tmp_path) as running,
    ):
        service.wait_for(":claim", 2)
        assert running.trouble == ""
    assert len(service.bodies(":complete")) == 1


def test_service_that_is_away_is_asked_again_after_the_time_it_named(tmp_path: Path) -> None:
    away = Reply(503, {"detail": "starting", "code": "unavailable"}, {"Retry-After": "1"})
    with scripted(claim=[away, Reply(204)]) as service, slot(service, tmp_path):
        service.wait_for(":claim", 2)


def test_key_that_is_refused_ends_the_slot_with_the_reason(tmp_path: Path) -> None:
    refused = Reply(401, {"detail": "the token is unknown, expired or revoked", "code": "token_invalid"})
    with scripted(claim=[refused]) as service, slot(service, tmp_path) as running:
        running.join(10)
        assert "unknown, expired or revoked" in running.trouble
    assert len(service.asked) == 1


def test_worker_that_must_stop_gives_the_lease_back(tmp_path: Path) -> None:
    """The data is a sparse file of a size that is not hashed within the test."""
    (tmp_path / "here").mkdir()
    with (tmp_path / "here" / "long.csv").open("wb") as file:
        file.truncate(200 << 30)
    with scripted(claim=[Reply(body=work("long.csv")), Reply(204)], renew=RENEWED, complete=TAKEN) as service:
        with slot(service, tmp_path):
            service.wait_for(":renew")
        (answer,) = service.bodies(":complete")
    assert answer["error"]["code"] == "worker_stopped"
    assert answer["error"]["retry"] is True
    progress = service.bodies(":renew")[0]["progress"]
    assert (progress["text"], progress["total"]) == ("hashing", 200 << 30)
    assert progress["done"] > 0


def test_cancelled_work_is_dropped_without_an_answer(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with (tmp_path / "here" / "long.csv").open("wb") as file:
        file.truncate(200 << 30)
    cancelled = [Reply(body={"cancelled": True, "lease_seconds": 60})]
    with (
        scripted(
            claim=[Reply(body=work("long.csv")), Reply(204)], renew=cancelled, complete=TAKEN
        ) as service,
        slot(service, tmp_path),
    ):
        service.wait_for(":claim", 2)
    assert service.bodies(":complete") == []


def test_work_ends_at_its_time_limit_also_while_its_data_is_hashed(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with (tmp_path / "here" / "long.csv").open("wb") as file:
        file.truncate(200 << 30)
    with (
        scripted(claim=[Reply(body=work("long.csv")), Reply(204)], renew=RENEWED, complete=TAKEN) as service,
        slot(service, tmp_path, time_seconds=1),
    ):
        service.wait_for(":complete")
    error = service.bodies(":complete")[0]["error"]
    assert error["code"] == "time_limit"
    assert "time limit of 1 s" in error["message"]


def test_pauses_grow_to_a_bound_and_never_undercut_the_service() -> None:
    backoff = Backoff()
    pauses = [backoff.next(None) for _ in range(12)]
    assert pauses[0] <= 0.5
    assert 15 <= pauses[-1] <= 30
    assert backoff.next(120.0) == 120
    backoff.reset()
    assert backoff.next(None) <= 0.5


def test_stopping_asked_twice_has_no_more_grace() -> None:
    stopping = Stopping(1000)
    assert not stopping.is_asked()
    stopping.ask()
    assert (stopping.is_asked(), stopping.is_over()) == (True, False)
    stopping.ask()
    assert stopping.is_over()
