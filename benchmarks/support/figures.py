"""What a benchmark prints: one line a figure, and the exit status."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value, and the ratio that is held against a target: at least or at most."""

    name: str
    value: float
    unit: str
    ratio: float
    target: float
    bound: Literal["at least", "at most"] = "at least"

    @property
    def reached(self) -> bool:
        return self.ratio >= self.target if self.bound == "at least" else self.ratio <= self.target

    def line(self) -> str:
        sign = "≥" if self.bound == "at least" else "≤"
        return f"{self.name}: {self.value:.4g} {self.unit} (ratio {self.ratio:.3g}, target {sign} {self.target:.3g})"


def finish(figures: Sequence[Figure]) -> None:
    """Prints every figure on standard output; exits with 1 when one misses its target."""
    for figure in figures:
        print(figure.line(), flush=True)
    sys.exit(0 if all(figure.reached for figure in figures) else 1)
