"""One outcome of a criterion from its parts: that of the part which asks for the most."""

from collections.abc import Sequence
from typing import Final

from gates.release.criteria.base import Criterion
from gates.release.numbers import Unusable
from gates.release.results import PartResult, asked_effect
from shipworthy.formats.decision_rule import Effect, Outcome, State

_EFFECTS: Final[tuple[Effect, ...]] = ("none", "warn", "review", "block")
_OUTCOMES: Final[tuple[Outcome, ...]] = ("waived", "passed", "inconclusive", "error", "failed")


def combined(criterion: Criterion, parts: Sequence[PartResult]) -> tuple[Outcome, State | None]:
    """The outcome and state of the worst part, so that no part hides behind another. Unusable for no parts: all of
    nothing is not passed."""
    if not parts:
        raise Unusable("nothing_judged", "There was nothing to judge.")
    worst = worst_first(criterion, parts)[0]
    return worst.outcome, worst.state


def worst_first(criterion: Criterion, parts: Sequence[PartResult]) -> list[PartResult]:
    """By what each asks for, then by outcome; parts that are as bad keep their order."""

    on = tuple(criterion.on().items())

    def weight(part: PartResult) -> tuple[int, int]:
        asked = asked_effect(criterion.severity, on, part.outcome, part.state)
        return _EFFECTS.index(asked), _OUTCOMES.index(part.outcome)

    return sorted(parts, key=weight, reverse=True)


def error_part(name: str, error: Unusable) -> PartResult:
    return PartResult(name, "error", str(error), state=error.state)
