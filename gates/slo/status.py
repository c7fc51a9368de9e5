"""The status of a promise over a period, in exact arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gates.slo.counts import Budget, Counts, Miss, SloState
from gates.slo.definition import Definition
from gates.slo.heartbeats import ENOUGH
from gates.slo.sentences import status_sentence


@dataclass(frozen=True, slots=True)
class SloStatus:
    """low = G/N with every unknown bad, high = (G+U+P)/(N+P) with every unknown and pending good; None when nothing was
    counted."""

    state: SloState
    low: Fraction | None
    high: Fraction | None
    coverage: Fraction | None
    budget: Budget
    sentence: str


def status(
    counts: Counts,
    definition: Definition,
    *,
    period_closed: bool,
    evaluated_recently: bool,
    misses: Sequence[Miss] = (),
) -> SloStatus:
    """`evaluated_recently`: within the last three intervals of the tick."""
    judged, whole = counts.judged, counts.judged + counts.pending
    low = Fraction(counts.good, judged) if judged else None
    high = Fraction(whole - counts.bad, whole) if whole else None
    coverage = Fraction(counts.good + counts.bad, judged) if judged else None
    state = _state(counts, definition, period_closed, evaluated_recently)
    budget = _budget(counts, definition)
    sentence = status_sentence(
        counts, definition, state, budget, misses, evaluated_recently=evaluated_recently
    )
    return SloStatus(state, low, high, coverage, budget, sentence)


def _state(counts: Counts, definition: Definition, closed: bool, evaluated_recently: bool) -> SloState:
    """The first that applies, in the order of docs/slo.md."""
    judged, whole = counts.judged, counts.judged + counts.pending
    if not judged or not evaluated_recently:
        return "no_data"
    most = definition.max_misses
    if Fraction(whole - counts.bad, whole) < definition.target or (most is not None and counts.bad > most):
        return "breached"
    holds = _holds(counts.good, judged, definition)
    # What is still pending after the end may be missed yet, as within a grace time that is longer than the period.
    if closed and _holds(counts.good, judged + counts.pending, definition):
        return "met"
    if not holds:
        return "unknown" if Fraction(counts.good + counts.bad, judged) < ENOUGH else "at_risk"
    # A pending window whose last attempt has failed is foreseen to be missed.
    return "on_track" if _holds(counts.good, judged + counts.predicted, definition) else "at_risk"


def _holds(good: int, judged: int, definition: Definition) -> bool:
    most = definition.max_misses
    return Fraction(good, judged) >= definition.target and (most is None or judged - good <= most)


def _budget(counts: Counts, definition: Definition) -> Budget:
    """Of the whole period: the windows that are still pending give their share too."""
    total = (1 - definition.target) * (counts.judged + counts.pending)
    if definition.max_misses is not None:
        total = min(total, Fraction(definition.max_misses))
    used = counts.bad + counts.unknown
    return Budget(total, used, total - used)
