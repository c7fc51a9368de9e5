"""Statistics of a Parquet file leave out NaN; DuckDB 2.0 takes them for the truth unless it is told not to."""

from pathlib import Path

import pyarrow as pa

from tests.gates.contracts.engine.support import as_parquet, baseline_of, check, found, run

NAN, INFINITE = float("nan"), float("inf")


def test_nan_is_in_no_bin_and_infinity_in_a_tail(tmp_path: Path) -> None:
    before = as_parquet(pa.table({"x": [float(n) for n in range(11)] + [NAN]}))
    baseline = baseline_of(tmp_path, before, numbers=["x"])
    (described,) = baseline["columns"]
    assert (described["nans"], sum(described["bins"]["counts"])) == (1, 11)
    now = as_parquet(pa.table({"x": [float(n) for n in range(11)] + [NAN, NAN, INFINITE, -INFINITE]}))
    ks = check("expect_binned_ks_to_be_at_most", column="x", max=1)
    shares = found(run(tmp_path, now, [ks], baseline=baseline))["histogram"]["observed"]
    assert (shares[0], shares[-1]) == (round(1 / 13, 6), round(1 / 13, 6))


def test_infinity_is_a_value_within_an_open_range(tmp_path: Path) -> None:
    data = as_parquet(pa.table({"x": [1.0, INFINITE]}))
    checks = [
        check("expect_column_values_to_be_between", "low", column="x", min_value=0),
        check("expect_column_values_to_be_between", "high", column="x", max_value=9),
    ]
    result = run(tmp_path, data, checks)
    assert [found(result, id)["unexpected"] for id in ("low", "high")] == [0, 1]


def test_statistic_over_nan_is_an_error(tmp_path: Path) -> None:
    data = as_parquet(pa.table({"x": [1.0, NAN]}))
    mean = check("expect_column_mean_to_be_between", column="x", min_value=0)
    maximum = check("expect_column_max_to_be_between", "max", column="x", max_value=9)
    result = run(tmp_path, data, [mean, maximum])
    assert [found(result, id)["outcome"] for id in ("c", "max")] == ["error", "error"]
    assert "1 NaN" in found(result)["reason"]
