"""Own quantiles and intervals, against scipy."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gates.release.intervals import (
    Interval,
    bounded_interval,
    chi_square_quantile,
    needed_n,
    needed_n_bounded,
    normal_cdf,
    normal_interval,
    wilson_interval,
    z_value,
)
from gates.release.numbers import Unusable
from gates.release.spending import spent_alpha

alphas = st.floats(1e-6, 0.2)


@settings(deadline=None)
@given(st.floats(1e-7, 1 - 1e-7), st.integers(1, 2000))
def test_chi_square_quantile_is_scipys(probability: float, degrees: int) -> None:
    expected = float(stats.chi2.ppf(probability, degrees))
    assert chi_square_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(alphas)
def test_normal_quantile_is_scipys(alpha: float) -> None:
    assert z_value(alpha) == pytest.approx(float(stats.norm.isf(alpha)), rel=1e-9)
    assert normal_cdf(-z_value(alpha)) == pytest.approx(alpha, rel=1e-9)


@settings(deadline=None)
@given(st.integers(1, 100_000), st.floats(0, 1), alphas)
def test_wilson_interval_is_scipys(trials: int, share: float, alpha: float) -> None:
    successes = round(share * trials)
    expected = stats.binomtest(successes, trials).proportion_ci(1 - 2 * alpha, method="wilson")
    found = wilson_interval(successes, trials, alpha)
    assert found.low == pytest.approx(expected.low, abs=1e-9)
    assert found.high == pytest.approx(expected.high, abs=1e-9)


@pytest.mark.parametrize("successes", [0, 5])
def test_a_share_that_never_varied_is_not_certain(successes: int) -> None:
    found = wilson_interval(successes, 5, 0.05)
    assert found.high - found.low > 0.3
    assert 0 <= found.low <= found.high <= 1


def test_each_end_of_an_interval_is_one_sided() -> None:
    found = normal_interval(0.5, 0.1, 0.05)
    assert found.low == pytest.approx(0.5 - 0.1 * 1.6448536)
    assert found.high == pytest.approx(0.5 + 0.1 * 1.6448536)


def test_interval_of_a_bounded_metric_is_symmetric_in_log_odds() -> None:
    found = bounded_interval(0.9, 0.01, 0.05)
    reach = 1.6448536 * 0.01 / (0.9 * 0.1)
    assert stats.logistic.ppf(found.low) == pytest.approx(math.log(9) - reach)
    assert stats.logistic.ppf(found.high) == pytest.approx(math.log(9) + reach)
    assert found.low < normal_interval(0.9, 0.01, 0.05).low
    mirrored = bounded_interval(0.1, 0.01, 0.05)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high))


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 2), st.floats(1, 3), alphas)
def test_interval_of_a_bounded_metric_holds_its_estimate_and_grows_with_the_error(
    estimate: float, error: float, factor: float, alpha: float
) -> None:
    narrow, wide = bounded_interval(estimate, error, alpha), bounded_interval(estimate, error * factor, alpha)
    assert 0 <= narrow.low <= estimate <= narrow.high + 1e-15 <= 1 + 1e-15
    assert wide.low <= narrow.low + 1e-12
    assert wide.high >= narrow.high - 1e-12


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.4), alphas)
def test_better_bounded_metric_has_no_lower_interval(
    first: float, second: float, error: float, alpha: float
) -> None:
    worse, better = (bounded_interval(each, error, alpha) for each in sorted((first, second)))
    assert worse.low <= better.low + 1e-12


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most"),
    [
        (0.5, 0.6, "passed", "inconclusive"),
        (0.4, 0.5, "inconclusive", "passed"),
        (0.6, 0.7, "passed", "failed"),
        (0.3, 0.4, "failed", "passed"),
        (0.4, 0.6, "inconclusive", "inconclusive"),
        (0.5, 0.5, "passed", "passed"),
    ],
)
def test_an_interval_across_the_bound_is_inconclusive(
    low: float, high: float, at_least: str, at_most: str
) -> None:
    assert Interval(low, high).at_least(0.5) == at_least
    assert Interval(low, high).at_most(0.5) == at_most


def test_needed_n_would_have_been_enough() -> None:
    needed = needed_n(0.01, 0.02, 1000, 0.05)
    assert needed is not None
    shrunk = 0.02 * math.sqrt(1000 / needed)
    assert z_value(0.05) * shrunk == pytest.approx(0.01, rel=1e-3)
    assert needed_n(-0.01, 0.02, 1000, 0.05) == needed
    assert needed_n(0.5, 0.02, 1000, 0.05) == 1001, "what there are did not tell"


@pytest.mark.parametrize(("estimate", "bound"), [(0.962, 0.95), (0.9995, 0.9), (1.0, 0.97), (0.6, 0.62)])
def test_needed_n_is_that_of_the_interval_on_log_odds(estimate: float, bound: float) -> None:
    """At 143 examples and a bound of 0.95 the plain interval would have told; the one that is used did not."""
    error, n, alpha = 0.006, 143, 0.0304
    needed = needed_n_bounded(estimate, bound, error, n, alpha)
    assert needed is not None
    assert needed > n

    def tells(number: int) -> bool:
        interval = bounded_interval(estimate, error * math.sqrt(n / number), alpha)
        return interval.at_least(bound) != "inconclusive"

    assert tells(needed)
    assert needed == n + 1 or not tells(needed - 1)
    assert needed_n_bounded(bound, bound, error, n, alpha) is None


@pytest.mark.parametrize(("gap", "error"), [(0.0, 0.1), (0.1, 0.0), (1e-300, 1e150), (1e-12, 1.0)])
def test_no_number_of_examples_is_enough_where_the_estimate_is_at_the_bound(gap: float, error: float) -> None:
    assert needed_n(gap, error, 1000, 0.05) is None


def test_all_attempts_together_spend_no_more_than_alpha() -> None:
    shares = [spent_alpha(0.05, attempt) for attempt in range(1, 10_001)]
    assert shares[0] == pytest.approx(0.030396355)
    assert shares[1] == pytest.approx(shares[0] / 4)
    assert 0.04999 < sum(shares) < 0.05


@pytest.mark.parametrize("attempt", [0, -1])
def test_there_is_no_attempt_before_the_first(attempt: int) -> None:
    with pytest.raises(Unusable):
        spent_alpha(0.05, attempt)
