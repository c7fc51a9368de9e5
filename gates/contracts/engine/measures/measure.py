"""A measure: the aggregates or small queries that one of our own expectations needs, and how it is judged.

Aggregates of all measures are computed in one pass over the data; judging is pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.table import Column, Profile, Rows, TableShape

Outcome: TypeAlias = Literal["passed", "failed", "error", "not_evaluated"]
Observed: TypeAlias = int | float | str | None


@dataclass(frozen=True, slots=True)
class Histogram:
    """Shares of the values, by bin, beside the baseline's. Either `edges` (k + 1 of them, k + 2 shares: below the
    first, each bin, above the last) or `labels` (as many as shares; the last is "other")."""

    baseline: tuple[float, ...]
    observed: tuple[float, ...]
    edges: tuple[float, ...] | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is a sentence; counts are None where there is nothing to count."""

    outcome: Outcome
    reason: str
    observed: Observed = None
    rows: int | None = None
    nulls: int | None = None
    unexpected: int | None = None
    histogram: Histogram | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the queries of a measure gave, under the names that it asked for them."""

    profile: Profile
    values: Mapping[str, object] = field(default_factory=dict)
    rows: Mapping[str, Rows] = field(default_factory=dict)

    def count(self, name: str) -> int:
        value = self.values[name]
        return int(value) if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True)
class Measure:
    """SQL aggregate expressions over `data` and whole queries, by name."""

    judge: Callable[[Facts], Verdict]
    aggregates: Mapping[str, str] = field(default_factory=dict)
    queries: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a measure may depend on besides its own kwargs."""

    shape: TableShape
    baseline: Mapping[str, object] | None
    as_of: datetime

    def column(self, kwargs: Mapping[str, object]) -> Column:
        name = kwargs.get("column")
        if not isinstance(name, str):
            raise CheckRefused("The check names no column. Add `column`.")
        return self.shape.column(name)


def number(kwargs: Mapping[str, object], name: str, otherwise: float | None = None) -> float:
    """A number of the kwargs; CheckRefused when it is missing or none."""
    value = kwargs.get(name)
    if value is None and otherwise is not None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CheckRefused(f"`{name}` has to be a number.")
    return value


def judged(holds: bool, sentence: str, **details: object) -> Verdict:
    """Passed or failed, with the sentence ended either way."""
    return Verdict("passed" if holds else "failed", sentence, **details)  # type: ignore[arg-type]
