"""Metrics of resampled rows. What needs an order is prepared once: rows that need not be told apart get one number, and
a resample is counted by these numbers.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from gates.statistics.arrays import Booleans, Floats, Integers, Numbers
from gates.statistics.resampling import Replicate

One = Callable[[Integers], Floats]
"""Of rows drawn (resamples × rows) one value a resample, or one row of values."""
_REACH: Final = 8.0
"""Standard deviations of the rank where a quantile may lie in a resample: beyond it once in 10^15."""


def of_models(models: Sequence[One]) -> Replicate:
    """The metric of each model, side by side; of several metrics resamples × models × metrics."""
    return lambda drawn: np.stack([model(drawn) for model in models], axis=1)


def average_precision(score: Floats, is_positive: Booleans) -> One:
    """Σ (Rₖ − Rₖ₋₁)·Pₖ over the distinct scores from the highest down, as scikit-learn defines it."""
    codes, levels = levels_of(score, is_positive)

    def replicate(drawn: Integers) -> Floats:
        counts = counted(drawn, codes, 2 * levels)[:, ::-1]
        gained, others = counts[:, 0::2], counts[:, 1::2]
        found = np.cumsum(gained, axis=1)
        above = found + np.cumsum(others, axis=1)
        # Where nothing was drawn yet nothing was found either.
        sums = np.einsum("ij,ij->i", gained, found / np.maximum(above, 1))
        return divided(sums, found[:, -1])

    return replicate


def levels_of(score: Floats, is_positive: Booleans) -> tuple[Integers, int]:
    """Of each row 2 × its level + 1 if it is positive, and how many levels there are, from the lowest score up. Equal
    scores share a level, and so do negatives with no positive between them: their order is in no metric of ranks."""
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    group = np.cumsum(np.append(0, ordered[1:] != ordered[:-1]))
    has_positive = np.bincount(group, weights=is_positive[order]) > 0
    begins = has_positive | np.append(True, has_positive[:-1])
    level = np.cumsum(begins) - 1
    codes = np.empty(len(score), dtype=np.int64)
    codes[order] = 2 * level[group] + is_positive[order]
    return codes, int(level[-1]) + 1


def counted(drawn: Integers, codes: Integers, width: int) -> Integers:
    """Of each resample how often each code was drawn (resamples × width)."""
    found = codes[drawn]
    found += np.arange(len(drawn))[:, np.newaxis] * width
    return np.bincount(found.ravel(), minlength=len(drawn) * width).reshape(len(drawn), width)


def root_mean_squared_error(label: Numbers, prediction: Numbers) -> One:
    squares = np.square(label - prediction)
    return lambda drawn: np.sqrt(squares[drawn].mean(axis=1))


def r2(label: Numbers, prediction: Numbers) -> One:
    """1 − residual sum of squares / sum of squares around the resample's own mean."""
    squares = np.square(label - prediction)
    return lambda drawn: 1 - divided(squares[drawn].mean(axis=1), label[drawn].var(axis=1))


def quantiles(values: Floats, shares: Sequence[float]) -> One:
    """Of each resample all quantiles (resamples × shares), between neighbours in rank, linearly, as numpy does."""
    order = np.argsort(values, kind="stable")
    last = len(values) - 1
    is_near = np.zeros(len(values), dtype=np.bool_)
    for share in shares:
        reach = _REACH * math.sqrt(len(values) * share * (1 - share)) + 2
        is_near[max(0, math.floor(share * last - reach)) : math.ceil(share * last + reach) + 1] = True
    begins = is_near | np.append(True, is_near[:-1])
    codes = np.empty(len(values), dtype=np.int64)
    codes[order] = np.cumsum(begins) - 1
    lowest = values[order][begins]

    def replicate(drawn: Integers) -> Floats:
        reached = np.cumsum(counted(drawn, codes, len(lowest)), axis=1)
        made = np.empty((len(drawn), len(shares)))
        for place, share in enumerate(shares):
            low = int(share * last)
            lower = lowest[np.count_nonzero(reached <= low, axis=1)]
            upper = lowest[np.count_nonzero(reached <= min(low + 1, last), axis=1)]
            made[:, place] = lower + (share * last - low) * (upper - lower)
        return made

    return replicate


def divided(value: Floats, by: Numbers) -> Floats:
    """NaN where there is nothing to divide by."""
    made: Floats = np.divide(value, by, out=np.full(len(by), np.nan), where=by > 0)
    return made
