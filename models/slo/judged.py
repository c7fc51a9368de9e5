"""The status of a promise, remembered: between two rounds of the tick nothing of it changes."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from gates.slo.counts import Counts, Miss
from gates.slo.definition import Definition
from gates.slo.sentences import backfilled_sentence, loosened_sentence
from gates.slo.status import SloStatus, status
from models.slo.definitions import MAX_SLOS, Published


@dataclass(frozen=True, slots=True, eq=False)
class ByRecord:
    """A version that compares by its record, which says all that it is."""

    version: Published

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByRecord) and other.version.record == self.version.record

    def __hash__(self) -> int:
        return hash(self.version.record)


@lru_cache(maxsize=MAX_SLOS)
def definition_of(published: ByRecord, target: Fraction, max_misses: int | None) -> Definition:
    """What the promise is judged by."""
    return replace(published.version.definition, target=target, max_misses=max_misses)


@lru_cache(maxsize=20_000)
def judged(
    published: ByRecord,
    target: Fraction,
    max_misses: int | None,
    is_loosened: bool,
    reaches_back: bool,
    counts: Counts,
    closed: bool,
    recently: bool,
    missed: tuple[Miss, ...],
) -> SloStatus:
    """With what its sentence has to tell beside the arithmetic. Exact fractions take their time."""
    version = published.version
    found = status(
        counts,
        definition_of(published, target, max_misses),
        period_closed=closed,
        evaluated_recently=recently,
        misses=missed,
    )
    parts = [found.sentence]
    if is_loosened:
        parts.append(loosened_sentence(version.version, version.definition, version.published_at))
    if reaches_back:
        parts.append(backfilled_sentence(version.first_at))
    return replace(found, sentence="; ".join(parts))
