"""Results that are too long for a record."""

import json
from typing import Any

import pytest

from api.workers.results import MAX_RESULT_BYTES, fitted
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize


def make_result(passed: int, failed: int, reason: str = "x") -> dict[str, Any]:
    outcomes = ["passed"] * passed + ["failed"] * failed
    checks = [
        {"id": f"check {number}", "outcome": outcome, "blocking": number % 2 == 0, "reason": reason}
        for number, outcome in enumerate(outcomes)
    ]
    return {"outcome": "failed", "counts": {"passed": passed, "failed": failed}, "checks": checks}


class Blobs(dict[str, bytes]):
    def put(self, digest: str, data: bytes) -> None:
        self[digest] = data


def test_result_that_fits_is_left_as_it_is() -> None:
    blobs = Blobs()
    result = make_result(100, 3)
    assert fitted(result, blobs.put) == result
    assert blobs == {}


@pytest.mark.parametrize("reason", ["short", "a sentence of some length " * 80])
def test_long_result_keeps_what_did_not_pass_and_puts_all_into_a_blob(reason: str) -> None:
    blobs = Blobs()
    result = make_result(5000, 300, reason)
    short = fitted(result, blobs.put)
    assert len(canonicalize(short)) <= MAX_RESULT_BYTES
    assert short["counts"] == result["counts"]
    assert 0 < len(short["checks"]) <= 200
    assert {check["outcome"] for check in short["checks"]} == {"failed"}
    assert short["checks"][0]["blocking"] is True
    stored = blobs[short["checks_blob"]]
    assert json.loads(stored) == result["checks"]
    assert sha256_digest(stored) == short["checks_blob"]


def test_shortened_twice_is_shortened_once() -> None:
    blobs = Blobs()
    short = fitted(make_result(5000, 300), blobs.put)
    assert fitted(short, blobs.put) == short
