"""The bootstrap (Efron 1979): standard errors of metrics that have no closed form, both models on the same resamples.

Draws depend on nothing but the seed, the place and the number of rows. Memory is bounded by the size of a chunk,
however many resamples there are.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from gates.statistics.arrays import Floats, Integers
from gates.statistics.bodies import RESAMPLES

DEFINED: Final = 0.95
"""Of the resamples at least this part must have a value. Without a positive there is no recall; if that is likely, the
rest would tell of another distribution."""
_ROWS: Final = 0
_CELLS: Final = 1
_CHUNK: Final = 2**19
"""Rows × resamples at a time, 4 MB: what stays in a processor's cache."""

Name = TypeVar("Name", str, tuple[str, ...])
Replicate = Callable[[Integers], Floats]
"""Of rows drawn (resamples × rows), or of the sizes of cells (resamples × cells), the metric of each model (resamples ×
models), NaN where there is none."""
Step = Callable[[int], None]
"""Told of so many resamples done."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`place` is that of the rows among all parts of a measurement: other rows, other draws."""

    seed: int
    place: tuple[int, ...] = ()
    resamples: int = RESAMPLES


def resample_rows(rows: int, metrics: Mapping[Name, Replicate], plan: Plan, step: Step) -> dict[Name, Floats]:
    """Of each metric its values (resamples × models) on rows drawn with replacement."""
    draw = _generator(plan, _ROWS)
    made: dict[Name, list[Floats]] = {name: [] for name in metrics}
    for chunk in _chunks(plan.resamples, rows):
        drawn = draw.integers(0, rows, (chunk, rows))
        for name, replicate in metrics.items():
            made[name].append(replicate(drawn))
        step(chunk)
    return {name: np.concatenate(values) for name, values in made.items()}


def resample_cells(sizes: Integers, metrics: Mapping[str, Replicate], plan: Plan) -> dict[str, Floats]:
    """The same where rows of one cell of a table are alike: the cells' sizes are drawn, not the rows."""
    draw = _generator(plan, _CELLS)
    total = int(sizes.sum())
    made: dict[str, list[Floats]] = {name: [] for name in metrics}
    for chunk in _chunks(plan.resamples, len(sizes)):
        counts = draw.multinomial(total, sizes / total, chunk)
        for name, replicate in metrics.items():
            made[name].append(replicate(counts))
    return {name: np.concatenate(values) for name, values in made.items()}


def error_of(values: Floats) -> float | None:
    """The standard deviation of the resamples' values; None when too few have one."""
    defined = values[np.isfinite(values)]
    if len(defined) < max(2, math.ceil(DEFINED * len(values))):
        return None
    return float(np.std(defined, ddof=1))


def _generator(plan: Plan, sort: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([plan.seed, sort, *plan.place])))


def _chunks(resamples: int, rows: int) -> Iterator[int]:
    size = max(1, min(resamples, _CHUNK // rows))
    for begun in range(0, resamples, size):
        yield min(size, resamples - begun)
