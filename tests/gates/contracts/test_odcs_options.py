"""Options and enums of ODCS properties."""

from typing import Any

import pytest

from tests.gates.contracts.contracts import checks, errors, left, one_column


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
