"""Closed forms against the tables they come from, and against the exact binomial distribution."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm, sem

from gates.release.intervals import wilson_interval
from gates.statistics.standard_errors import (
    ONE_EACH_WAY,
    ONE_OF_EACH,
    Counts,
    counts_like,
    counts_of,
    error_of_mean,
    mean_over_repeats,
    with_repeats,
)


def test_error_of_a_mean_is_that_of_scipy() -> None:
    rows = np.random.default_rng(1).gamma(2, 3, 500)
    assert error_of_mean(rows) == pytest.approx(float(sem(rows)), rel=1e-12)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (10, 10), (7, 10), (930, 1000)])
def test_error_of_a_proportion_has_one_success_and_one_failure_more(successes: int, n: int) -> None:
    """Agresti and Caffo 2000: p̃ = (k + 1) / (n + 2)."""
    share = (successes + 1) / (n + 2)
    rows = np.repeat([1.0, 0.0], [successes, n - successes])
    assert error_of_mean(rows, ONE_OF_EACH) == pytest.approx(math.sqrt(share * (1 - share) / (n + 2)))


@pytest.mark.parametrize(("only_first", "only_second", "n"), [(0, 0, 20), (12, 3, 200), (0, 5, 30)])
def test_error_of_a_paired_difference_is_that_of_bonett_and_price(
    only_first: int, only_second: int, n: int
) -> None:
    """Bonett and Price 2012, equation 10: one more of each sort of disagreement."""
    differences = np.repeat([1.0, -1.0, 0.0], [only_first, only_second, n - only_first - only_second])
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    expected = math.sqrt((first + second - (first - second) ** 2) / (n + 2))
    assert error_of_mean(differences, ONE_EACH_WAY) == pytest.approx(expected)
    assert error_of_mean(differences, ONE_EACH_WAY) > 0


def test_paired_interval_keeps_its_level_where_the_plain_one_does_not() -> None:
    """A model that is wrong once more in 50 examples: how often would 60 examples show that it is not worse by 2 %?"""
    draw = np.random.default_rng(9)
    z = norm.ppf(0.95)
    plain, ours = 0, 0
    for _ in range(4000):
        differences = np.repeat([-1.0, 0.0], np.array([k := draw.binomial(60, 0.02), 60 - k]))
        plain += differences.mean() - z * differences.std(ddof=1) / math.sqrt(60) >= -0.02
        ours += differences.mean() - z * error_of_mean(differences, ONE_EACH_WAY) >= -0.02
    assert plain / 4000 > 0.25
    assert ours / 4000 < 0.05


def test_counts_of_one_evaluation_are_exact_and_give_scipys_wilson_interval() -> None:
    counts = counts_of([np.repeat([1.0, 0.0], [93, 7])], 0.025)
    assert counts == Counts(93, 100)
    interval = wilson_interval(counts.successes, counts.trials, 0.05)
    expected = binomtest(93, 100).proportion_ci(0.90, method="wilson")
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_repeats_that_are_alike_are_no_more_evidence_than_one() -> None:
    rows = np.repeat([1.0, 0.0], [93, 7])
    assert counts_of([rows, rows, rows], 0.025) == Counts(93, 100)
    assert error_of_mean(mean_over_repeats([rows, rows]), ONE_OF_EACH) == error_of_mean(rows, ONE_OF_EACH)
    assert with_repeats(0.02, [0.93, 0.93, 0.93]) == 0.02


def test_repeats_that_differ_widen_the_interval() -> None:
    assert with_repeats(0.02, [0.90, 0.94]) == pytest.approx(math.sqrt(0.02**2 + 0.0008 / 2))
    assert with_repeats(0.02, [0.90, 0.94], [0.8]) == with_repeats(0.02, [0.90, 0.94])


def test_counts_like_have_the_error_and_never_more_trials_than_rows() -> None:
    counts = counts_like(0.9, 0.02999, 1000)
    assert counts == Counts(90, 100)
    assert counts_like(0.9, 0.0001, 1000) == Counts(900, 1000)
    assert counts_like(0.5, 10.0, 1000).trials == 1
