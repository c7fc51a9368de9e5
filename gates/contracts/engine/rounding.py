"""Twelve significant digits: what is the same on every engine and with any number of threads."""

import math
from typing import Final

DIGITS: Final = 12


def rounded(value: float) -> float:
    """The value to 12 significant digits; infinities and NaN as they are."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else value
