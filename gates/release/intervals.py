"""Intervals and what follows from them. Standard library only: the service never loads scipy.

All levels are one-sided: each end of an interval lies beyond the truth with probability alpha.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

Conclusion: TypeAlias = Literal["passed", "failed", "inconclusive"]

_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    def at_least(self, bound: float) -> Conclusion:
        """Whether the truth is shown to be `bound` or more."""
        if self.low >= bound:
            return "passed"
        return "failed" if self.high < bound else "inconclusive"

    def at_most(self, bound: float) -> Conclusion:
        if self.high <= bound:
            return "passed"
        return "failed" if self.low > bound else "inconclusive"


@lru_cache(maxsize=1024)
def z_value(alpha: float) -> float:
    """The quantile of the normal distribution above which alpha lies."""
    return -_NORMAL.inv_cdf(alpha)


def normal_cdf(z: float) -> float:
    return _NORMAL.cdf(z)


def normal_interval(estimate: float, standard_error: float, alpha: float) -> Interval:
    reach = z_value(alpha) * standard_error
    return Interval(estimate - reach, estimate + reach)


def bounded_interval(estimate: float, standard_error: float, alpha: float) -> Interval:
    """For a metric between 0 and 1: symmetric on the scale of log-odds, by the delta method.

    Near its end such a metric is skewed: an estimate that is too high comes with a standard error that is too small. At
    alpha 0.005 the plain interval passes an area of 0.97 against a floor of 0.97 in 2.2 % of cases, this one in 0.4 %
    (300 positives, simulated).
    """
    reach = z_value(alpha) * standard_error
    return Interval(_lower_end(estimate, reach), 1 - _lower_end(1 - estimate, reach))


def _lower_end(estimate: float, reach: float) -> float:
    """The lower end never falls while the estimate rises: from about `reach` below 1 on, where the scale stretches
    faster than the estimate moves, it is that of the highest estimate before."""
    highest = (1 - 2 * reach + math.sqrt(1 + 4 * reach**2)) / 2
    middle = min(estimate, highest)
    if reach <= 0 or not 0 < middle < 1:
        return max(0.0, estimate - reach)
    low = _from_log_odds(math.log(middle / (1 - middle)) - reach / (middle * (1 - middle)))
    return min(estimate, low)


def _from_log_odds(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > 0 else 1 - 1 / (1 + math.exp(value))


def wilson_interval(successes: int, trials: int, alpha: float) -> Interval:
    """Wilson's score interval (1927), for 0 ≤ successes ≤ trials and trials ≥ 1. It is exactly the set of rates
    that a score test at alpha does not reject, and stays honest near 0 and 1, where estimate ± z·SE is not."""
    z = z_value(alpha)
    rate = successes / trials
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    middle = rate + z * z / (2 * trials)
    scale = 1 + z * z / trials
    return Interval(max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale))


def needed_n(gap: float, standard_error: float, n: int, alpha: float) -> int | None:
    """How many examples would have been enough, were the estimate to stay where it is: the standard error shrinks
    with the square root of their number. None when the estimate lies on the bound: no number is enough."""
    if gap == 0 or standard_error <= 0:
        return None
    # Not ** 2, which raises where a product becomes infinite.
    ratio = z_value(alpha) * standard_error / gap
    enough = n * (ratio * ratio)
    return max(n + 1, math.ceil(enough)) if enough < 2**53 else None


def needed_n_bounded(
    estimate: float, bound: float, standard_error: float, n: int, alpha: float
) -> int | None:
    """The same where the interval is that of `bounded_interval`: the least number, by halving."""
    if estimate == bound or standard_error <= 0:
        return None

    def tells(number: int) -> bool:
        interval = bounded_interval(estimate, standard_error * math.sqrt(n / number), alpha)
        return interval.low >= bound if estimate > bound else interval.high <= bound

    few, enough = n, n + 1
    while not tells(enough):
        few, enough = enough, 2 * enough
        if enough >= 2**53:
            return None
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if tells(middle) else (middle, enough)
    return enough


@lru_cache(maxsize=1024)
def chi_square_quantile(probability: float, degrees: int) -> float:
    """x with P(chi-square of `degrees` ≤ x) = probability, to 12 digits; 0 < probability < 1, degrees ≥ 1."""
    low, high = 0.0, float(degrees) + 10.0
    while _lower_gamma(degrees / 2, high / 2) < probability:
        high *= 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _lower_gamma(degrees / 2, middle / 2) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _lower_gamma(shape: float, x: float) -> float:
    """The regularised lower incomplete gamma function, by its series or its continued fraction (Numerical Recipes,
    section 6.2)."""
    if x <= 0:
        return 0.0
    factor = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        step = shape
        while term > total * 1e-17:
            step += 1
            term *= x / step
            total += term
        return total * factor
    b = x + 1 - shape
    c = 1e300
    d = 1 / b
    fraction = d
    for index in range(1, 10_000):
        a = -index * (index - shape)
        b += 2
        d = 1 / (a * d + b)
        c = b + a / c
        change = d * c
        fraction *= change
        if abs(change - 1) < 1e-16:
            break
    return 1 - factor * fraction
