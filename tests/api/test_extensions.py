"""More attempts than a policy's budget: two persons must want the same, and everybody sees who."""

import pytest

from tests.support.bodies import Body, digest_of
from tests.support.calls import assert_refused, post
from tests.support.facts import get
from tests.support.service import RunningService

PATH = "/v1/evaluation-attempts/extensions"
WANTED: Body = {"dataset": digest_of("fraud-eval"), "extra": 3, "reason": "labels were repaired"}


def extra(service: RunningService) -> int:
    return int(get(service.client(), PATH, dataset=WANTED["dataset"])["extra"])


def test_extension_counts_from_the_second_person_on(service: RunningService) -> None:
    ada = service.client("approver", owner="ada@example.org")
    first = post(ada, PATH, WANTED)
    assert first.status_code == 201
    assert extra(service) == 0
    assert post(ada, PATH, WANTED).status_code == 200
    assert (
        post(service.client("approver", owner="ada@example.org"), PATH, WANTED, "new-key").status_code == 201
    )
    assert extra(service) == 0, "another key of the same person is no second person"
    grace = service.client("approver", owner="grace@example.org")
    second = post(grace, PATH, WANTED)
    assert second.status_code == 201
    assert second.json()["record"] != first.json()["record"]
    (listed,) = get(ada, PATH, dataset=WANTED["dataset"])["items"]
    assert (listed["counts"], listed["extra"], len(set(listed["owners"]))) == (True, 3, 2)
    assert {first.json()["record"], second.json()["record"]} < set(listed["records"])
    assert extra(service) == 3
    assert get(ada, PATH, dataset=digest_of("other"))["extra"] == 0
    stranger = service.client(namespace="team-b")
    assert get(stranger, PATH, dataset=WANTED["dataset"])["items"] == []


@pytest.mark.parametrize(
    "changes", [{"extra": 4}, {"reason": "labels were repaired."}, {"dataset": digest_of("other")}]
)
def test_two_persons_must_say_the_same(service: RunningService, changes: Body) -> None:
    assert post(service.client("approver", owner="ada@example.org"), PATH, WANTED).status_code == 201
    grace = service.client("approver", owner="grace@example.org")
    assert post(grace, PATH, WANTED | changes).status_code == 201
    assert extra(service) == 0


def test_same_idempotency_key_of_two_persons_makes_two_records(service: RunningService) -> None:
    for person in ("ada@example.org", "grace@example.org"):
        answer = post(service.client("approver", owner=person), PATH, WANTED, "ticket-17")
        assert answer.status_code == 201
    assert extra(service) == 3


def test_extension_falls_with_one_of_its_records(service: RunningService) -> None:
    records = [
        post(service.client("approver", owner=person), PATH, WANTED).json()["record"]
        for person in ("ada@example.org", "grace@example.org")
    ]
    revoked = {"record": records[0], "effect": "revoked", "reason": "wrong data set"}
    assert post(service.client("author"), "/v1/revocations", revoked).status_code == 201
    assert extra(service) == 0


def test_who_evaluates_extends_nothing(service: RunningService) -> None:
    assert_refused(post(service.client("evaluator"), PATH, WANTED), 403, "role_missing", "approver")
    approver = service.client("approver", owner="ada@example.org")
    for changes in ({"extra": 0}, {"extra": -1}, {"reason": ""}):
        assert_refused(post(approver, PATH, WANTED | changes), 422, "invalid_input", next(iter(changes)))
