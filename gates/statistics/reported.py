"""What an evaluator reported against what its own rows give: a metric that nobody can make again is no measurement."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gates.statistics.measured import Values

TOLERANCE: Final = 1e-6
"""Relative; sums of floats in another order differ far less."""
_NEAR_ZERO: Final = 1e-12
MAX_LISTED: Final = 500

Json = Any


def compare(evaluations: Sequence[Mapping[str, Json]], values: Mapping[str, Values]) -> list[dict[str, Json]]:
    """One entry for each repeat and reported metric: first those that differ, then those that agree, last those that
    can't be recomputed; at most MAX_LISTED."""
    entries = []
    for place, evaluation in enumerate(evaluations):
        for metric, reported in sorted(evaluation["metrics"].items()):
            found = values.get(metric)
            recomputed = None if found is None else found.candidate[place]
            entries.append(
                {
                    "repeat": evaluation["repeat"],
                    "metric": metric,
                    "reported": reported,
                    "recomputed": recomputed,
                    "agrees": recomputed is not None and agree(reported, recomputed),
                }
            )
    entries.sort(key=lambda entry: (entry["recomputed"] is None, entry["agrees"]))
    return entries[:MAX_LISTED]


def agree(reported: float, recomputed: float) -> bool:
    return abs(reported - recomputed) <= max(TOLERANCE * max(abs(reported), abs(recomputed)), _NEAR_ZERO)
