"""Metrics of the three tasks against scikit-learn, from a blob to the body of the record."""

from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from tests.gates.statistics.tables import binary_columns, claim, digest, evaluation, measured, write

CANDIDATE = digest("a")


def test_metrics_of_a_binary_task_are_scikit_learns(tmp_path: Path) -> None:
    columns = binary_columns()
    body = measured(claim([evaluation("c", CANDIDATE)]), {CANDIDATE: write(tmp_path, columns)})
    label, score = columns["label"], columns["score"]
    prediction = score >= 0.5
    expected = {
        "accuracy": metrics.accuracy_score(label, prediction),
        "precision": metrics.precision_score(label, prediction),
        "recall": metrics.recall_score(label, prediction),
        "f1": metrics.f1_score(label, prediction),
        "balanced_accuracy": metrics.balanced_accuracy_score(label, prediction),
        "roc_auc": metrics.roc_auc_score(label, score),
        "average_precision": metrics.average_precision_score(label, score),
        "log_loss": metrics.log_loss(label, score),
        "brier_score": metrics.brier_score_loss(label, score),
        "mean_latency_ms": columns["value.latency_ms"].mean(),
        "p50_latency_ms": np.quantile(columns["value.latency_ms"], 0.5),
        "p95_latency_ms": np.quantile(columns["value.latency_ms"], 0.95),
        "p99_latency_ms": np.quantile(columns["value.latency_ms"], 0.99),
    }
    found = {name: metric["estimate"] for name, metric in body["metrics"].items()}
    assert found == pytest.approx(expected, abs=1e-12)
    assert all(metric["standard_error"] > 0 for metric in body["metrics"].values())
    assert {name: metric["method"] for name, metric in body["metrics"].items()} == {
        **dict.fromkeys(("accuracy", "precision", "recall"), "wilson"),
        **dict.fromkeys(("balanced_accuracy", "log_loss", "brier_score", "mean_latency_ms"), "closed-form"),
        **dict.fromkeys(("f1", "average_precision"), "bootstrap"),
        **dict.fromkeys(("p50_latency_ms", "p95_latency_ms", "p99_latency_ms"), "bootstrap"),
        "roc_auc": "delong",
    }
    recall = body["metrics"]["recall"]
    assert (recall["successes"], recall["trials"]) == (
        int((prediction & (label == 1)).sum()),
        int(label.sum()),
    )
    assert (body["outcome"], body["rows"], body["positives"]) == ("ok", 400, int(label.sum()))
    assert body["differences"] == {}


def test_metrics_of_a_multiclass_task_are_scikit_learns(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    names = np.array(["cat", "dog", "owl"])
    label = draw.choice(names, 300)
    prediction = np.where(draw.random(300) < 0.7, label, draw.choice(names, 300))
    score = draw.uniform(0.1, 0.9, 300)
    columns = {"id": range(300), "label": label, "prediction": prediction, "score": score}
    body = measured(
        claim([evaluation("c", CANDIDATE)], task="multiclass"), {CANDIDATE: write(tmp_path, columns)}
    )
    expected = {
        "accuracy": metrics.accuracy_score(label, prediction),
        "f1_macro": metrics.f1_score(label, prediction, average="macro"),
        "balanced_accuracy": metrics.balanced_accuracy_score(label, prediction),
        "log_loss": -np.log(score).mean(),
    }
    assert {name: metric["estimate"] for name, metric in body["metrics"].items()} == pytest.approx(expected)
    assert body["positives"] is None


def test_metrics_of_a_regression_are_scikit_learns(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    label = draw.normal(10, 2, 300)
    columns = {"id": range(300), "label": label, "prediction": label + draw.normal(size=300)}
    body = measured(
        claim([evaluation("c", CANDIDATE)], task="regression"), {CANDIDATE: write(tmp_path, columns)}
    )
    expected = {
        "mean_absolute_error": metrics.mean_absolute_error(label, columns["prediction"]),
        "root_mean_squared_error": metrics.root_mean_squared_error(label, columns["prediction"]),
        "r2": metrics.r2_score(label, columns["prediction"]),
    }
    assert {name: metric["estimate"] for name, metric in body["metrics"].items()} == pytest.approx(expected)
