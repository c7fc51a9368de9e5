"""Library metrics with each operator, keys, row counts, columns and types, and the schema as it is stated."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gates.contracts.engine.opened import Format
from tests.gates.contracts.engine.support import as_parquet, check, found, outcomes, run, written

formats = pytest.mark.parametrize("format", ["parquet", "csv"])
ORDERS = pa.table(
    {
        "tenant": ["a", "a", "b", "b", None, "a"],
        "order": [1, 2, 1, 2, 3, 1],
        "unit": ["kg", "lb", "N/A", None, "kg", "st"],
    }
)


def metric(name: str, id: str, operator: str, value: Any, **others: Any) -> dict[str, Any]:
    return check("expect_library_metric", id, metric=name, operator=operator, value=value, **others)


@formats
def test_library_metrics_count_what_the_standard_says(tmp_path: Path, format: Format) -> None:
    listed = {"missingValues": [None, "N/A"]}
    checks = [
        metric("nullValues", "nulls", "mustBe", 1, column="unit"),
        metric("missingValues", "missing", "mustBe", 2, column="unit", arguments=listed),
        metric(
            "invalidValues", "invalid", "mustBe", 2, column="unit", arguments={"validValues": ["kg", "lb"]}
        ),
        metric("invalidValues", "pattern", "mustBe", 1, column="unit", arguments={"pattern": "^[a-z]+$"}),
        metric("duplicateValues", "duplicates", "mustBe", 3, column="order"),
        metric("duplicateValues", "combined", "mustBe", 1, columns=["tenant", "order"]),
        metric("duplicateValues", "percent", "mustBe", 50, column="order", unit="percent"),
        metric("rowCount", "rows", "mustBe", 6),
    ]
    result = run(tmp_path, written(ORDERS, format), checks, format)
    observed = {
        each["id"]: each["observed"] for each in result["checks"] if each["type"] == "expect_library_metric"
    }
    assert observed == {
        "nulls": 1, "missing": 2, "invalid": 2, "pattern": 1, "duplicates": 3, "combined": 1, "percent": 50, "rows": 6,
    }  # fmt: skip
    assert result["outcome"] == "passed"


def test_each_operator(tmp_path: Path) -> None:
    """`mustBeBetween` excludes its bounds, and at most 5 rows is at most 5."""
    asked: list[tuple[str, Any, str]] = [
        ("mustBe", 6, "passed"),
        ("mustNotBe", 6, "failed"),
        ("mustBeGreaterThan", 6, "failed"),
        ("mustBeGreaterOrEqualTo", 6, "passed"),
        ("mustBeLessThan", 6, "failed"),
        ("mustBeLessOrEqualTo", 5, "failed"),
        ("mustBeBetween", [6, 10], "failed"),
        ("mustBeBetween", [5, 7], "passed"),
        ("mustNotBeBetween", [6, 10], "passed"),
        ("mustNotBeBetween", [5, 7], "failed"),
        ("mustBeNear", 6, "error"),
        ("mustBeBetween", 6, "error"),
    ]
    checks = [metric("rowCount", str(n), operator, value) for n, (operator, value, _) in enumerate(asked)]
    result = run(tmp_path, as_parquet(ORDERS), checks)
    for number, (operator, value, outcome) in enumerate(asked):
        assert found(result, str(number))["outcome"] == outcome, (operator, value)


@formats
def test_composite_key_is_one_check(tmp_path: Path, format: Format) -> None:
    key = check("expect_composite_key_to_be_unique", columns=["tenant", "order"])
    result = found(run(tmp_path, written(ORDERS, format), [key], format))
    assert result["outcome"] == "failed"
    assert result["unexpected"] == 3  # the pair (a, 1) twice, and the order without tenant
    compound = [
        check("expect_compound_columns_to_be_unique", "all", column_list=["tenant", "order"]),
        check("expect_compound_columns_to_be_unique", "mostly", column_list=["tenant", "order"], mostly=0.6),
    ]
    answers = run(tmp_path, written(ORDERS, format), compound, format)
    assert [found(answers, id)["outcome"] for id in ("all", "mostly")] == ["failed", "passed"]
    assert found(answers, "all")["unexpected"] == 2
    unique = written(ORDERS.slice(0, 4), format)
    assert outcomes(run(tmp_path, unique, [key], format))["c"] == "passed"
    alone = check("expect_column_values_to_be_unique", column="tenant")
    assert found(run(tmp_path, unique, [alone], format))["unexpected"] == 4


@formats
def test_row_counts_and_columns(tmp_path: Path, format: Format) -> None:
    checks = [
        check("expect_table_row_count_to_be_between", "most", max_value=5),
        check("expect_table_row_count_to_equal", "equal", value=6),
        check("expect_table_row_count_to_be_between", "nothing"),
        check("expect_column_to_exist", "exists", column="order"),
        check("expect_column_to_exist", "case", column="Order"),
        check("expect_column_to_exist", "first", column="order", column_index=0),
        check("expect_table_column_count_to_equal", "columns", value=3),
        check("expect_table_columns_to_match_set", "set", column_set=["unit", "order"], exact_match=False),
        check("expect_table_columns_to_match_set", "exact", column_set=["unit", "order"]),
        check("expect_table_columns_to_match_ordered_list", "list", column_list=["tenant", "order", "unit"]),
        check("expect_column_values_to_be_of_type", "type", column="order", type_="int64"),
        check(
            "expect_column_values_to_be_in_type_list",
            "types",
            column="order",
            type_list=["string", "float64"],
        ),
    ]
    result = run(tmp_path, written(ORDERS, format), checks, format)
    expected = {
        "most": "failed", "equal": "passed", "nothing": "error", "exists": "passed", "case": "failed",
        "first": "failed", "columns": "passed", "set": "passed", "exact": "failed", "list": "passed",
        "type": "passed", "types": "failed",
    }  # fmt: skip
    assert {id: outcome for id, outcome in outcomes(result).items() if id in expected} == expected


def column(name: str, *types: str, nullable: bool = True, fields: Any = ()) -> dict[str, Any]:
    return {"name": name, "types": list(types), "nullable": nullable, "fields": list(fields)}


@formats
def test_schema_is_compared_by_name_type_and_nullability(tmp_path: Path, format: Format) -> None:
    data = written(ORDERS, format)
    right = [column("unit", "string"), column("order", "int32", "int64", nullable=False)]
    assert outcomes(run(tmp_path, data, [], format, columns=right))["schema_to_match"] == "passed"
    wrong = [
        column("tenant", "string", nullable=False),
        column("order", "timestamp"),
        column("Unit", "string"),
    ]
    result = found(run(tmp_path, data, [], format, columns=wrong), "schema_to_match")
    assert result["outcome"] == "failed"
    assert result["observed"] == 3
    for clause in ("tenant has nulls", "order is int64 instead of timestamp", "Unit is missing"):
        assert clause in result["reason"]


def test_nested_types_are_compared_by_their_fields(tmp_path: Path) -> None:
    inner = pa.struct([pa.field("lat", pa.float64()), pa.field("lon", pa.float32())])
    table = pa.table(
        {
            "place": pa.array([{"lat": 1.0, "lon": 2.0}], inner),
            "tags": pa.array([["a"]], pa.list_(pa.string())),
            "at": pa.array([0], pa.timestamp("us", "Europe/Berlin")),
        }
    )
    right = [
        column("place", "struct", fields=[column("lon", "float32"), column("lat", "float64")]),
        column("tags", "list", fields=[column("items", "string")]),
        column("at", "timestamp_tz"),
    ]
    assert outcomes(run(tmp_path, as_parquet(table), [], columns=right))["schema_to_match"] == "passed"
    wrong = [
        column("place", "struct", fields=[column("lon", "float64")]),
        column("tags", "list", fields=[column("items", "int64")]),
        column("at", "timestamp"),
    ]
    reason = found(run(tmp_path, as_parquet(table), [], columns=wrong), "schema_to_match")["reason"]
    for clause in ("place.lon is float32", "tags.element is string", "at is timestamp[us, tz=Europe/Berlin]"):
        assert clause in reason


def test_same_schema_has_the_same_digest_whatever_the_values(tmp_path: Path) -> None:
    first = run(tmp_path, as_parquet(ORDERS), [])["data"]
    second = run(tmp_path, as_parquet(ORDERS.slice(2)), [])["data"]
    renamed = run(tmp_path, as_parquet(ORDERS.rename_columns(["tenant", "order", "Unit"])), [])["data"]
    assert first["schema_digest"] == second["schema_digest"] != renamed["schema_digest"]
    assert first["footer_digest"] != second["footer_digest"]
    assert first["manifest"] != second["manifest"]
