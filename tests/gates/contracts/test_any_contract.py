"""What must hold for contracts that nobody thought of."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gates.contracts.compiling import compile_contract
from gates.contracts.document import ContractDocument, read_contract
from gates.contracts.gx_expectations import ALLOWED
from gates.contracts.kwargs import Expectation
from gates.contracts.linting import lint_contract
from gates.contracts.odcs_thresholds import OPERATORS
from gates.contracts.own_expectations import OWN
from gates.contracts.rules import rules_of
from gates.documents.problems import DocumentError
from shipworthy.formats.jcs import canonicalize
from tests.gates.contracts.contracts import accounted

words = st.sampled_from(
    ["", "a", "A", "error", "percent", "int64", "varchar(3)", "2020-01-01", "(?=a)", "^a+$", "9" * 20]
)
numbers = st.one_of(st.integers(-5, 5), st.floats(-3, 3), st.just(2**53), st.just(-(2**60)))
scalars = st.one_of(st.none(), st.booleans(), numbers, words, st.text(max_size=4))
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(words | st.just("$PARAMETER"), inner, max_size=3)
    ),
    max_leaves=6,
)
texts = words | st.text(max_size=4)
names = st.sampled_from(["a", "b", "A", "c.d", 'q"uote', "é"])


def some(members: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


pairs = st.lists(st.integers(-3, 5) | st.floats(-3, 5), min_size=2, max_size=2)
operators: dict[str, st.SearchStrategy[Any]] = {
    name: pairs if name.endswith("Between") else numbers for name in OPERATORS
} | {"mustBe": values, "mustNotBe": values}
implementations = texts | some(
    {
        "type": st.sampled_from([*ALLOWED, *OWN, "expect_nothing"]),
        "expectation": st.sampled_from([*OWN, "expect_nothing"]),
        "kwargs": st.dictionaries(
            st.sampled_from(["column", "min_value", "max_value", "value_set", "mostly"]), values
        ),
        "column": names,
        "max": values,
    }
)
quality = some(
    {
        "type": st.sampled_from(["library", "text", "sql", "custom", "other"]),
        "metric": st.sampled_from(
            ["nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount", "x"]
        ),
        "unit": st.sampled_from(["rows", "percent", "x"]),
        "severity": texts,
        "dimension": texts,
        "id": texts,
        "query": st.sampled_from(["SELECT 1", "SELECT {property} FROM {object}", ""]),
        "engine": st.sampled_from(["greatExpectations", "shipworthy", "soda", ""]),
        "implementation": implementations,
        "arguments": st.dictionaries(
            st.sampled_from(["missingValues", "validValues", "pattern", "properties"]), values
        ),
        "mustbe": values,
        **operators,
    }
)
options = st.dictionaries(
    st.sampled_from(
        [
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "format",
            "pattern",
            "minLength",
            "maxLength",
            "timezone",
            "defaultTimezone",
            "maxItems",
            "required",
            "dimensions",
            "other",
        ]
    ),
    values,
    max_size=4,
)
logical = st.sampled_from(
    [
        "string",
        "date",
        "timestamp",
        "time",
        "number",
        "integer",
        "object",
        "array",
        "boolean",
        "map",
        "vector",
        "x",
    ]
)
members: dict[str, st.SearchStrategy[Any]] = {
    "name": names,
    "physicalName": names,
    "physicalType": texts,
    "logicalType": logical,
    "logicalTypeOptions": options,
    "required": st.booleans(),
    "unique": st.booleans(),
    "primaryKey": st.booleans(),
    "primaryKeyPosition": st.integers(-1, 3),
    "partitioned": st.booleans(),
    "partitionKeyPosition": st.integers(-1, 3),
    "semanticType": st.sampled_from(["column", "measure"]),
    "enum": st.lists(some({"value": values}), max_size=2),
    "quality": st.lists(quality, max_size=2),
    "relationships": st.lists(some({"to": texts}), max_size=2),
    "isNullable": st.booleans(),
    "requird": values,
}
properties = st.recursive(
    some(members),
    lambda inner: some(
        {
            **members,
            "properties": st.lists(inner, max_size=2),
            "items": inner,
            "map": st.fixed_dictionaries({"key": inner, "value": inner}),
        }
    ),
    max_leaves=3,
)
objects = some(
    {
        "name": names,
        "properties": st.lists(properties, max_size=3),
        "quality": st.lists(quality, max_size=2),
        "relationships": st.lists(some({"to": texts}), max_size=1),
    }
)
agreements = some(
    {
        "property": st.sampled_from(["latency", "Freshness", "retention", ""]),
        "value": scalars,
        "unit": st.sampled_from(["d", "h", "m", "y", ""]),
        "element": st.sampled_from(["a", "a.b", "b.a,a.a", "", "."]),
        "severity": texts,
        "other": values,
    }
)
settings_of_ours = st.lists(
    some({"property": st.sampled_from(["shipworthy.baseline", "shipworthy.waive", "x"]), "value": values}),
    max_size=3,
)
contracts = st.fixed_dictionaries(
    {"kind": st.just("DataContract"), "apiVersion": st.just("v3.1.0")},
    optional={
        "schema": st.lists(objects, max_size=3),
        "slaProperties": st.lists(agreements, max_size=2),
        "slaDefaultElement": texts,
        "customProperties": settings_of_ours,
    },
)
kwarg_names = sorted({name for each in (*ALLOWED.values(), *OWN.values()) for name in each.kwargs})
suites = st.fixed_dictionaries(
    {
        "expectations": st.lists(
            some(
                {
                    "type": st.sampled_from([*ALLOWED, *OWN]),
                    "kwargs": st.dictionaries(
                        st.sampled_from([*kwarg_names, "row_condition"]), values, max_size=4
                    ),
                    "severity": texts,
                    "meta": values,
                }
            ),
            max_size=3,
        )
    },
    optional={"meta": st.dictionaries(st.just("shipworthy"), values)},
)


def read(contract: dict[str, Any]) -> ContractDocument | None:
    """The document; None for one of another shape, which is refused whole."""
    try:
        return read_contract(json.dumps(contract).encode(), "json")
    except DocumentError:
        return None


def check_promises(document: ContractDocument) -> None:
    compiled = compile_contract(document)
    assert [rule for rule in rules_of(document) if rule not in accounted(compiled)] == []
    assert canonicalize(json.loads(compiled.canonical)) == compiled.canonical
    ids = [check.id for each in compiled.objects for check in each.checks]
    assert len(set(ids)) == len(ids)
    for problem in lint_contract(document):
        assert problem.line >= 1
        assert problem.message


@given(contracts)
@settings(max_examples=100, deadline=None)
def test_every_rule_of_any_contract_is_accounted_for(contract: dict[str, Any]) -> None:
    if document := read(contract):
        check_promises(document)


@given(suites)
@settings(max_examples=100, deadline=None)
def test_every_expectation_of_any_suite_is_accounted_for(suite: dict[str, Any]) -> None:
    if document := read(suite):
        check_promises(document)


@given(values)
@settings(max_examples=100, deadline=None)
def test_kwargs_of_any_shape_are_told_and_never_raise(value: Any) -> None:
    specifications: list[Expectation] = [*ALLOWED.values(), *OWN.values()]
    for specification in specifications:
        for check in specification.kwargs.values():
            assert check(value) is None or isinstance(check(value), str)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for media in ("yaml", "json"):
        with suppress(DocumentError):
            assert read_contract(data, "yaml" if media == "yaml" else "json").lines[""] >= 1


@given(st.dictionaries(st.text(max_size=5), values | numbers, max_size=4))
@settings(max_examples=100, deadline=None)
def test_json_is_read_as_the_standard_library_reads_it(members: dict[str, Any]) -> None:
    suite = {"expectations": [], "meta": members}
    for text in (json.dumps(suite), json.dumps(suite, indent=2, ensure_ascii=False)):
        assert read_contract(text.encode(), "json").value == json.loads(text)
