"""Types, keys, options and enums of ODCS properties."""

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


@pytest.mark.parametrize(
    ("members", "kind", "kwargs"),
    [
        (
            "logicalType: integer\nlogicalTypeOptions: {minimum: 18, exclusiveMaximum: 100}",
            "expect_int64_values_to_be_between",
            {"min": "18", "max": "100", "strict_min": False, "strict_max": True, "mostly": 1},
        ),
        (
            "logicalType: integer\nlogicalTypeOptions: {maximum: 9007199254740993}",
            "expect_int64_values_to_be_between",
            {"min": None, "max": "9007199254740993", "strict_min": False, "strict_max": False, "mostly": 1},
        ),
        (
            "logicalType: integer\nlogicalTypeOptions: {maximum: '9007199254740993', exclusiveMinimum: 0.5}",
            "expect_int64_values_to_be_between",
            {"min": "1", "max": "9007199254740993", "strict_min": False, "strict_max": False, "mostly": 1},
        ),
        (
            "logicalType: number\nlogicalTypeOptions: {minimum: 0, exclusiveMinimum: 0, maximum: 1.5}",
            "expect_column_values_to_be_between",
            {"min_value": 0, "max_value": 1.5, "strict_min": True, "strict_max": False},
        ),
        (
            "logicalType: date\nlogicalTypeOptions: {exclusiveMinimum: 2020-01-01}",
            "expect_column_values_to_be_between",
            {"min_value": "2020-01-01", "strict_min": True},
        ),
        (
            "logicalType: timestamp\nlogicalTypeOptions: {maximum: 2021-01-01 00:00:00+10:00}",
            "expect_column_values_to_be_between",
            {"max_value": "2020-12-31T14:00:00+00:00", "strict_max": False},
        ),
        (
            "logicalType: timestamp\n"
            "logicalTypeOptions: {minimum: '2021-01-01 00:00', timezone: true, defaultTimezone: Asia/Tokyo}",
            "expect_column_values_to_be_between",
            {"min_value": "2020-12-31T15:00:00+00:00", "strict_min": False},
        ),
        (
            "logicalType: timestamp\nlogicalTypeOptions: {maximum: 2021-01-01}",
            "expect_column_values_to_be_between",
            {"max_value": "2021-01-01", "strict_max": False},
        ),
        (
            "logicalType: string\nlogicalTypeOptions: {minLength: 2, maxLength: 11}",
            "expect_column_value_lengths_to_be_between",
            {"min_value": 2, "max_value": 11},
        ),
        (
            "logicalType: string\nlogicalTypeOptions: {pattern: 'ACC[0-9]{8}'}",
            "expect_column_values_to_match_regex",
            {"regex": "ACC[0-9]{8}"},
        ),
        (
            "enum: [{value: a, label: A}, {value: b}]",
            "expect_column_values_to_be_in_set",
            {"value_set": ["a", "b"]},
        ),
    ],
)
def test_option_compiles_to_one_check(members: str, kind: str, kwargs: dict[str, Any]) -> None:
    document = one_column(members)
    (check,) = checks(document)
    assert check.type == kind
    assert check.kwargs == {"column": "amount", **kwargs}
    assert check.about.blocking
    assert errors(document) == {}


def test_format_of_a_text_is_checked_for_uuid_only_where_it_can_be() -> None:
    (check,) = checks(one_column("logicalType: string\nlogicalTypeOptions: {format: uuid}"))
    assert check.type == "expect_column_values_to_match_regex"
    hint = left(one_column("logicalType: string\nlogicalTypeOptions: {format: email}"))
    rule = hint["/schema/0/properties/0/logicalTypeOptions/format"]
    assert not rule.blocking
    assert "uuid and ipv4 only" in rule.reason


@pytest.mark.parametrize(
    ("members", "option", "told"),
    [
        ("logicalType: integer\nlogicalTypeOptions: {minimum: 5, maximum: 3}", "minimum", "swap them"),
        (
            "logicalType: integer\nlogicalTypeOptions: {exclusiveMinimum: 5, exclusiveMaximum: 6}",
            "exclusiveMaximum",
            "no whole number lies between",
        ),
        ("logicalType: number\nlogicalTypeOptions: {minimum: x}", "minimum", "must be a number"),
        (
            "logicalType: string\nlogicalTypeOptions: {pattern: '(?=a)b'}",
            "pattern",
            "DuckDB matches with RE2",
        ),
        ("logicalType: string\nlogicalTypeOptions: {minLength: 3, maxLength: 2}", "minLength", "swap them"),
        ("logicalType: string\nlogicalTypeOptions: {minLength: -1}", "minLength", "0 or more"),
        (
            "logicalType: string\nlogicalTypeOptions: {minimum: 1}",
            "minimum",
            "is no option of logicalType string",
        ),
        ("logicalTypeOptions: {minimum: 1}", "minimum", "set logicalType"),
        ("logicalType: date\nlogicalTypeOptions: {minimum: 31.12.2020}", "minimum", "ISO 8601 date"),
        (
            "logicalType: timestamp\nlogicalTypeOptions: {minimum: 2020-01-01 00:00+01:00, timezone: false}",
            "minimum",
            "leave the offset out",
        ),
        (
            "logicalType: timestamp\nlogicalTypeOptions: {minimum: 2020-01-01, timezone: true}",
            "minimum",
            "write an instant with its offset",
        ),
        (
            "logicalType: timestamp\nlogicalTypeOptions: {defaultTimezone: Mars/North}",
            "defaultTimezone",
            "IANA time zone",
        ),
        ("logicalType: integer\nlogicalTypeOptions: {format: i33}", "format", "is no numeric format"),
    ],
)
def test_faulty_option_is_told_and_blocks(members: str, option: str, told: str) -> None:
    document = one_column(members)
    place = f"/schema/0/properties/0/logicalTypeOptions/{option}"
    assert told in errors(document)[place]
    assert left(document)[place].blocking


@pytest.mark.parametrize(
    ("members", "option"),
    [
        ("logicalType: integer\nlogicalTypeOptions: {multipleOf: 5}", "multipleOf"),
        ("logicalType: time\nlogicalTypeOptions: {minimum: '08:00:00'}", "minimum"),
        ("logicalType: array\nlogicalTypeOptions: {maxItems: 3}", "maxItems"),
        ("logicalType: object\nlogicalTypeOptions: {required: [a]}", "required"),
        ("logicalType: vector\nlogicalTypeOptions: {dimensions: 384}", "dimensions"),
    ],
)
def test_option_that_no_check_exists_for_keeps_the_outcome_from_passed(members: str, option: str) -> None:
    assert left(one_column(members))[f"/schema/0/properties/0/logicalTypeOptions/{option}"].blocking


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
