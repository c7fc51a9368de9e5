"""How the chance of a lucky pass is shared among attempts on one evaluation snapshot."""

import math
from typing import Final

from gates.release.numbers import admit_count

_SHARE: Final = 6 / math.pi**2
"""1 + 1/4 + 1/9 + … = π²/6: with this factor all shares together make 1."""


def spent_alpha(alpha: float, attempt: int) -> float:
    """alpha_k = 6·alpha/(π²·k²) for the k-th attempt, k ≥ 1. However many attempts there are, their alphas sum to at
    most alpha, so that a model which is not good enough passes in any of them with at most that chance."""
    return alpha * _SHARE / (admit_count(attempt, "The number of the attempt", 1) ** 2)
