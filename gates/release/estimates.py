"""Recorded estimates as criteria use them: every number let in by `admit`, with the interval at the attempt's alpha."""

import math
from dataclasses import dataclass
from typing import Final

from gates.release.intervals import (
    Interval,
    bounded_interval,
    needed_n,
    needed_n_bounded,
    normal_cdf,
    normal_interval,
    wilson_interval,
)
from gates.release.metrics import Metric, find_metric
from gates.release.numbers import Unusable, admit, admit_count
from gates.release.statistics_facts import Difference, Measured, Statistics

_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """`successes` of `n` where the metric is a proportion; its interval is Wilson's then."""

    value: float
    standard_error: float
    n: int
    method: str
    successes: int | None = None
    is_bounded: bool = False
    """A value of a metric between 0 and 1, not a difference of two."""

    def interval(self, alpha: float) -> Interval:
        if self.successes is not None:
            return wilson_interval(self.successes, self.n, alpha)
        if self.is_bounded:
            return bounded_interval(self.value, self.standard_error, alpha)
        return normal_interval(self.value, self.standard_error, alpha)

    def error_at(self, bound: float) -> float:
        """The standard error were the truth at the bound; for a proportion it follows from the bound."""
        if self.successes is not None and 0 < bound < 1:
            return math.sqrt(bound * (1 - bound) / self.n)
        return self.standard_error

    def needed_n(self, bound: float, alpha: float) -> int | None:
        """How many examples would tell on which side of the bound the truth is, were the estimate to stay: more than
        there are, by the interval above. None when no number would."""
        if self.is_bounded and self.successes is None:
            return needed_n_bounded(self.value, bound, self.standard_error, self.n, alpha)
        return needed_n(self.value - bound, self.error_at(bound), self.n, alpha)

    def chance_of_harm(self, bound: float) -> float:
        """p-value of "the truth is `bound` or more", one-sided: small where it is shown to be less."""
        error = self.error_at(bound)
        if error == 0:
            return 0.0 if self.value < bound else 1.0
        return normal_cdf((self.value - bound) / error)


def metric_of(name: str) -> Metric:
    """Publishing refuses other names."""
    metric = find_metric(name)
    if metric is None:
        raise Unusable("not_measured", f"No worker computes {name}.")
    return metric


def estimate_of(statistics: Statistics, name: str) -> Estimate:
    """What the attempt measured. Unusable when it didn't, or when what was reported isn't what was recomputed."""
    require_agreement(statistics, name)
    measured = statistics.metrics.get(name)
    if measured is None:
        raise Unusable("not_measured", f"The attempt has no {name}.")
    return admit_estimate(measured, name, name)


def difference_of(statistics: Statistics, name: str) -> "PairedDifference":
    require_agreement(statistics, name)
    difference = statistics.differences.get(name)
    if difference is None:
        raise Unusable("not_measured", f"The attempt has no difference of {name} to the incumbent.")
    return admit_difference(difference, name, name)


def require_agreement(statistics: Statistics, name: str) -> None:
    for each in statistics.reported:
        if each.metric == name and not each.agrees and each.recomputed is not None:
            sentence = f"The reported {name} is not the one that the predictions give."
            raise Unusable("reported_differs", sentence)


def admit_estimate(measured: Measured, name: str, what: str) -> Estimate:
    """`what` is how sentences call it, such as "recall of country NO"."""
    metric = metric_of(name)
    value = admit(measured.estimate, what, metric.low, metric.high)
    error = admit(measured.standard_error, f"The standard error of {what}", 0)
    if metric.proportion:
        trials = admit_count(measured.trials, f"The number of trials of {what}", 1)
        successes = admit_count(measured.successes, f"The number of successes of {what}", 0, trials)
        if abs(successes / trials - value) > _SAME:
            raise Unusable("inconsistent", f"{what} is not {successes:,} of {trials:,}.")
        admit_count(measured.n, f"The number of examples of {what}", trials)
        return Estimate(value, error, trials, "wilson", successes)
    n = admit_count(measured.n, f"The number of examples of {what}", 1)
    if measured.successes is not None or measured.trials is not None:
        raise Unusable("inconsistent", f"{what} is no share, but has successes of trials.")
    if error == 0 and metric.is_bounded and value not in (0, 1):
        raise Unusable("no_number", f"The standard error of {what} is 0, which claims certainty.")
    return Estimate(value, error, n, measured.method, is_bounded=metric.is_bounded)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """`change` and `standard_error` of candidate − incumbent over the same `n` examples."""

    change: float
    standard_error: float
    n: int
    method: str
    candidate: float
    incumbent: float

    def as_estimate(self, sign: int) -> Estimate:
        """The gain: more is better. `sign` is −1 where less of the metric is better."""
        return Estimate(sign * self.change, self.standard_error, self.n, self.method)


def admit_difference(difference: Difference, name: str, what: str) -> PairedDifference:
    metric = metric_of(name)
    widest = metric.high - metric.low if metric.is_bounded else metric.high
    change = admit(difference.estimate, f"The difference of {what}", -widest, widest)
    error = admit(difference.standard_error, f"The standard error of the difference of {what}", 0)
    n = admit_count(difference.n, f"The number of paired examples of {what}", 1)
    candidate = admit(difference.candidate, f"{what} of the candidate", metric.low, metric.high)
    incumbent = admit(difference.incumbent, f"{what} of the incumbent", metric.low, metric.high)
    if abs(candidate - incumbent - change) > _SAME * max(1.0, abs(candidate), abs(incumbent)):
        raise Unusable("inconsistent", f"The difference of {what} is not candidate minus incumbent.")
    if error == 0 and change != 0 and metric.is_bounded:
        raise Unusable(
            "no_number", f"The standard error of the difference of {what} is 0, which claims certainty."
        )
    return PairedDifference(change, error, n, difference.method, candidate, incumbent)
