"""Contracts over HTTP: published as they are, numbered in log order, compiled with every rule accounted for."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from shipworthy.formats.digests import sha256_digest
from tests.support.bodies import digest_of
from tests.support.calls import assert_refused, log_size, stored_body
from tests.support.contracts import YAML, make_contract, publish
from tests.support.facts import get_all
from tests.support.service import RunningService

OLD_SUITE = (
    b'{"expectation_suite_name": "old", "expectations": [], "meta": {"great_expectations_version": "0.18.9"}}'
)


def get(client: httpx.Client, path: str) -> dict[str, Any]:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_published_bytes_and_their_suite_are_kept_under_the_digests_of_the_record(
    service: RunningService,
) -> None:
    author, text = service.client("author"), make_contract() + "# as it was sent\n"
    answer = author.put("/v1/contracts/orders", content=text, headers=YAML)
    assert (answer.status_code, answer.json()["version"]) == (201, 1)
    published = answer.json()
    body = stored_body(author, published["record"])
    assert (body["name"], body["version"], body["format"]) == ("orders", 1, "odcs")
    assert body["digest"] == published["digest"] == sha256_digest(text.encode())
    assert author.get(f"/v1/blobs/{body['digest']}").content == text.encode()
    compiled = author.get("/v1/contracts/orders/compiled")
    assert sha256_digest(compiled.content) == body["suite_digest"] == compiled.headers["x-suite-digest"]
    assert author.get(f"/v1/blobs/{body['suite_digest']}").content == compiled.content
    (listed,) = compiled.json()["objects"]
    assert published["objects"] == [
        {
            "name": "orders",
            "checks": len(listed["checks"]),
            "blocking": len(listed["checks"]),
            "not_evaluated": 0,
            "unjudged": 0,
        }
    ]


def test_versions_go_up_with_the_content_and_what_is_current_makes_none(service: RunningService) -> None:
    author = service.client("author")
    first, second = publish(author), publish(author, text=make_contract(1))
    size = log_size(author)
    again = author.put("/v1/contracts/orders", content=make_contract(1), headers=YAML)
    assert (again.status_code, again.json()) == (200, second | {"created": False})
    assert log_size(author) == size
    back = publish(author)
    assert [each["version"] for each in (first, second, back)] == [1, 2, 3]
    assert back["digest"] == first["digest"], "going back to old content is a version of its own"
    versions = get_all(author, "/v1/contracts/orders/versions", limit=2)
    assert [each["version"] for each in versions] == [3, 2, 1]
    assert [each["digest"] for each in versions] == [each["digest"] for each in (back, second, first)]
    assert get(author, "/v1/contracts/orders")["version"] == 3
    old = get(author, "/v1/contracts/orders/versions/2")
    assert (old["version"], old["record"]) == (2, second["record"])
    suites = [
        author.get(f"/v1/contracts/orders/versions/{number}/compiled").headers["x-suite-digest"]
        for number in (1, 2, 3)
    ]
    assert suites == [first["suite_digest"], second["suite_digest"], first["suite_digest"]]


def test_versions_published_at_once_are_numbered_without_gap_or_repetition(service: RunningService) -> None:
    authors = [service.client("author") for _ in range(8)]

    def publish_own(number: int) -> int:
        return int(publish(authors[number], text=make_contract(number))["version"])

    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(publish_own, range(8)))
    assert sorted(versions) == list(range(1, 9))


def test_same_content_published_at_once_is_one_version(service: RunningService) -> None:
    authors = [service.client("author") for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(publish, authors))
    assert {answer["version"] for answer in answers} == {1}
    assert sum(answer["created"] for answer in answers) == 1


def test_bytes_that_are_no_contract_are_refused_with_the_place(sqlite_service: RunningService) -> None:
    author = sqlite_service.client("author")
    size = log_size(author)
    broken = make_contract().replace("required: true", "required: 'yes'")
    answer = author.put("/v1/contracts/orders", content=broken, headers=YAML)
    assert_refused(answer, 422, "invalid_input", "line 11", "/schema/0/properties/0/required")
    assert answer.json()["errors"][0]["field"] == "/schema/0/properties/0/required"
    old = author.put("/v1/contracts/orders", content=OLD_SUITE)
    assert_refused(old, 422, "invalid_input", "0.18")
    other = author.put("/v1/contracts/orders", content=b"a,b", headers={"Content-Type": "text/csv"})
    assert_refused(other, 422, "invalid_input", "application/yaml")
    large = author.put("/v1/contracts/orders", content=b"#" * (2**20 + 1), headers=YAML)
    assert_refused(large, 413, "body_too_large")
    assert log_size(author) == size
    assert_refused(author.get("/v1/contracts/orders"), 404, "not_found")


def test_names_are_checked(sqlite_service: RunningService) -> None:
    author = sqlite_service.client("author")
    for name in ("-a", "a b", "ü", "a" * 129):
        answer = author.put(f"/v1/contracts/{name}", content=make_contract(), headers=YAML)
        assert_refused(answer, 422, "invalid_input", "name")


def test_suite_of_great_expectations_is_taken_as_json(sqlite_service: RunningService) -> None:
    author = sqlite_service.client("author")
    suite = (
        b'{"name": "s", "expectations": [{"type": "expect_column_values_to_not_be_null", '
        b'"kwargs": {"column": "id"}}]}'
    )
    answer = author.put("/v1/contracts/suite", content=suite, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["format"]) == (201, "gx")
    assert [each["name"] for each in answer.json()["objects"]] == [""]


def test_rule_that_cannot_be_checked_is_published_as_one_that_lets_nothing_pass(
    sqlite_service: RunningService,
) -> None:
    author = sqlite_service.client("author")
    text = make_contract().replace(
        "        required: true\n",
        "        required: true\n        quality:\n          - type: text\n            description: ids look right\n",
    )
    published = publish(author, text=text)
    assert published["objects"][0]["not_evaluated"] == 1
    (rule,) = get(author, "/v1/contracts/orders/compiled")["objects"][0]["not_evaluated"]
    assert (rule["rule"], bool(rule["reason"])) == ("/schema/0/properties/0/quality/0", True)


def test_lint_tells_what_is_wrong_and_stores_nothing(sqlite_service: RunningService) -> None:
    author = sqlite_service.client("author")
    size = log_size(author)
    good = author.post("/v1/contracts:lint", content=make_contract(), headers=YAML)
    assert good.status_code == 200
    assert (good.json()["ok"], good.json()["problems"], good.json()["format"]) == (True, [], "odcs")
    unbounded = make_contract().replace("logicalTypeOptions:\n          minimum: 0", "isNullable: false")
    bad = author.post("/v1/contracts:lint", content=unbounded, headers=YAML).json()
    assert not bad["ok"]
    assert [each["pointer"] for each in bad["problems"]] == ["/schema/0/properties/1/isNullable"]
    assert [each["rule"] for each in bad["not_evaluated"]] == ["/schema/0/properties/1/isNullable"]
    unreadable = author.post("/v1/contracts:lint", content=b"kind: [", headers=YAML).json()
    assert (unreadable["ok"], unreadable["format"]) == (False, None)
    assert unreadable["problems"][0]["line"] >= 1
    assert log_size(author) == size


def test_pinned_baseline_has_to_be_there(service: RunningService) -> None:
    author = service.client("author")
    text = make_contract(baseline=digest_of("baseline"))
    size = log_size(author)
    answer = author.put("/v1/contracts/orders", content=text, headers=YAML)
    assert_refused(answer, 422, "invalid_input", digest_of("baseline"), "POST /v1/baselines")
    assert log_size(author) == size


def test_contracts_are_listed_with_their_current_version_the_last_published_first(
    service: RunningService,
) -> None:
    author = service.client("author")
    for number, name in enumerate(("a", "b", "c", "a")):
        publish(author, name, make_contract(number))
    listed = get_all(author, "/v1/contracts", limit=1)
    assert [(each["name"], each["version"]) for each in listed] == [("a", 2), ("c", 1), ("b", 1)]
    stranger = service.client("author", namespace="team-b")
    assert get_all(stranger, "/v1/contracts") == []
    assert_refused(stranger.get("/v1/contracts/a"), 404, "not_found")
    assert publish(stranger, "a")["version"] == 1


@pytest.mark.parametrize("path", ["versions/9", "versions/9/compiled"])
def test_version_that_is_not_there_is_told(sqlite_service: RunningService, path: str) -> None:
    author = sqlite_service.client("author")
    publish(author)
    assert_refused(author.get(f"/v1/contracts/orders/{path}"), 404, "not_found", "version")


def test_revoked_version_is_marked(sqlite_service: RunningService) -> None:
    author = sqlite_service.client("author")
    published = publish(author)
    body = {"record": published["record"], "effect": "contested", "reason": "the bounds are guesses"}
    assert author.post("/v1/revocations", json=body).status_code == 201
    for shown in (get(author, "/v1/contracts/orders"), get_all(author, "/v1/contracts")[0]):
        assert [mark["effect"] for mark in shown["marks"]] == ["contested"]
