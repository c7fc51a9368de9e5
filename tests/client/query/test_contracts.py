"""Contracts, checks and baselines as a program asks for them, on both databases."""

from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from shipworthy.query.client import ShipworthyClient
from shipworthy.query.errors import InvalidRequest, NotFound
from tests.client.cli.contracts import working
from tests.client.query.test_client import token_of
from tests.support.contracts import complete, give_up, make_baseline, make_contract, result_of
from tests.support.service import RunningService

ORDERS = make_contract().encode()


@pytest.fixture
def client(service: RunningService) -> Iterator[ShipworthyClient]:
    author = service.client("author", owner="ada@example.org")
    with ShipworthyClient(service.url, token_of(author)) as asking:
        yield asking


@pytest.fixture
def worker(service: RunningService) -> httpx.Client:
    return service.client("worker")


def test_contract_is_linted_published_and_read_back(client: ShipworthyClient) -> None:
    looked_over = client.lint_contract(ORDERS)
    assert (looked_over.ok, looked_over.format, looked_over.not_evaluated) == (True, "odcs", ())
    first = client.publish_contract("orders", ORDERS, "application/yaml")
    again = client.publish_contract("orders", ORDERS)
    assert (first.is_new, again.is_new, again.contract.version) == (True, False, 1)
    second = client.publish_contract("orders", make_contract(minimum=1).encode()).contract
    assert second.version == 2
    assert [each.digest for each in client.contracts()] == [second.digest]
    assert client.contract("orders", 1).digest == first.contract.digest
    assert client.contract_source(first.contract) == ORDERS
    (table,) = first.contract.tables
    assert (table.name, table.checks) == ("orders", looked_over.tables[0].checks)
    assert [each["name"] for each in client.compiled_contract("orders")["objects"]] == ["orders"]


def test_lint_tells_the_place_of_what_is_wrong(client: ShipworthyClient) -> None:
    found = client.lint_contract(ORDERS.replace(b"logicalType: integer", b"logicalType: integre"))
    (problem,) = [each for each in found.problems if each.severity == "error"]
    assert not found.ok
    assert problem.pointer.startswith("/schema/0/properties/0")
    assert ORDERS.splitlines()[problem.line - 1].strip() == b"logicalType: integer"


def test_bytes_that_are_no_contract_are_refused_with_their_lines(client: ShipworthyClient) -> None:
    with pytest.raises(InvalidRequest) as refused:
        client.publish_contract("orders", b"kind: DataContract\nschema: 7\n")
    assert refused.value.problems
    assert all(each.message.startswith("line ") for each in refused.value.problems)


def test_check_is_waited_for_and_told(client: ShipworthyClient, worker: httpx.Client) -> None:
    published = dict(client.publish_contract("orders", ORDERS).contract.document)
    when = datetime(2026, 5, 2, tzinfo=UTC)
    asked = client.check_contract("orders", root="lake", path="orders", as_of=when, parameters={"day": 1})
    told: list[str] = []
    with working(worker, lambda worker, work: complete(worker, work, result_of(work, published, failed=1))):
        found = client.wait_for_check(asked.id, 30, lambda work: told.append(work.state))
    assert told[-1] == "done"
    assert found.outcome == "failed"
    assert found.result is not None
    assert found.result.counts["failed"] == 1
    (failed,) = [each for each in found.result.checks if each.outcome == "failed"]
    assert (failed.columns, failed.observed, failed.blocking) == (("id",), 0.25, True)
    assert found.work.record is not None
    assert client.check(found.work.record).result == found.result
    assert [each["outcome"] for each in client.checks(contract="orders", outcome="failed")] == ["failed"]
    assert list(client.checks(outcome="passed")) == []


def test_check_without_a_result_is_an_error_and_never_passed(
    client: ShipworthyClient, worker: httpx.Client
) -> None:
    client.publish_contract("orders", ORDERS)
    waiting = client.check_contract("orders", root="lake", path="orders")
    assert client.check(waiting.id).outcome == "not_evaluated"
    assert client.cancel_check(waiting.id).state == "cancelled"
    assert client.check(waiting.id).outcome == "error"
    killed = client.check_contract("orders", root="lake", path="orders")
    with working(worker, lambda worker, work: give_up(worker, work, retry=False)):
        found = client.wait_for_check(killed.id, 30)
    assert (found.outcome, found.work.state, found.result) == ("error", "failed", None)
    assert "memory limit" in str(found.work.reason)


def test_baseline_is_made_and_read(client: ShipworthyClient, worker: httpx.Client) -> None:
    asked = client.make_baseline(root="lake", path="orders", numbers=["amount"], labels=["country"])
    with working(worker, lambda worker, work: complete(worker, work, make_baseline())):
        made = client.wait_for_work(asked.id, 30)
    assert made.baseline is not None
    found = client.baseline(made.baseline)
    assert (found.digest, found.rows, found.approvals) == (made.baseline, 10, ())
    assert [column["name"] for column in found.columns] == ["amount", "country"]
    with pytest.raises(NotFound):
        client.baseline("sha256:" + "0" * 64)
