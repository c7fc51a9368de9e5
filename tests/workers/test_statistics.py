"""Blobs of `statistics` work: fetched by digest, verified, and what is answered when the service does not give them."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from api.workers.children import Watch
from api.workers.client import ServiceClient
from api.workers.failures import WorkDropped, WorkFailed
from api.workers.results import MAX_RESULT_BYTES, fitted_statistics
from api.workers.statistics import FetchedBlob, fetched_blobs
from gates.statistics.bodies import error_body
from models.kinds.statistics import Statistics
from shipworthy.formats.jcs import canonicalize
from tests.gates.statistics.tables import claim, digest, evaluation
from tests.workers.scripted import Reply, Script, scripted
from tests.workers.test_loop import RENEWED, slot

TAKEN = [Reply(body={"id": "5c5b", "state": "failed", "record": None})]


class Unwatched:
    """Nobody cancels it."""

    def report(self, done: int, total: int, text: str) -> None:
        """Nobody looks."""

    def require_wanted(self) -> None:
        """It is."""

    require_held = require_wanted


class Cancelled(Unwatched):
    def require_wanted(self) -> None:
        raise WorkDropped("it was cancelled")


def digest_of(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


@contextmanager
def fetched(
    folder: Path, digest: str, most: int, *replies: Reply, watch: Watch | None = None
) -> Iterator[tuple[FetchedBlob, Script]]:
    """One blob of a service that replies so."""
    with (
        scripted(sha256=list(replies)) as service,
        closing(ServiceClient(service.url, "sw_key")) as client,
        fetched_blobs(client, {digest: most}, folder, watch or Unwatched()) as (blob,),
    ):
        yield blob, service


def test_blob_is_fetched_whole_and_leaves_no_file_behind(tmp_path: Path) -> None:
    data = os.urandom(3 * 2**20 + 5)
    with fetched(tmp_path, digest_of(data), len(data), Reply(raw=data)) as (blob, service):
        assert (blob.digest, blob.size) == (digest_of(data), len(data))
        assert os.pread(blob.fd, len(data) + 1, 0) == data
        assert list(tmp_path.iterdir()) == []
        (asked,) = service.asked
    assert (asked.method, asked.path, asked.token) == ("GET", f"/v1/blobs/{digest_of(data)}", "sw_key")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(blob.fd)


def test_other_bytes_than_those_of_the_digest_are_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(WorkFailed, match="other bytes") as caught,
        fetched(tmp_path, digest_of(b"these"), 5, Reply(raw=b"other")),
    ):
        raise AssertionError("nothing was fetched")
    assert caught.value.retry


def test_blob_that_is_too_long_is_not_fetched_and_keeps_its_size(tmp_path: Path) -> None:
    data = b"too long for what it is"
    with fetched(tmp_path, digest_of(data), 4, Reply(raw=data)) as (blob, _):
        assert (blob.size, os.fstat(blob.fd).st_size) == (len(data), 0)


def test_service_that_is_away_for_a_moment_is_asked_again(tmp_path: Path) -> None:
    replies = [Reply(503, {"detail": "starting", "code": "unavailable"}), Reply(0), Reply(raw=b"here")]
    with fetched(tmp_path, digest_of(b"here"), 4, *replies) as (blob, service):
        assert os.pread(blob.fd, 10, 0) == b"here"
        assert len(service.asked) == 3


def test_work_that_nobody_wants_any_more_is_not_fetched_to_its_end(tmp_path: Path) -> None:
    with (
        pytest.raises(WorkDropped),
        fetched(tmp_path, digest_of(b"here"), 4, Reply(raw=b"here"), watch=Cancelled()),
    ):
        raise AssertionError("nothing was fetched")


def test_blob_that_is_gone_fails_the_work_with_a_sentence(tmp_path: Path) -> None:
    gone = Reply(404, {"detail": "there is no such blob", "code": "not_found"})
    work = {
        "id": "5c5b7b5e-58f5-4ee2-a2a5-7c7f4ee8bd26",
        "kind": "statistics",
        "lease": "0" * 32,
        "lease_seconds": 60,
        "attempt": 1,
        "request": {},
        "inputs": claim([evaluation("c", digest("a"))]),
    }
    with (
        scripted(
            claim=[Reply(body=work), Reply(204)], renew=RENEWED, complete=TAKEN, sha256=[gone]
        ) as service,
        slot(service, tmp_path),
    ):
        service.wait_for(":complete")
    (answer,) = service.bodies(":complete")
    assert answer["error"]["code"] == "data_refused"
    assert not answer["error"]["retry"]
    assert "there is no such blob" in answer["error"]["message"]
    assert "upload it again" in answer["error"]["message"]


def test_measurement_that_its_data_ended_is_still_a_record() -> None:
    training = [{"snapshot": digest("e"), "sketch": None, "split": None}]
    inputs = claim(
        [evaluation("c", digest("a"))], [evaluation("d", digest("b"))], sketches={"training": training}
    )
    body = error_body(inputs, "the check was ended at its memory limit")
    found = Statistics.model_validate_json(canonicalize(body))
    assert (found.outcome, found.metrics) == ("error", {})
    assert body["disjointness"] == {
        "status": "unknown",
        "method": "none",
        "keys": 0,
        "overlap": 0,
        "false_positive_rate": 0.0,
        "training": [],
        "missing": [digest("e")],
    }


def test_slices_that_do_not_fit_into_a_record_go_into_a_blob() -> None:
    stored: dict[str, bytes] = {}
    short: dict[str, Any] = error_body(claim([evaluation("c", digest("a"))]), "none")
    assert fitted_statistics(short, stored.__setitem__) is short
    long = short | {"slices": [{"dimension": "d", "value": f"{number:06}" * 40} for number in range(1200)]}
    made = fitted_statistics(long, stored.__setitem__)
    assert len(canonicalize(made)) < MAX_RESULT_BYTES
    assert stored == {made["slices_blob"]: canonicalize(long["slices"])}
    assert digest_of(stored[made["slices_blob"]]) == made["slices_blob"]
    # The result is offered again when the service was away: nothing more is to be stored.
    stored.clear()
    assert fitted_statistics(made, stored.__setitem__) is made
    assert stored == {}
