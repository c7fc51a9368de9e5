"""Standard errors in closed form: of proportions, of means, of paired differences, and of what repeats add.

A proportion that was never wrong would have the standard error 0, and any bound would pass on five examples. So one
success and one failure are added (Agresti and Coull 1998, Agresti and Caffo 2000), and to a paired difference of
proportions one example for which only the one model is right and one for which only the other is (Bonett and Price
2012). They count in the standard error alone, never in the estimate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gates.statistics.arrays import Floats

ONE_OF_EACH: Final = (0.0, 1.0)
"""Added to the rows of a proportion: a failure and a success."""
ONE_EACH_WAY: Final = (-1.0, 1.0)
"""Added to the differences of two proportions."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Successes of independent trials, from which a Wilson interval is made."""

    successes: int
    trials: int


def mean_over_repeats(repeats: Sequence[Floats]) -> Floats:
    """Of each row its mean over the repeats: rows are what is sampled, however often each is measured."""
    return repeats[0] if len(repeats) == 1 else np.asarray(np.mean(np.stack(repeats), axis=0))


def error_of_mean(rows: Floats, added: Sequence[float] = ()) -> float:
    """The standard error of the mean; `added` are the rows that make a proportion's one honest when it is near a
    bound. Without them at least 2 rows are needed."""
    if not added:
        return float(np.std(rows, ddof=1)) / math.sqrt(len(rows))
    n = len(rows) + len(added)
    mean = (float(rows.sum()) + sum(added)) / n
    squares = float(np.square(rows - mean).sum()) + sum((each - mean) ** 2 for each in added)
    return math.sqrt(squares) / n


def least_error(*sizes: int) -> float:
    """A floor for a metric of groups of these sizes that lies between 0 and 1: as if one example of each group were
    ranked or classified wholly wrong. Two models that agree on all examples seen need not agree on the next one."""
    return math.sqrt(sum(1 / size**2 for size in sizes))


def with_repeats(error: float, *repeats: Sequence[float]) -> float:
    """The standard error with what the values of the repeats vary by added; never smaller than without."""
    between = sum(float(np.var(each, ddof=1)) / len(each) for each in repeats if len(each) > 1)
    return math.sqrt(error**2 + between)


def counts_of(repeats: Sequence[Floats], error: float) -> Counts:
    """Successes and trials of rows that are 0 or 1. Where repeats differ it is as many trials as would have this
    standard error, so that their interval is no narrower than the repeats allow."""
    first = repeats[0]
    if all(np.array_equal(first, other) for other in repeats[1:]):
        return Counts(int(first.sum()), len(first))
    return counts_like(float(np.mean([each.mean() for each in repeats])), error, len(first))


def counts_like(share: float, error: float, most: int) -> Counts:
    """Counts of at most so many trials whose share and standard error are about these, rounded down."""
    trials = max(1, min(most, math.floor(share * (1 - share) / error**2)))
    return Counts(math.floor(share * trials), trials)
