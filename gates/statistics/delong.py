"""The area under the ROC curve of one model and the difference of two on the same examples.

DeLong, DeLong and Clarke-Pearson 1988, by the mid-ranks of Sun and Xu 2014: O(n log n), ties count half.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from gates.statistics.arrays import Booleans, Floats
from gates.statistics.standard_errors import least_error, mean_over_repeats


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    """`positives`: of each positive example the share of negatives ranked below it; `negatives`: of each negative the
    share of positives ranked above it. The mean of either is the area."""

    positives: Floats
    negatives: Floats


def placements(score: Floats, is_positive: Booleans) -> Placements:
    positive, negative = score[is_positive], score[~is_positive]
    together = rankdata(score)
    above = (together[is_positive] - rankdata(positive)) / len(negative)
    below = (together[~is_positive] - rankdata(negative)) / len(positive)
    return Placements(above, 1 - below)


def mean_placements(repeats: Sequence[Placements]) -> Placements:
    return Placements(
        mean_over_repeats([each.positives for each in repeats]),
        mean_over_repeats([each.negatives for each in repeats]),
    )


def minus(candidate: Placements, incumbent: Placements) -> Placements:
    """The difference, row by row: both models saw the same examples."""
    return Placements(
        candidate.positives - incumbent.positives,
        candidate.negatives - incumbent.negatives,
    )


def error_of(found: Placements) -> float:
    """The standard error of the mean, at least that of one wrongly ranked example of each class: DeLong's is 0 for
    models that rank perfectly or alike. Needs 2 examples of each class."""
    positives, negatives = len(found.positives), len(found.negatives)
    variance = (
        float(np.var(found.positives, ddof=1)) / positives
        + float(np.var(found.negatives, ddof=1)) / negatives
    )
    return max(math.sqrt(variance), least_error(positives, negatives))
