"""The whole and each of its slices, measured in one order: what is drawn for a slice depends on its place in it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gates.statistics.aligning import Aligned
from gates.statistics.measured import Measured
from gates.statistics.measuring import measure
from gates.statistics.refusals import StatisticsRefused
from gates.statistics.resampling import Plan

MAX_SLICES: Final = 2000
"""Of all dimensions together."""

Progress = Callable[[int, int, str], None]
"""Done, in all, and what is done at present."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows whose `dimension` is `value`."""

    dimension: str
    value: str
    n: int
    positives: int | None
    measured: Measured

    def as_json(self) -> dict[str, Any]:
        named = {"dimension": self.dimension, "value": self.value, "n": self.n, "positives": self.positives}
        return named | self.measured.as_json()


def measure_all(
    aligned: Aligned, seed: int, resamples: int, progress: Progress
) -> tuple[Measured, tuple[Slice, ...]]:
    """Raises StatisticsRefused when there are too many slices."""
    dimensions = sorted(aligned.dimensions.items())
    parts = sum(len(dimension.names) for _, dimension in dimensions)
    if parts > MAX_SLICES:
        raise StatisticsRefused(
            f"there are {parts:,} slices; at most {MAX_SLICES:,} are taken, so group them"
        )
    counter = _Counter(progress, (1 + parts) * resamples)
    whole = measure(aligned.rows, Plan(seed, (), resamples), counter.step)
    slices = []
    for number, (name, dimension) in enumerate(dimensions):
        # Sorted once, every slice is a run of rows in their old order.
        order = np.argsort(dimension.parts, kind="stable")
        ends = np.cumsum(np.bincount(dimension.parts, minlength=len(dimension.names)))
        for place, value in enumerate(dimension.names):
            rows = aligned.rows.at(order[ends[place - 1] if place else 0 : ends[place]])
            counter.text = f"slices of {name}"
            measured = measure(rows, Plan(seed, (number, place), resamples), counter.step)
            slices.append(Slice(name, value, len(rows), rows.positives, measured))
    return whole, tuple(slices)


class _Counter:
    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self.text = "resampling"

    def step(self, resamples: int) -> None:
        self._done += resamples
        self._progress(self._done, self._total, self.text)
