"""What Great Expectations passes in silence: here it fails, is an error or is not evaluated, in both formats."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from gates.contracts.engine.opened import Format
from tests.gates.contracts.engine.support import as_csv, as_parquet, check, found, outcomes, run, written

BETWEEN = "expect_column_values_to_be_between"
formats = pytest.mark.parametrize("format", ["parquet", "csv"])


@formats
def test_data_without_rows_never_passes(tmp_path: Path, format: Format) -> None:
    table = pa.table({"fare": pa.array([], pa.float64())})
    result = run(tmp_path, written(table, format), [check(BETWEEN, column="fare", min_value=0)], format)
    assert result["outcome"] == "failed"
    assert outcomes(result) == {
        "c": "not_evaluated",
        "row_count_at_least_one": "failed",
    } | ({"no_nan:fare": "passed"} if format == "parquet" else {})
    assert result["data"]["rows"] == 0


def test_file_without_a_byte_makes_every_check_an_error(tmp_path: Path) -> None:
    for format in ("parquet", "csv"):
        result = run(tmp_path, b"", [check(BETWEEN, column="fare", min_value=0)], format)
        assert result["outcome"] == "error"
        assert set(outcomes(result).values()) == {"error"}


@formats
def test_column_of_nulls_is_not_evaluated(tmp_path: Path, format: Format) -> None:
    table = pa.table({"fare": pa.array([None] * 3, pa.float64()), "id": [1, 2, 3]})
    checks = [
        check(BETWEEN, "range", column="fare", min_value=0),
        check("expect_column_mean_to_be_between", "mean", column="fare", min_value=0),
        check("expect_column_values_to_not_be_null", "filled", column="fare"),
        check("expect_null_share_to_be_at_most", "share", column="fare", max=0.5),
    ]
    result = run(tmp_path, written(table, format), checks, format)
    found_outcomes = {id: outcome for id, outcome in outcomes(result).items() if ":" not in id}
    assert found_outcomes == {
        "range": "not_evaluated",
        "mean": "not_evaluated",
        "filled": "failed",
        "share": "failed",
        "row_count_at_least_one": "passed",
    }
    assert found(result, "filled")["unexpected"] == 3


@formats
def test_nan_is_no_value_within_a_range_and_fails_by_itself(tmp_path: Path, format: Format) -> None:
    table = pa.table({"fare": [1.0, float("nan"), 3.0]})
    checks = [
        check(BETWEEN, "low", column="fare", min_value=0),
        check(BETWEEN, "high", column="fare", max_value=10),
        check("expect_column_values_to_not_be_null", "filled", column="fare"),
    ]
    data = written(table, format)
    result = run(tmp_path, data, checks, format)
    assert outcomes(result) == {
        "low": "failed",
        "high": "failed",
        "filled": "passed",
        "row_count_at_least_one": "passed",
        "no_nan:fare": "failed",
    }
    assert found(result, "no_nan:fare")["observed"] == 1
    waived = run(tmp_path, data, checks[2:], format, waived=["no_nan:fare"])
    assert outcomes(waived) == {"filled": "passed", "row_count_at_least_one": "passed"}
    assert waived["outcome"] == "passed"


@formats
def test_integers_beyond_doubles_are_compared_exactly(tmp_path: Path, format: Format) -> None:
    table = pa.table({"id": [2**53 + 1, 5]})
    checks = [
        check("expect_int64_values_to_be_between", "too_low", column="id", max=str(2**53)),
        check("expect_int64_values_to_be_between", "just", column="id", max=str(2**53 + 1)),
        check(
            "expect_int64_values_to_be_between", "strict", column="id", max=str(2**53 + 1), strict_max=True
        ),
        check("expect_int64_values_to_be_between", "mostly", column="id", max=str(2**53), mostly=0.5),
        check(BETWEEN, "json_number", column="id", max_value=float(2**53)),
    ]
    result = run(tmp_path, written(table, format), checks, format)
    assert [found(result, id)["outcome"] for id in ("too_low", "just", "strict", "mostly")] == [
        "failed",
        "passed",
        "failed",
        "passed",
    ]
    refused = found(result, "json_number")
    assert refused["outcome"] == "error"
    assert "2^53" in refused["reason"]


@formats
def test_names_that_differ_only_in_case_are_told_apart(tmp_path: Path, format: Format) -> None:
    table = pa.table({"id": [1, 2], "Id": [7, 7], "fare": [1, 2]})
    checks = [
        check("expect_column_values_to_be_unique", "unique", column="id"),
        check("expect_column_values_to_be_unique", "other", column="fare"),
    ]
    result = run(tmp_path, written(table, format), checks, format)
    assert found(result, "unique")["outcome"] == "error"
    assert found(result, "other")["outcome"] == "passed"
    assert found(result, "schema_to_match")["outcome"] == "failed"
    single = run(
        tmp_path, written(table.select(["Id"]), format), [check(BETWEEN, column="id", min_value=0)], format
    )
    assert found(single)["outcome"] == "error"
    assert "'Id'" in found(single)["reason"]


@formats
def test_column_that_is_there_twice_fails(tmp_path: Path, format: Format) -> None:
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([1, 1])], names=["id", "id"])
    result = run(tmp_path, written(table, format), [check(BETWEEN, column="id", min_value=0)], format)
    assert outcomes(result) == {"c": "error", "row_count_at_least_one": "passed", "schema_to_match": "failed"}


def test_bound_and_column_have_to_agree_about_zones(tmp_path: Path) -> None:
    times = [datetime(2019, 1, 1, 10, tzinfo=UTC), datetime(2019, 1, 2, 10, tzinfo=UTC)]
    table = pa.table(
        {
            "aware": pa.array(times, pa.timestamp("us", "UTC")),
            "naive": pa.array([time.replace(tzinfo=None) for time in times], pa.timestamp("us")),
        }
    )
    checks = [
        check(BETWEEN, "aware_naive", column="aware", min_value="2019-01-01T00:00:00"),
        check(BETWEEN, "naive_aware", column="naive", min_value="2019-01-01T00:00:00Z"),
        check(BETWEEN, "aware", column="aware", min_value="2019-01-01T12:00:00+02:00"),
        check(BETWEEN, "aware_late", column="aware", min_value="2019-01-01T12:00:01+02:00"),
        check("expect_column_max_to_be_between", "latest", column="naive", max_value="2019-01-02T10:00:00"),
        check("expect_column_max_to_be_between", "mixed", column="naive", max_value="2019-01-02T10:00:00Z"),
    ]
    result = run(tmp_path, as_parquet(table), checks)
    assert [found(result, each["id"])["outcome"] for each in checks] == [
        "error",
        "error",
        "passed",
        "failed",
        "passed",
        "error",
    ]
    assert "zone" in found(result, "aware_naive")["reason"]


@formats
def test_bound_that_is_a_day_includes_the_whole_day(tmp_path: Path, format: Format) -> None:
    table = pa.table({"at": pa.array([datetime(2019, 1, 31, 23, 59, tzinfo=UTC)], pa.timestamp("s"))})
    checks = [
        check(BETWEEN, "through", column="at", max_value="2019-01-31"),
        check(BETWEEN, "before", column="at", max_value="2019-01-31", strict_max=True),
        check(BETWEEN, "from", column="at", min_value="2019-01-31"),
        check(BETWEEN, "after", column="at", min_value="2019-01-31", strict_min=True),
        check("expect_column_max_to_be_between", "latest", column="at", max_value="2019-01-31"),
        check("expect_column_min_to_be_between", "earliest", column="at", min_value="2019-02-01"),
    ]
    result = run(tmp_path, written(table, format), checks, format)
    assert [found(result, each["id"])["outcome"] for each in checks] == [
        "passed",
        "failed",
        "passed",
        "failed",
        "passed",
        "failed",
    ]


def test_csv_that_a_sniffer_would_mend_is_an_error(tmp_path: Path) -> None:
    """DuckDB's sniffer gives no row at all for a file with one field too many."""
    for data in (b"a,b\n1,2\n3,4,5\n", b"a,b\n1,2\n3\n", b'a,b\n1,"x\n2,y\n', b"a\n\xff\n"):
        result = run(tmp_path, data, [check(BETWEEN, column="a", min_value=0)], "csv")
        assert result["outcome"] == "error"
        assert outcomes(result)["c"] == "error"


def test_leading_zeros_of_csv_stay_text_unless_declared(tmp_path: Path) -> None:
    checks = [check("expect_column_values_to_match_regex", column="zip", regex=r"^\d{5}$")]
    assert outcomes(run(tmp_path, b"zip\n01234\n99999\n", checks, "csv"))["c"] == "passed"
    declared = [{"name": "zip", "types": ["string"], "nullable": False, "fields": []}]
    result = run(tmp_path, b"zip\n11234\n99999\n", checks, "csv", columns=declared)
    assert outcomes(result) == {
        "c": "passed",
        "row_count_at_least_one": "passed",
        "schema_to_match": "passed",
    }


def test_mixed_ends_of_lines_are_read(tmp_path: Path) -> None:
    table = as_csv(pa.table({"a": [1, 2]})).replace(b"\n", b"\r\n", 1)
    assert run(tmp_path, table, [], "csv")["data"]["rows"] == 2
