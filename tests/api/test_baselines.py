"""Baselines: made by a worker, pinned by a contract, approved by somebody else than who asked."""

from typing import Any

import httpx
import pytest

from tests.support.bodies import Body, digest_of
from tests.support.calls import assert_refused, log_size, post, stored_body
from tests.support.contracts import YAML, baseline_digest, claim, complete, make_baseline, make_contract
from tests.support.facts import get_all
from tests.support.service import RunningService

ASKED: Body = {"root": "lake", "path": "orders", "numbers": ["amount"], "labels": ["country"]}


def made(service: RunningService, author: httpx.Client, **changes: object) -> str:
    """The digest of a baseline that the author asked for and a worker made."""
    answer = post(author, "/v1/baselines", ASKED)
    assert answer.status_code == 202, answer.text
    worker = service.client("worker")
    work = claim(worker)
    assert work is not None
    finished = complete(worker, work, make_baseline(**changes))
    assert finished.status_code == 200, finished.text
    return str(finished.json()["baseline"])


def approve(client: httpx.Client, digest: str) -> httpx.Response:
    return post(client, f"/v1/baselines/{digest}/approvals", {"reason": "looked at the histograms"})


def test_worker_makes_the_baseline_that_was_asked_for(service: RunningService) -> None:
    author, worker = service.client("author", owner="ada@example.org"), service.client("worker")
    id = post(author, "/v1/baselines", ASKED).json()["id"]
    work = claim(worker)
    assert work is not None
    assert (work["id"], work["kind"], work["inputs"]) == (id, "baseline", {})
    assert work["request"] == ASKED | {"snapshot": None, "bins": 10}
    baseline = make_baseline()
    first = complete(worker, work, baseline)
    assert first.json()["baseline"] == baseline_digest(baseline)
    assert complete(worker, work, baseline).json() == first.json()
    shown = author.get(f"/v1/work/{id}", params={"wait": 10}).json()
    assert (shown["state"], shown["baseline"]) == ("done", baseline_digest(baseline))
    found = author.get(f"/v1/baselines/{baseline_digest(baseline)}").json()
    assert (found["baseline"], found["record"]) == (baseline, first.json()["record"])
    assert (found["evidence_level"], found["approvals"]) == ("trusted_runner", [])
    body = stored_body(author, found["record"])
    assert body["requested_by"]
    assert "ada" not in body["requested_by"]
    listed = get_all(author, "/v1/baselines")
    assert [each["digest"] for each in listed] == [baseline_digest(baseline)]
    assert "baseline" not in listed[0]
    assert listed[0]["columns"] == ["amount", "country"]
    stranger = service.client(namespace="team-b")
    assert_refused(stranger.get(f"/v1/baselines/{baseline_digest(baseline)}"), 404, "not_found")


def test_contract_pins_a_baseline_and_its_checks_get_it(service: RunningService) -> None:
    author = service.client("author", "recorder")
    digest = made(service, author)
    answer = author.put("/v1/contracts/orders", content=make_contract(baseline=digest), headers=YAML)
    assert (answer.status_code, answer.json()["baseline"]) == (201, digest)
    target = {"contract": "orders", "root": "lake", "path": "orders", "baseline": digest}
    assert post(author, "/v1/contract-checks", target).status_code == 202
    work = claim(service.client("worker"))
    assert work is not None
    assert (work["request"]["baseline"], work["inputs"]["baseline"]) == (digest, make_baseline())
    other = post(author, "/v1/contract-checks", target | {"baseline": digest_of("other")})
    assert_refused(other, 409, "contract_moved", digest)


def test_approval_is_by_another_person_than_who_asked(service: RunningService) -> None:
    digest = made(service, service.client("author", owner="ada@example.org"))
    size_before = log_size(service.client())
    same = service.client("approver", owner=" ada@example.org")
    assert_refused(approve(same, digest), 403, "separation_of_duties", "somebody else")
    other = service.client("approver", owner="grace@example.org")
    answer = approve(other, digest)
    assert answer.status_code == 201, answer.text
    assert approve(other, digest).status_code == 200
    (approval,) = other.get(f"/v1/baselines/{digest}").json()["approvals"]
    assert (approval["record"], approval["reason"]) == (answer.json()["record"], "looked at the histograms")
    assert "grace" not in str(approval)
    assert log_size(other) == size_before + 3, "two keys and one approval"


def test_baseline_of_nobody_known_cannot_be_approved(service: RunningService) -> None:
    digest = made(service, service.client("author"))
    answer = approve(service.client("approver", owner="grace@example.org"), digest)
    assert_refused(answer, 403, "separation_of_duties", "names no person", "--owner")


def test_baseline_that_is_not_there_cannot_be_approved(service: RunningService) -> None:
    approver = service.client("approver")
    assert_refused(approve(approver, digest_of("nothing")), 404, "not_found")
    digest = made(service, service.client("author", owner="ada@example.org"))
    stranger = service.client("approver", namespace="team-b")
    assert_refused(approve(stranger, digest), 404, "not_found")


def test_same_baseline_made_twice_is_shown_as_who_asked_first_made_it(service: RunningService) -> None:
    first = made(service, service.client("author", owner="ada@example.org"))
    assert made(service, service.client("author", owner="lin@example.org")) == first
    reader = service.client()
    assert len(get_all(reader, "/v1/baselines")) == 1
    same = service.client("approver", owner="ada@example.org")
    assert_refused(approve(same, first), 403, "separation_of_duties")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"numbers": [], "labels": []}, "names no column"),
        ({"labels": ["amount"]}, "both"),
        ({"bins": 1}, "/bins"),
        ({"path": "s3://bucket/orders"}, "URL"),
        ({"root": None, "path": None}, "names no data"),
    ],
)
def test_request_for_a_baseline_that_makes_no_sense_is_refused(
    sqlite_service: RunningService, changes: Body, said: str
) -> None:
    body = {name: value for name, value in (ASKED | changes).items() if value is not None}
    answer = post(sqlite_service.client("author"), "/v1/baselines", body)
    assert_refused(answer, 422, "invalid_input", said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"bins": {"edges": [0, 1, 2], "counts": [1]}}, "3 edges, which bound 2 bins"),
        ({"bins": {"edges": [1, 0], "counts": [1]}}, "rise"),
        ({"values": [1, 2]}, "values"),
    ],
)
def test_baseline_that_is_none_is_refused_and_can_be_mended(
    sqlite_service: RunningService, changed: dict[str, Any], said: str
) -> None:
    service = sqlite_service
    post(service.client("author"), "/v1/baselines", ASKED)
    worker = service.client("worker")
    work = claim(worker)
    assert work is not None
    good = make_baseline()
    bad = good | {"columns": [good["columns"][0] | changed]}
    assert_refused(complete(worker, work, bad), 422, "invalid_input", said)
    assert complete(worker, work, good).status_code == 200
