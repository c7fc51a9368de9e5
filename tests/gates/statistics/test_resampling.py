"""Resampled standard errors against resampling by hand with scikit-learn and numpy, and what is left out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics

from gates.statistics import cells, replicates
from gates.statistics.resampling import Plan, Replicate, error_of, resample_cells, resample_rows

Array = NDArray[Any]
ROWS = 150


def drawn_rows(count: int = 40, rows: int = ROWS) -> Array:
    return np.random.default_rng(11).integers(0, rows, (count, rows))


def values_of(replicate: Replicate) -> Array:
    return replicate(drawn_rows())[:, 0]


@pytest.fixture
def label() -> Array:
    return (np.random.default_rng(1).random(ROWS) < 0.3).astype(np.int64)


@pytest.mark.parametrize("digits", [1, 12])
def test_average_precision_of_a_resample_is_scikit_learns(label: Array, digits: int) -> None:
    """Scores of one digit are full of ties."""
    score = np.round(np.random.default_rng(2).normal(size=ROWS) + label, digits)
    made = values_of(replicates.of_models([replicates.average_precision(score, label == 1)]))
    expected = [metrics.average_precision_score(label[rows], score[rows]) for rows in drawn_rows()]
    np.testing.assert_allclose(made, expected, atol=1e-12)


def test_levels_keep_all_that_ranks_say(label: Array) -> None:
    """The area under the ROC curve from levels alone is that from all scores."""
    score = np.round(np.random.default_rng(2).normal(size=ROWS) + label, 1)
    codes, levels = replicates.levels_of(score, label == 1)
    assert metrics.roc_auc_score(label, codes // 2) == pytest.approx(
        metrics.roc_auc_score(label, score), abs=1e-12
    )
    assert levels < len(np.unique(score))
    assert (codes % 2 == label).all()


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (replicates.root_mean_squared_error, metrics.root_mean_squared_error),
        (replicates.r2, metrics.r2_score),
    ],
)
def test_metric_of_a_regression_is_scikit_learns(
    one: Callable[[Array, Array], replicates.One], expected: Callable[[Array, Array], float]
) -> None:
    truth = np.random.default_rng(4).normal(100, 3, ROWS)
    prediction = truth + np.random.default_rng(5).normal(size=ROWS)
    made = values_of(replicates.of_models([one(truth, prediction)]))
    np.testing.assert_allclose(
        made, [expected(truth[rows], prediction[rows]) for rows in drawn_rows()], rtol=1e-9
    )


@pytest.mark.parametrize("rows", [2, 7, 150, 5000])
def test_quantiles_of_a_resample_are_numpys(rows: int) -> None:
    """Also of many rows, of which most need not be told apart."""
    values = np.round(np.random.default_rng(6).gamma(2, 10, rows), 2)
    shares = (0.5, 0.95, 0.99)
    drawn = drawn_rows(20, rows)
    made = replicates.quantiles(values, shares)(drawn)
    np.testing.assert_allclose(made, np.quantile(values[drawn], shares, axis=1).T, rtol=1e-12)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (cells.precision, metrics.precision_score),
        (cells.f1, metrics.f1_score),
        (cells.f1_macro, lambda truth, given: metrics.f1_score(truth, given, average="macro")),
    ],
)
def test_metric_of_classes_from_counts_is_scikit_learns(
    metric: Callable[[cells.Cells], Replicate], expected: Callable[[Array, Array], float]
) -> None:
    draw = np.random.default_rng(7)
    classes = 4 if metric is cells.f1_macro else 2
    label = draw.integers(0, classes, ROWS)
    models = [np.where(draw.random(ROWS) < 0.7, label, draw.integers(0, classes, ROWS)) for _ in range(3)]
    table = cells.cells_of(label, models)
    assert table.sizes.sum() == ROWS
    made = metric(table)(table.sizes[np.newaxis])
    np.testing.assert_allclose(made[0], [expected(label, model) for model in models], atol=1e-12)


def test_paired_error_is_that_of_resampling_by_hand(label: Array) -> None:
    draw = np.random.default_rng(8)
    signal = draw.normal(size=ROWS) + 1.5 * label
    models = [signal + draw.normal(size=ROWS) * noise for noise in (0.4, 0.8)]
    replicate = replicates.of_models([replicates.average_precision(model, label == 1) for model in models])
    made = resample_rows(ROWS, {"ap": replicate}, Plan(1, (), 2000), lambda done: None)["ap"]
    by_hand = []
    for _ in range(600):
        rows = draw.integers(0, ROWS, ROWS)
        areas = [metrics.average_precision_score(label[rows], model[rows]) for model in models]
        by_hand.append(areas[0] - areas[1])
    assert error_of(made[:, 0] - made[:, 1]) == pytest.approx(np.std(by_hand, ddof=1), rel=0.12)


def test_drawing_cells_is_drawing_rows(label: Array) -> None:
    draw = np.random.default_rng(10)
    prediction = np.where(draw.random(ROWS) < 0.8, label, 1 - label)
    table = cells.cells_of(label, [prediction])
    made = resample_cells(table.sizes, {"f1": cells.f1(table)}, Plan(1))["f1"][:, 0]
    by_hand = [metrics.f1_score(label[rows], prediction[rows]) for rows in drawn_rows(600)]
    assert error_of(made) == pytest.approx(np.std(by_hand, ddof=1), rel=0.12)


def test_draws_depend_on_seed_and_place_alone() -> None:
    def drawn(plan: Plan) -> Array:
        return resample_rows(9, {"rows": lambda rows: rows.astype(np.float64)}, plan, lambda done: None)[
            "rows"
        ]

    first = drawn(Plan(1, (0, 2), 50))
    assert np.array_equal(first, drawn(Plan(1, (0, 2), 50)))
    assert not np.array_equal(first, drawn(Plan(1, (2, 0), 50)))
    assert not np.array_equal(first, drawn(Plan(2, (0, 2), 50)))


def test_progress_counts_every_resample_whatever_the_chunks() -> None:
    seen: list[int] = []
    resample_rows(
        200_000, {"mean": lambda rows: rows.mean(axis=1, keepdims=True)}, Plan(1, (), 7), seen.append
    )
    assert sum(seen) == 7
    assert len(seen) > 1


def test_metric_that_many_resamples_lack_has_no_error() -> None:
    values = np.linspace(0, 1, 100)
    assert error_of(values) is not None
    values[:6] = np.nan
    assert error_of(values) is None
