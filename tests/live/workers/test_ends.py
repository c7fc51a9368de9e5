"""How disturbed checks end: the data is exchanged, the process crashes, a limit is reached, the worker dies."""

import os
import signal
import time
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update
from sqlmodel import col

from models.work.tables import Work
from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.live.workers.conftest import Crew, write_numbers
from tests.support.workers import catch_child, has_ended, request_check, wait_for_end


def test_file_overwritten_during_the_run_voids_it(crew: Crew) -> None:
    path = crew.lake / "overwritten.parquet"
    write_numbers(path, 1000)
    id = request_check(crew.author, "numbers", "lake", path.name)
    child = crew.roomy.catch_child()
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"other bytes")
    os.kill(child, signal.SIGCONT)
    ended = wait_for_end(crew.author, id)
    assert (ended["state"], ended["result"]) == ("failed", None)
    assert "the data changed while it was checked" in ended["reason"]


def test_file_swapped_during_the_run_voids_it_and_the_next_check_is_about_the_new_one(crew: Crew) -> None:
    path = crew.lake / "swapped.parquet"
    write_numbers(path, 1000)
    write_numbers(crew.lake / "new.parquet", 2000)
    id = request_check(crew.author, "numbers", "lake", path.name)
    child = crew.roomy.catch_child()
    (crew.lake / "new.parquet").rename(path)
    os.kill(child, signal.SIGCONT)
    assert "the data changed while it was checked" in wait_for_end(crew.author, id)["reason"]
    again = wait_for_end(crew.author, request_check(crew.author, "numbers", "lake", path.name))["result"]
    assert (again["outcome"], again["data"]["rows"]) == ("passed", 2000)
    assert again["data"]["manifest"] == manifest_digest(hash_tree(path))


def test_folder_exchanged_as_a_whole_leaves_the_result_about_the_bytes_that_were_opened(crew: Crew) -> None:
    old, new = crew.lake / "current", crew.lake / "next"
    for folder, rows in ((old, 1000), (new, 2000)):
        folder.mkdir()
        write_numbers(folder / "n.parquet", rows)
    wanted = manifest_digest(hash_tree(old))
    id = request_check(crew.author, "numbers", "lake", "current")
    child = crew.roomy.catch_child()
    old.rename(crew.lake / "before")
    new.rename(old)
    os.kill(child, signal.SIGCONT)
    found = wait_for_end(crew.author, id)["result"]
    assert (found["data"]["manifest"], found["data"]["rows"]) == (wanted, 1000)


def ended_with_error(crew: Crew, id: str) -> dict[str, Any]:
    """The result of a check that has one, with the outcome error and not one check passed."""
    ended = wait_for_end(crew.author, id)
    assert ended["state"] == "done", ended["reason"]
    result: dict[str, Any] = ended["result"]
    assert result["outcome"] == "error"
    assert all(each["outcome"] != "passed" for each in result["checks"])
    return result


def test_check_that_is_killed_is_an_error_about_the_bytes(crew: Crew) -> None:
    path = crew.lake / "killed.parquet"
    write_numbers(path, 1000)
    id = request_check(crew.author, "numbers", "lake", path.name)
    os.kill(crew.roomy.catch_child(), signal.SIGKILL)
    result = ended_with_error(crew, id)
    assert "killed from outside (signal 9)" in result["reason"]
    assert result["data"]["manifest"] == manifest_digest(hash_tree(path))


def test_check_that_crashes_is_an_error_and_the_worker_goes_on(crew: Crew) -> None:
    path = crew.lake / "crashed.parquet"
    write_numbers(path, 1000)
    id = request_check(crew.author, "numbers", "lake", path.name)
    child = crew.roomy.catch_child()
    os.kill(child, signal.SIGABRT)
    os.kill(child, signal.SIGCONT)
    assert "crashed (signal 6)" in ended_with_error(crew, id)["reason"]
    assert (
        wait_for_end(crew.author, request_check(crew.author, "numbers", "lake", path.name))["state"] == "done"
    )


def test_check_is_killed_at_its_time_limit(crew: Crew) -> None:
    path = crew.lake / "slow.parquet"
    write_numbers(path, 1000)
    id = request_check(crew.author, "numbers", "tight", path.name)
    child = crew.tight.catch_child()
    assert "time limit of 6 s" in ended_with_error(crew, id)["reason"]
    assert child not in crew.tight.children()


def test_cancelled_check_is_stopped(crew: Crew) -> None:
    path = crew.lake / "cancelled.parquet"
    write_numbers(path, 1000)
    id = request_check(crew.author, "numbers", "lake", path.name)
    child = crew.roomy.catch_child()
    assert crew.author.post(f"/v1/contract-checks/{id}:cancel").status_code == 200
    assert wait_for_end(crew.author, id)["state"] == "cancelled"
    deadline = time.monotonic() + 30
    while child in crew.roomy.children():
        assert time.monotonic() < deadline, "the check's process goes on"
        time.sleep(0.05)
    again = wait_for_end(crew.author, request_check(crew.author, "numbers", "lake", path.name))
    assert again["result"]["outcome"] == "passed"


def test_work_of_a_killed_worker_is_taken_over_and_its_check_ends_with_it(crew: Crew) -> None:
    """The last test of the folder: afterwards one of the workers is gone."""
    path = crew.lake / "taken.parquet"
    write_numbers(path, 1000)
    id = request_check(crew.author, "numbers", "shared", path.name)
    worker, child = catch_child(crew.roomy, crew.tight)
    worker.kill()
    os.kill(child, signal.SIGCONT)
    # The service has to see that claims of the killed worker, which wait still, have nobody left: in life it has a
    # minute for that.
    time.sleep(1.5)
    shift_leases(crew, id)
    ended = wait_for_end(crew.author, id)
    assert (ended["state"], ended["result"]["outcome"], ended["attempt"]) == ("done", "passed", 2)
    assert has_ended(child)


def shift_leases(crew: Crew, id: str) -> None:
    """As if a minute had passed."""
    with crew.service.services.database.connection() as connection:
        ends = connection.execute(select(col(Work.lease_expires_at)).where(col(Work.id) == id)).scalar_one()
        assert ends is not None
        connection.execute(
            update(Work).where(col(Work.id) == id).values(lease_expires_at=ends - timedelta(seconds=70))
        )
