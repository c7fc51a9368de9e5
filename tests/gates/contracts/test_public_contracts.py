"""Contracts that others wrote: each of their rules is checked, or listed with a reason."""

from pathlib import Path

import pytest

from gates.contracts.compiling import compile_contract
from gates.contracts.document import ContractDocument, read_contract
from gates.contracts.linting import lint_contract
from gates.contracts.rules import rules_of
from gates.documents.pointers import resolve
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize
from tests.gates.contracts.contracts import DATA, accounted

FILES = sorted((DATA / "odcs").glob("*.yaml")) + sorted((DATA / "suites").glob("*.json"))


def read(path: Path) -> ContractDocument:
    return read_contract(path.read_bytes(), "json" if path.suffix == ".json" else "yaml")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_rule_is_accounted_for(path: Path) -> None:
    document = read(path)
    compiled = compile_contract(document)
    rules = rules_of(document)
    assert len(rules) >= 3
    assert [rule for rule in rules if rule not in accounted(compiled)] == []
    # And nothing is listed that the contract doesn't say: other pointers are those of objects.
    objects = {f"/schema/{index}" for index in range(len(compiled.objects))} | {""}
    assert accounted(compiled) - set(rules) - objects == set()
    for pointer in accounted(compiled):
        resolve(dict(document.value), pointer)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_suite_is_canonical_and_ids_are_unique(path: Path) -> None:
    compiled = compile_contract(read(path))
    assert compiled.canonical == canonicalize(compiled.suite)
    assert compiled.digest == sha256_digest(compiled.canonical) == compile_contract(read(path)).digest
    ids = [check.id for each in compiled.objects for check in each.checks]
    assert len(set(ids)) == len(ids)
    assert all(check.rule in check.covers for each in compiled.objects for check in each.checks)
    assert all(len(rule.reason) > 15 for each in compiled.objects for rule in each.not_evaluated)


def test_files_of_all_kinds_are_there() -> None:
    assert len(FILES) == 14
    assert sum(len(rules_of(read(path))) for path in FILES) > 1200


def test_adventureworks_primary_keys_of_several_columns_are_one_check() -> None:
    compiled = compile_contract(read(DATA / "odcs/bitol-postgresql-adventureworks-contract.odcs.yaml"))
    offers = next(each for each in compiled.objects if each.name == "specialofferproduct")
    keys = [check for check in offers.checks if check.type == "expect_composite_key_to_be_unique"]
    assert [check.kwargs for check in keys] == [{"columns": ["specialofferid", "productid"]}]
    assert keys[0].id == "specialofferproduct/primary_key"


def test_orders_freshness_is_an_age_in_seconds_and_sql_waits_for_permission() -> None:
    compiled = compile_contract(read(DATA / "odcs/dccli-orders-orders.odcs.yaml"))
    orders, items = compiled.objects
    ages = [check for check in orders.checks if check.type == "expect_age_to_be_at_most"]
    assert ages[0].rule == "/slaProperties/1"
    assert ages[0].kwargs == {
        "column": "order_timestamp",
        "max_seconds": 86400,
        "time_zone": "UTC",
        "future_tolerance_seconds": 300,
    }
    queries = [check.kwargs for check in orders.checks if check.type == "expect_sql_result"]
    assert queries == [
        {"query": "SELECT COUNT(*) FROM orders WHERE order_total < 0", "operator": "mustBe", "value": 0},
        {"query": "SELECT COUNT(*) FROM orders", "operator": "mustBeGreaterThan", "value": 1000},
    ]
    retention = {rule.rule: rule for rule in items.not_evaluated}["/slaProperties/0"]
    assert "only latency and freshness are checked" in retention.reason
    assert not retention.blocking


def test_agreement_on_an_unknown_object_blocks_and_is_told() -> None:
    document = read(DATA / "odcs/bitol-database-table-sla.odcs.yaml")
    (only,) = compile_contract(document).objects
    blocking = [rule.rule for rule in only.not_evaluated if rule.blocking]
    assert blocking == ["/slaProperties/0", ""]
    told = {each.pointer: each for each in lint_contract(document)}
    assert told["/slaProperties/0"].line == 11
    assert "names no object of the contract" in told["/slaProperties/0"].message


def test_real_suites_compile_without_a_problem() -> None:
    for path in sorted((DATA / "suites").glob("*.json")):
        document = read(path)
        assert lint_contract(document) == []
        assert len(compile_contract(document).objects[0].checks) == len(rules_of(document))


def test_members_of_earlier_versions_are_told_with_their_new_name() -> None:
    document = read(DATA / "odcs/dccli-postgres-odcs.yaml")
    told = {each.pointer: (each.severity, each.message) for each in lint_contract(document)}
    severity, message = told["/schema/0/properties/0/isNullable"]
    assert severity == "error"
    assert "v3 calls it `required` (with the opposite value)" in message
    assert told["/schema/0/properties/1/isNullable"][0] == "warning"
