"""Types, keys and names of ODCS properties."""

import json
from typing import Any

import pytest

from gates.contracts.compiling import compile_contract
from gates.contracts.document import ContractDocument
from gates.contracts.linting import lint_contract
from tests.gates.contracts.contracts import checks, errors, left, odcs, one_column


def types_of(document: ContractDocument) -> tuple[str, ...]:
    columns = compile_contract(document).objects[0].columns
    assert columns is not None
    return columns[0].types


@pytest.mark.parametrize(
    ("members", "types"),
    [
        ("logicalType: boolean", ("bool",)),
        ("logicalType: date", ("date32", "date64")),
        ("logicalType: timestamp", ("timestamp", "timestamp_tz")),
        ("logicalType: timestamp\nlogicalTypeOptions: {timezone: true}", ("timestamp_tz",)),
        ("logicalType: timestamp\nlogicalTypeOptions: {timezone: false}", ("timestamp",)),
        ("logicalType: timestamp\nphysicalType: 'timestamp[us, tz=UTC]'", ("timestamp_tz",)),
        ("logicalType: integer\nphysicalType: int64", ("int64",)),
        ("logicalType: integer\nphysicalType: INT32", ("int32",)),
        ("logicalType: number\nphysicalType: double", ("float64",)),
        ("physicalType: decimal128(10, 2)", ("decimal128",)),
        (
            "logicalType: integer\nlogicalTypeOptions: {format: i32}",
            ("int8", "int16", "int32", "uint8", "uint16"),
        ),
        ("logicalType: integer\nlogicalTypeOptions: {format: u16}", ("uint8", "uint16")),
        ("logicalType: number\nlogicalTypeOptions: {format: f32}", ("float16", "float32")),
        # A database's name says only which family: its int may have any width.
        ("logicalType: string\nphysicalType: varchar(18)", ("string", "large_string", "string_view")),
        ("physicalType: character varying", ("string", "large_string", "string_view")),
        ("physicalType: Name", ()),
        ("description: anything", ()),
    ],
)
def test_column_may_have_these_arrow_types(members: str, types: tuple[str, ...]) -> None:
    assert types_of(one_column(members)) == types


def test_nested_types_and_nullability_are_part_of_the_schema() -> None:
    document = odcs(
        """
        schema:
          - name: orders
            properties:
              - name: lines
                logicalType: array
                required: true
                items:
                  logicalType: object
                  properties: [{name: sku, logicalType: string, required: true}]
              - name: tags
                logicalType: map
                map: {key: {logicalType: string}, value: {logicalType: integer}}
        """
    )
    columns: Any = json.loads(compile_contract(document).canonical)["objects"][0]["columns"]
    text = {"types": ["string", "large_string", "string_view"], "fields": []}
    assert columns[0] == {
        "name": "lines",
        "types": ["list", "large_list", "fixed_size_list"],
        "nullable": False,
        "fields": [
            {
                "name": "element",
                "types": ["struct"],
                "nullable": True,
                "fields": [{"name": "sku", "nullable": False, **text}],
            }
        ],
    }
    assert [each["name"] for each in columns[1]["fields"]] == ["key", "value"]
    inside = left(document)["/schema/0/properties/0/items/properties/0/required"]
    assert inside.blocking
    assert "inside of a column" in inside.reason


def test_schema_check_covers_the_rules_on_types() -> None:
    document = one_column("logicalType: integer\nphysicalType: int64\nlogicalTypeOptions: {format: i64}")
    (schema,) = compile_contract(document).objects[0].checks
    place = "/schema/0/properties/0"
    assert (schema.id, schema.type) == ("schema_to_match", "expect_schema_to_match")
    assert schema.covers == (
        "/schema/0",
        f"{place}/logicalType",
        f"{place}/logicalTypeOptions/format",
        f"{place}/physicalType",
    )


def test_types_that_exclude_each_other_are_told() -> None:
    document = one_column("logicalType: integer\nphysicalType: double")
    assert "exclude each other" in errors(document)["/schema/0/properties/0/physicalType"]
    disagreeing = one_column("logicalType: date\nphysicalType: timestamp")
    (problem,) = lint_contract(disagreeing)
    assert problem.severity == "warning"
    assert types_of(disagreeing) == ("date32", "date64", "timestamp", "timestamp_tz")


def test_composite_key_is_one_check_in_the_order_of_its_positions() -> None:
    document = odcs(
        """
        schema:
          - name: orders
            properties:
              - {name: line, primaryKey: true, primaryKeyPosition: 2}
              - {name: note}
              - {name: id, physicalName: order_id, primaryKey: true, primaryKeyPosition: 1, required: true}
        """
    )
    found = {check.id: check for check in checks(document)}
    assert sorted(found) == ["not_null:line", "not_null:order_id", "primary_key"]
    assert found["primary_key"].kwargs == {"columns": ["order_id", "line"]}
    assert found["primary_key"].about.dimension == "uniqueness"
    assert found["not_null:order_id"].covers == (
        "/schema/0/properties/2/primaryKey",
        "/schema/0/properties/2/required",
    )


def test_key_of_one_column_covers_its_uniqueness() -> None:
    document = one_column("primaryKey: true\nunique: true")
    assert [check.id for check in checks(document)] == ["not_null:amount", "primary_key"]
    assert [check.id for check in checks(one_column("unique: true"))] == ["unique:amount"]


def test_names_that_differ_in_case_and_names_twice_are_told() -> None:
    document = odcs(
        """
        schema:
          - name: orders
            properties: [{name: id, required: true}, {name: Id}, {name: x}, {name: x}]
        """
    )
    told = errors(document)
    assert "differ in case only" in told["/schema/0/properties/1"]
    assert "is declared twice" in told["/schema/0/properties/3"]


def test_measure_has_no_column() -> None:
    document = odcs(
        """
        schema:
          - name: orders
            properties:
              - {name: amount, logicalType: number}
              - {name: revenue, semanticType: measure, logicalType: number, required: true}
        """
    )
    (only,) = compile_contract(document).objects
    assert only.columns is not None
    assert [column.name for column in only.columns] == ["amount"]
    assert not left(document)["/schema/0/properties/1/required"].blocking


def test_misspelt_member_is_not_lost() -> None:
    document = one_column("requird: true")
    assert "did you mean `required`?" in errors(document)["/schema/0/properties/0/requird"]
    assert left(document)["/schema/0/properties/0/requird"].blocking
    top = odcs("slaProperty: []\nschema: [{name: a, properties: [{name: b, required: true}]}]")
    assert "did you mean `slaProperties`?" in errors(top)["/slaProperty"]
