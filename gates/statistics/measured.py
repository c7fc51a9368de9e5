"""What was measured of one metric, and how it is written into a `statistics` record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gates.statistics.standard_errors import Counts, with_repeats

Method = Literal["closed-form", "wilson", "delong", "bootstrap", "reported"]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@dataclass(frozen=True, slots=True)
class Metric:
    """`repeats` are the values of each repeat; `n` counts the rows that the metric is of, such as the positives of a
    recall."""

    repeats: tuple[float, ...]
    standard_error: float
    n: int
    method: Method
    counts: Counts | None = None

    @property
    def estimate(self) -> float:
        """The mean of the repeats, of a proportion the share of its counts: both must lie in one interval."""
        if self.counts is not None:
            return self.counts.successes / self.counts.trials
        return mean(self.repeats)

    def as_json(self) -> dict[str, Any]:
        return {
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "n": self.n,
            "method": self.method,
            "successes": None if self.counts is None else self.counts.successes,
            "trials": None if self.counts is None else self.counts.trials,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate minus incumbent on the same rows."""

    candidate: float
    incumbent: float
    standard_error: float
    n: int
    method: Method

    def as_json(self) -> dict[str, Any]:
        return {
            "estimate": self.candidate - self.incumbent,
            "standard_error": self.standard_error,
            "n": self.n,
            "method": self.method,
            "candidate": self.candidate,
            "incumbent": self.incumbent,
        }


@dataclass(frozen=True, slots=True)
class Measured:
    """All metrics of some rows by name that have a standard error, and those differences that could be made."""

    metrics: Mapping[str, Metric]
    differences: Mapping[str, Difference]
    values: "Mapping[str, Values]"
    """The point estimates, also of metrics for which there is no standard error."""

    def as_json(self) -> dict[str, Any]:
        return {
            "metrics": {name: metric.as_json() for name, metric in self.metrics.items()},
            "differences": {name: difference.as_json() for name, difference in self.differences.items()},
        }


@dataclass(frozen=True, slots=True)
class Values:
    """Point estimates of a metric, one for each repeat; `incumbent` is empty when there is none to compare with."""

    candidate: tuple[float, ...]
    incumbent: tuple[float, ...]

    def metric(self, error: float, n: int, method: Method, counts: Counts | None = None) -> Metric:
        return Metric(self.candidate, with_repeats(error, self.candidate), n, method, counts)

    def difference(self, error: float, n: int, method: Method) -> Difference:
        return Difference(
            mean(self.candidate),
            mean(self.incumbent),
            with_repeats(error, self.candidate, self.incumbent),
            n,
            method,
        )
