"""What was counted over a period, and what that leaves of the budget. Budgets are counts of misses: over few
windows a rate says little."""

from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

SloState: TypeAlias = Literal["no_data", "breached", "met", "unknown", "at_risk", "on_track"]
SLO_STATES: Final[tuple[SloState, ...]] = get_args(SloState)


@dataclass(frozen=True, slots=True)
class Counts:
    """Windows (or slices, or events) of a period. good = met + met_in_grace. `predicted` of the pending ones have
    failed already. Excluded ones take no part."""

    good: int = 0
    bad: int = 0
    unknown: int = 0
    pending: int = 0
    predicted: int = 0
    excluded: int = 0
    met_in_grace: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    @property
    def judged(self) -> int:
        """N: what is past."""
        return self.good + self.bad + self.unknown


@dataclass(frozen=True, slots=True)
class Miss:
    """A window that the sentence names. `day`: its local date, `reason`: of the breach, or "unknown"."""

    day: str
    reason: str


@dataclass(frozen=True, slots=True)
class Budget:
    """Counts of misses: `total` are allowed (a fraction such as 3/2), `used` counts unknown ones too, `remaining`
    may be negative."""

    total: Fraction
    used: int
    remaining: Fraction

    @property
    def remaining_ratio(self) -> Fraction:
        """1 = nothing used, 0 = all, negative = more than all. Where no miss is allowed: 1, or minus the misses."""
        if self.total:
            return self.remaining / self.total
        return Fraction(-self.used) if self.used else Fraction(1)
