"""Checks against a baseline: real months of taxi trips, and tables made to be awkward."""

import json
import math
from pathlib import Path
from typing import Any

import numpy
import pandas
import pyarrow as pa
import pytest

from gates.contracts.engine.measures.drift import SMALLEST_SHARE, largest_gap, stability_index
from gates.contracts.engine.refusals import CheckRefused
from shipworthy.formats.jcs import canonicalize
from tests.gates.contracts.engine.support import (
    TABLES,
    as_csv,
    as_parquet,
    baseline_of,
    check,
    found,
    outcomes,
    run,
)

LABELS = ["payment_type", "rate_code_id", "vendor_id"]


def month(name: str) -> bytes:
    return (TABLES / f"yellow_tripdata_sample_{name}.csv").read_bytes()


def trips() -> list[dict[str, Any]]:
    shares = [
        check(
            "expect_label_shares_to_match_baseline",
            f"shares:{name}",
            column=name,
            max_difference=0.05,
            max_new_share=0.001,
        )
        for name in LABELS
    ]
    nulls = [
        check("expect_null_share_to_be_at_most", f"nulls:{name}", column=name, max=0.01) for name in LABELS
    ]
    volume = check("expect_row_count_change_to_be_between", "volume", min_ratio=0.5, max_ratio=2)
    fares = check("expect_population_stability_index_to_be_at_most", "psi", column="fare_amount", max=0.1)
    return [*shares, *nulls, volume, fares]


def test_lockdown_month_fails_on_nulls_and_label_shares(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path, month("2019-01"), "csv", numbers=["fare_amount"], labels=LABELS)
    assert run(tmp_path, month("2019-02"), trips(), "csv", baseline=baseline)["outcome"] == "passed"
    lockdown = run(tmp_path, month("2020-04"), trips(), "csv", baseline=baseline)
    assert lockdown["outcome"] == "failed"
    failed = {id for id, outcome in outcomes(lockdown).items() if outcome == "failed"}
    assert failed == {
        "nulls:payment_type",
        "nulls:rate_code_id",
        "nulls:vendor_id",
        "shares:payment_type",
        "shares:vendor_id",
    }
    assert found(lockdown, "nulls:vendor_id")["observed"] == 0.0803
    shown = found(lockdown, "shares:payment_type")["histogram"]
    assert shown["labels"] == ["1", "2", "3", "4", "other"]
    assert shown["baseline"] == [0.7134, 0.2814, 0.004, 0.0012, 0.0]
    assert sum(shown["observed"]) == pytest.approx(1)


def test_a_tenth_of_the_rows_fails_the_change_of_volume(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path, month("2019-01"), "csv", labels=["vendor_id"])
    part = b"".join(month("2019-02").splitlines(keepends=True)[:1001])
    volume = check("expect_row_count_change_to_be_between", min_ratio=0.5, max_ratio=2)
    result = found(run(tmp_path, part, [volume], "csv", baseline=baseline))
    assert result["outcome"] == "failed"
    assert result["observed"] == 0.1


def test_infinite_divergence_is_a_small_stability_index(tmp_path: Path) -> None:
    """One new label in a thousand rows: KL divergence is infinite, the index knows how little that is."""
    before = pa.table({"kind": ["a"] * 500 + ["b"] * 500})
    now = as_parquet(pa.table({"kind": ["a"] * 500 + ["b"] * 499 + ["c"]}))
    partition = {"values": ["a", "b"], "weights": [0.5, 0.5]}
    checks = [
        check(
            "expect_column_kl_divergence_to_be_less_than",
            "kl",
            column="kind",
            partition_object=partition,
            threshold=9,
        ),
        check("expect_population_stability_index_to_be_at_most", "psi", column="kind", max=0.01),
    ]
    result = run(tmp_path, now, checks, baseline=baseline_of(tmp_path, as_parquet(before), labels=["kind"]))
    assert found(result, "kl")["outcome"] == "failed"
    assert found(result, "kl")["observed"] in (None, "infinity")
    assert found(result, "psi")["outcome"] == "passed"
    assert 0 < found(result, "psi")["observed"] < 0.01
    canonicalize(result)


def test_values_beyond_the_baseline_fall_into_the_tails(tmp_path: Path) -> None:
    before = pa.table({"fare": [float(n) for n in range(1000)]})
    baseline = baseline_of(tmp_path, as_parquet(before), numbers=["fare"])
    now = pa.table({"fare": [float(n) for n in range(900)] + [-5.0] * 40 + [5000.0] * 60})
    checks = [
        check("expect_population_stability_index_to_be_at_most", "psi", column="fare", max=0.1),
        check("expect_binned_ks_to_be_at_most", "ks", column="fare", max=0.03),
    ]
    result = run(tmp_path, as_parquet(now), checks, baseline=baseline)
    assert outcomes(result)["psi"] == "failed"
    assert found(result, "ks")["observed"] == 0.06
    shown = found(result, "psi")["histogram"]
    assert (shown["observed"][0], shown["observed"][-1]) == (0.04, 0.06)
    assert len(shown["edges"]) + 1 == len(shown["observed"]) == 12


def test_drift_of_no_rows_fails(tmp_path: Path) -> None:
    table = pa.table({"fare": [1.0, 2.0, 3.0], "kind": ["a", "b", "a"]})
    baseline = baseline_of(tmp_path, as_parquet(table), numbers=["fare"], labels=["kind"])
    checks = [
        check("expect_population_stability_index_to_be_at_most", "psi", column="fare", max=9),
        check("expect_population_stability_index_to_be_at_most", "labels", column="kind", max=9),
        check("expect_binned_ks_to_be_at_most", "ks", column="fare", max=1),
        check(
            "expect_label_shares_to_match_baseline",
            "shares",
            column="kind",
            max_difference=1,
            max_new_share=1,
        ),
        check("expect_null_share_to_be_at_most", "nulls", column="kind", max=1),
    ]
    for data in (
        as_parquet(table.slice(0, 0)),
        as_parquet(pa.table({"fare": pa.nulls(2, pa.float64()), "kind": pa.nulls(2, pa.string())})),
    ):
        result = outcomes(run(tmp_path, data, checks, baseline=baseline))
        assert [result[id] for id in ("psi", "labels", "ks", "shares")] == ["failed"] * 4


def test_labels_are_found_whatever_type_the_column_came_as(tmp_path: Path) -> None:
    """A column of integers becomes one of floats when a null joins it."""
    baseline = baseline_of(tmp_path, as_parquet(pa.table({"kind": [1, 2, 2, 2]})), labels=["kind"])
    checks = [check("expect_label_shares_to_match_baseline", column="kind", max_difference=0.0)]
    for kind in (pa.float64(), pa.int8(), pa.string()):
        data = as_parquet(pa.table({"kind": pa.array([1, 2, 2, 2], pa.int64()).cast(kind)}))
        assert outcomes(run(tmp_path, data, checks, baseline=baseline))["c"] == "passed"


def test_new_labels_are_counted_and_never_named(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path, as_parquet(pa.table({"kind": ["a", "b"]})), labels=["kind"])
    data = as_parquet(pa.table({"kind": ["a", "b"] * 49 + ["secret", "hidden"]}))
    checks = [
        check("expect_label_shares_to_match_baseline", column="kind", max_difference=1, max_new_share=0.01)
    ]
    result = run(tmp_path, data, checks, baseline=baseline)
    assert found(result)["outcome"] == "failed"
    assert found(result)["unexpected"] == 2
    assert b"secret" not in canonicalize(result)


def test_baseline_lists_values_only_of_columns_named_as_labels(tmp_path: Path) -> None:
    table = pa.table(
        {"fare": [1.0, 2.0, float("nan"), None], "kind": ["x", "y", "x", None], "email": ["q@r"] * 4}
    )
    baseline = baseline_of(tmp_path, as_csv(table), "csv", numbers=["fare"], labels=["kind"])
    fare, kind = baseline["columns"]
    assert (fare["n"], fare["nulls"], fare["nans"], fare["bins"]["counts"]) == (
        4,
        1,
        1,
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    )
    assert (kind["labels"], kind["other"], kind["nulls"], kind["distinct"]) == ([["x", 2], ["y", 1]], 0, 1, 2)
    assert b"q@r" not in canonicalize(baseline)
    assert baseline["data"]["rows"] == 4
    assert json.loads(canonicalize(baseline)) == baseline
    with pytest.raises(CheckRefused, match="no number"):
        baseline_of(tmp_path, as_csv(table), "csv", numbers=["kind"])


def test_our_statistics_agree_with_a_second_opinion(tmp_path: Path) -> None:
    """pandas and numpy, to 12 digits; the engine itself uses neither."""
    chance = numpy.random.default_rng(7)
    before = pandas.DataFrame({"x": chance.normal(0, 1, 5000), "kind": chance.choice(list("abcd"), 5000)})
    now = pandas.DataFrame({"x": chance.normal(0.2, 1.1, 4000), "kind": chance.choice(list("abcde"), 4000)})
    baseline = baseline_of(tmp_path, as_parquet(pa.Table.from_pandas(before)), numbers=["x"], labels=["kind"])
    quantiles = [0.05, 0.5, 0.95]
    checks = [
        check("expect_population_stability_index_to_be_at_most", "psi", column="x", max=9),
        check("expect_population_stability_index_to_be_at_most", "psi_labels", column="kind", max=9),
        check("expect_binned_ks_to_be_at_most", "ks", column="x", max=1),
        check(
            "expect_label_shares_to_match_baseline",
            "shares",
            column="kind",
            max_difference=1,
            max_new_share=1,
        ),
        check(
            "expect_quantiles_to_be_between",
            "quantiles",
            column="x",
            quantiles=quantiles,
            ranges=[[None, None]] * 3,
        ),
        check("expect_column_mean_to_be_between", "mean", column="x", min_value=-9),
        check("expect_column_stdev_to_be_between", "stdev", column="x", min_value=0),
    ]
    result = run(tmp_path, as_parquet(pa.Table.from_pandas(now)), checks, baseline=baseline)
    edges = before["x"].quantile([n / 10 for n in range(11)]).to_numpy()

    def shares(values: Any) -> Any:
        counts, _ = numpy.histogram(
            values,
            numpy.concatenate([[-numpy.inf], edges[:-1], [numpy.nextafter(edges[-1], 9)], [numpy.inf]]),
        )
        return counts / counts.sum()

    def psi(p: Any, q: Any) -> float:
        p, q = numpy.maximum(p, SMALLEST_SHARE), numpy.maximum(q, SMALLEST_SHARE)
        return float(((q - p) * numpy.log(q / p)).sum())

    p, q = shares(before["x"]), shares(now["x"])
    labels = [
        frame["kind"].value_counts(normalize=True).reindex(list("abcde"), fill_value=0.0)
        for frame in (before, now)
    ]
    expected = {
        "psi": psi(p, q),
        "psi_labels": psi(*labels),
        "ks": float(numpy.abs(p.cumsum() - q.cumsum()).max()),
        "shares": float((labels[0] - labels[1])[:4].abs().max()),
        "mean": float(now["x"].mean()),
        "stdev": float(now["x"].std()),
    }
    for id, value in expected.items():
        assert found(result, id)["observed"] == pytest.approx(value, rel=1e-11), id
    given = [float(part.partition(": ")[2]) for part in found(result, "quantiles")["observed"].split(", ")]
    assert given == pytest.approx(list(now["x"].quantile(quantiles)), rel=1e-11)


def test_index_and_distance_of_equal_counts_are_zero() -> None:
    assert stability_index([1, 2, 3], [2, 4, 6]) == 0
    assert largest_gap([1, 2, 3], [2, 4, 6]) == 0
    assert largest_gap([1, 0], [0, 1]) == 1
    floor = SMALLEST_SHARE
    assert stability_index([1, 0], [0, 1]) == pytest.approx(2 * (1 - floor) * math.log(1 / floor))
