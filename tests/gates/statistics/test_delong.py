"""DeLong against its own definition, pair by pair, and against resampling; on made and on real examples."""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from gates.statistics import delong
from gates.statistics.standard_errors import least_error

CANCER = Path(__file__).parents[2] / "data" / "tables" / "breast_cancer.csv"
Array = NDArray[Any]


def brute_force(score: Array, is_positive: Array) -> tuple[Array, Array]:
    """The structural components of DeLong et al. 1988, equations 4 and 5: a mean of ψ over every pair."""
    positive, negative = score[is_positive], score[~is_positive]
    psi = [[1.0 if x > y else 0.5 if x == y else 0.0 for y in negative] for x in positive]
    table = np.array(psi)
    return table.mean(axis=1), table.mean(axis=0)


def covariance(first: tuple[Array, Array], second: tuple[Array, Array]) -> float:
    tens = np.cov(first[0], second[0], ddof=1)[0, 1] / len(first[0])
    ones = np.cov(first[1], second[1], ddof=1)[0, 1] / len(first[1])
    return float(tens + ones)


def cancer(column: int) -> tuple[Array, Array]:
    """Whether a tumour is malignant, and one measurement of it: 0 its mean radius, 1 its mean texture."""
    with CANCER.open() as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[-1] == "0" for row in rows]), np.array([float(row[column]) for row in rows])


def test_area_and_error_of_real_measurements_are_those_of_the_definition() -> None:
    is_malignant, radius = cancer(0)
    _, texture = cancer(1)
    first, second = delong.placements(radius, is_malignant), delong.placements(texture, is_malignant)
    expected = brute_force(radius, is_malignant), brute_force(texture, is_malignant)
    assert first.positives.mean() == pytest.approx(roc_auc_score(is_malignant, radius), abs=1e-12)
    np.testing.assert_allclose(first.positives, expected[0][0], atol=1e-12)
    np.testing.assert_allclose(second.negatives, expected[1][1], atol=1e-12)
    alone = math.sqrt(covariance(expected[0], expected[0]))
    assert delong.error_of(first) == pytest.approx(alone, rel=1e-9)
    between = covariance(expected[0], expected[1])
    variance = covariance(expected[0], expected[0]) + covariance(expected[1], expected[1]) - 2 * between
    assert delong.error_of(delong.minus(first, second)) == pytest.approx(math.sqrt(variance), rel=1e-9)
    # Both measure the same tumours: as if they were other tumours the error would be larger.
    assert between > 0


def test_ties_count_half() -> None:
    draw = np.random.default_rng(3)
    is_positive = draw.random(120) < 0.3
    score = np.round(draw.normal(size=120) + is_positive, 0)
    found = delong.placements(score, is_positive)
    positives, negatives = brute_force(score, is_positive)
    np.testing.assert_allclose(found.positives, positives, atol=1e-12)
    np.testing.assert_allclose(found.negatives, negatives, atol=1e-12)


def test_error_is_that_of_the_paired_bootstrap() -> None:
    draw = np.random.default_rng(5)
    is_positive = draw.random(600) < 0.4
    signal = draw.normal(size=600) + is_positive
    scores = [signal + draw.normal(size=600) * 0.6 for _ in range(2)]
    found = delong.minus(*(delong.placements(score, is_positive) for score in scores))
    resampled = []
    for _ in range(600):
        rows = draw.integers(0, 600, 600)
        areas = [roc_auc_score(is_positive[rows], score[rows]) for score in scores]
        resampled.append(areas[0] - areas[1])
    assert delong.error_of(found) == pytest.approx(np.std(resampled, ddof=1), rel=0.12)


def test_models_that_rank_alike_or_perfectly_are_not_certain() -> None:
    is_positive = np.arange(50) >= 30
    perfect = delong.placements(np.arange(50.0), is_positive)
    assert perfect.positives.mean() == 1.0
    assert delong.error_of(perfect) == least_error(20, 30) == pytest.approx(math.sqrt(1 / 400 + 1 / 900))
    assert delong.error_of(delong.minus(perfect, perfect)) == least_error(20, 30)
