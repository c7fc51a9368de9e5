"""What goes in comes out: a check that can't be judged is an error for itself, with a reason, and for no other."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from gates.contracts.engine.opened import Format
from shipworthy.formats.jcs import canonicalize
from tests.gates.contracts.engine.support import as_parquet, check, found, outcomes, run, written

BETWEEN = "expect_column_values_to_be_between"
formats = pytest.mark.parametrize("format", ["parquet", "csv"])
TABLE = pa.table({"fare": [n % 50 for n in range(2000)], "kind": ["ab"[n % 2] for n in range(2000)]})


@formats
def test_error_stays_with_its_own_check(tmp_path: Path, format: Format) -> None:
    partition = {"values": ["a", "b"], "weights": [0.5, 0.6]}
    checks = [
        check(BETWEEN, "good", column="fare", min_value=0, max_value=49),
        check(BETWEEN, "no_parameter", column="fare", min_value={"$PARAMETER": "floor"}),
        check(
            "expect_column_kl_divergence_to_be_less_than",
            "kl",
            column="kind",
            partition_object=partition,
            threshold=1,
        ),
        check("expect_column_mean_to_be_between", "no_column", column="gone", min_value=0),
        check("expect_column_mean_to_be_between", "no_number", column="kind", min_value=0),
        check("expect_quantiles_to_be_between", "text", column="kind", quantiles=[0.5], ranges=[[0, 1]]),
        check("expect_something_else", "unknown", column="fare"),
        check("expect_column_values_to_match_regex", "regex", column="kind", regex="(?=a)"),
        check("expect_binned_ks_to_be_at_most", "no_baseline", column="fare", max=0.1),
        check("expect_sql_result", "sql", query="SELECT 1", operator="mustBe", value=1),
    ]
    result = run(tmp_path, written(TABLE, format), checks, format)
    assert outcomes(result) == {
        "good": "passed",
        **dict.fromkeys(
            ["no_parameter", "kl", "no_column", "no_number", "text", "unknown", "regex", "no_baseline"],
            "error",
        ),
        "sql": "not_evaluated",
        "row_count_at_least_one": "passed",
    }
    assert result["outcome"] == "error"
    assert result["counts"] == {"passed": 2, "not_evaluated": 1, "failed": 0, "error": 8}
    assert "'floor'" in found(result, "no_parameter")["reason"]
    assert "'gone'" in found(result, "no_column")["reason"]
    assert "partition_object" in found(result, "kl")["reason"]
    assert all(each["reason"].endswith((".", "provided")) for each in result["checks"])


def test_parameters_are_filled_in(tmp_path: Path) -> None:
    checks = [check(BETWEEN, column="fare", min_value={"$PARAMETER": "floor"})]
    assert found(run(tmp_path, as_parquet(TABLE), checks, parameters={"floor": 0}))["outcome"] == "passed"
    assert found(run(tmp_path, as_parquet(TABLE), checks, parameters={"floor": 1}))["outcome"] == "failed"


def test_contract_with_only_text_rules_never_passes(tmp_path: Path) -> None:
    texts = [{"rule": "/schema/0/quality/0", "reason": "A text rule is for people.", "blocking": False}]
    result = run(tmp_path, as_parquet(TABLE), [], not_evaluated=texts)
    assert result["outcome"] == "not_evaluated"
    assert result["counts"]["not_evaluated"] == 1


def test_rule_that_does_not_block_does_not_decide(tmp_path: Path) -> None:
    warning = check(BETWEEN, "warning", column="fare", max_value=1) | {
        "blocking": False,
        "severity": "warning",
    }
    result = run(tmp_path, as_parquet(TABLE), [warning, check(BETWEEN, column="fare", max_value=49)])
    assert outcomes(result)["warning"] == "failed"
    assert result["outcome"] == "passed"


def test_observed_statistics_are_plain_json(tmp_path: Path) -> None:
    """The quantile expectation of Great Expectations gives a numpy.bool, which no JSON encoder takes."""
    ranges = {"quantiles": [0.25, 0.5], "value_ranges": [[12, 13], [None, 24]]}
    checks = [
        check("expect_column_quantile_values_to_be_between", "gx", column="fare", quantile_ranges=ranges),
        check("expect_column_mean_to_be_between", "mean", column="fare", min_value=24, max_value=25),
        check("expect_column_median_to_be_between", "median", column="fare", min_value=24, max_value=25),
        check("expect_column_unique_value_count_to_be_between", "distinct", column="fare", max_value=50),
    ]
    result = run(tmp_path, as_parquet(TABLE), checks)
    assert found(result, "gx")["outcome"] == "failed"
    assert found(result, "gx")["observed"] == "0.25: 12, 0.5: 24.5"
    assert found(result, "mean")["observed"] == 24.5
    assert found(result, "median")["observed"] == 24.5
    assert found(result, "distinct")["observed"] == 50
    assert json.loads(canonicalize(result)) == json.loads(json.dumps(result))


@formats
def test_bad_values_never_reach_the_result(tmp_path: Path, format: Format) -> None:
    mails = [f"person.{n}.at.example" for n in range(300_000)]
    table = pa.table({"email": mails})
    checks = [
        check("expect_column_values_to_match_regex", "form", column="email", regex="@"),
        check("expect_column_distinct_values_to_be_in_set", "distinct", column="email", value_set=["a@b"]),
        check("expect_column_most_common_value_to_be_in_set", "common", column="email", value_set=["a@b"]),
    ]
    result = run(tmp_path, written(table, format), checks, format)
    assert [found(result, each["id"])["outcome"] for each in checks] == ["failed", "failed", "error"]
    assert found(result, "form")["unexpected"] == 300_000
    assert found(result, "form")["rows"] == 300_000
    body = canonicalize(result)
    assert b"person" not in body
    assert len(body) < 2048


def test_error_of_the_engine_tells_no_value(tmp_path: Path) -> None:
    table = pa.table({"name": ["secret-person", "1"]})
    sql = check(
        "expect_sql_result", query="SELECT sum(CAST(name AS INT)) FROM trips", operator="mustBe", value=1
    )
    result = run(tmp_path, as_parquet(table), [sql], allow_sql=True)
    assert found(result)["outcome"] == "error"
    assert b"secret" not in canonicalize(result)


def test_sql_rule_is_one_select_within_the_data(tmp_path: Path) -> None:
    asked = [
        ("SELECT count(*) FROM trips WHERE fare > 40", "passed"),
        ("SELECT count(*) FROM data WHERE fare > 41", "failed"),
        ("SELECT 360; SELECT 360", "error"),
        ("DROP VIEW data", "error"),
        ("COPY (SELECT 360) TO '/proc/self/cwd/out.csv'", "error"),
        ("SELECT 360 FROM read_csv('/etc/passwd')", "error"),
        ("SELECT 360 FROM 'http://127.0.0.1/x.parquet'", "error"),
        ("SET threads = 9", "error"),
        ("INSTALL httpfs", "error"),
        ("SELECT kind FROM trips LIMIT 1", "error"),
        ("SELECT fare FROM trips", "error"),
    ]
    rules = [
        check("expect_sql_result", query, query=query, operator="mustBe", value=360) for query, _ in asked
    ]
    assert set(outcomes(run(tmp_path, as_parquet(TABLE), rules)).values()) == {"not_evaluated", "passed"}
    result = run(tmp_path, as_parquet(TABLE), rules, allow_sql=True)
    for query, outcome in asked:
        assert found(result, query)["outcome"] == outcome, query
