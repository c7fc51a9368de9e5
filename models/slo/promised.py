"""What was promised over a time: a version that asks for less does not count for windows of those before it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from sqlalchemy import Connection, select, tuple_
from sqlmodel import col

from gates.slo.periods import PeriodBounds
from gates.slo.schedules import due_windows
from models.slo.definitions import Published, versions_of
from models.slo.projections import WITHDRAWN
from models.slo.remembered import Remembered
from models.slo.tables import SloWindow

MAX_VERSIONS: Final = 10_000
"""Earlier versions that a report looks at."""


@dataclass(frozen=True, slots=True)
class Promised:
    """The strictest of the promises under which windows of the time were expected. `earlier` are the versions before
    the reported one that make it stricter than that one alone, the first one first. `has_moved`: its dates were once
    meant in another time zone. `reaches_back`: windows of the span were over when they were first promised."""

    target: Fraction
    max_misses: int | None
    earlier: tuple[Published, ...] = ()
    has_moved: bool = False
    reaches_back: bool = False


def promised_over(
    connection: Connection, slos: Sequence[Published], bounds: Mapping[str, PeriodBounds]
) -> dict[str, Promised]:
    """By the name of the SLO, over each one's period. One statement more when any has earlier versions that this
    process does not know, and one when such a version asked for more."""
    before = _before(connection, slos)
    stricter = {
        (each.name, other.version): other
        for each in slos
        if each.version > 1
        for other in _in_force(each, before[each.name], bounds[each.name])
        if _is_stricter(other, each)
    }
    kept = _with_windows(connection, slos, stricter, bounds)
    earlier: dict[str, list[Published]] = defaultdict(list)
    for key, other in stricter.items():
        if key in kept:
            earlier[key[0]].append(other)
    return {
        each.name: _promised(each, before.get(each.name, ()), earlier.get(each.name, ()), bounds[each.name])
        for each in slos
    }


def _promised(
    reported: Published, before: Sequence[Published], earlier: Sequence[Published], period: PeriodBounds
) -> Promised:
    definition = reported.definition
    if not before and not definition.backfilled:
        return Promised(definition.target, definition.max_misses)
    definitions = [definition, *(other.definition for other in earlier)]
    most = [one.max_misses for one in definitions if one.max_misses is not None]
    return Promised(
        target=max(one.target for one in definitions),
        max_misses=min(most, default=None),
        earlier=tuple(earlier),
        reaches_back=any(_reaches_back(one, period) for one in (reported, *before)),
        has_moved=any(other.definition.time_zone != definition.time_zone for other in before),
    )


def _reaches_back(one: Published, period: PeriodBounds) -> bool:
    """Without `backfilled` nothing counts from before the first publication. With it a window that was still open then
    was promised before it was over."""
    until = min(one.first_at, period.end)
    if not one.definition.backfilled or one.since >= until or until <= period.start:
        return False
    if one.definition.expect is None:
        return True
    return any(True for _ in due_windows(one.definition, one.since, period.start, until))


_BEFORE: Final = Remembered[str, tuple[Published, ...]](MAX_VERSIONS)
"""Versions before one, by its record, the first one first: what was published before it does not change."""


def _before(connection: Connection, slos: Sequence[Published]) -> Mapping[str, Sequence[Published]]:
    """Versions before the reported ones, by name, of those that are not the first."""
    followed = [each for each in slos if each.version > 1]
    found = {each.name: _BEFORE.get(each.record) for each in followed}
    new = {each.name: each for each in followed if found[each.name] is None}
    read: dict[str, list[Published]] = defaultdict(list)
    for other in versions_of(connection, slos[0].namespace, sorted(new), MAX_VERSIONS) if new else ():
        if other.version < new[other.name].version:
            read[other.name].append(other)
    for name, each in new.items():
        found[name] = versions = tuple(read[name])
        if len(versions) == each.version - 1:
            _BEFORE.keep(each.record, versions)
    return {name: versions or () for name, versions in found.items()}


def _in_force(reported: Published, before: Sequence[Published], period: PeriodBounds) -> Sequence[Published]:
    """Those of the versions before that were the current one at some time of the span. What the first one reached back
    to it promised as well."""
    lasted = [(one, other.published_at) for one, other in pairwise([*before, reported])]
    return [
        one
        for one, until in lasted
        if until > period.start and (one.published_at < period.end or one.version == 1)
    ]


def _is_stricter(other: Published, than: Published) -> bool:
    one, two = other.definition, than.definition
    if one.target > two.target:
        return True
    return one.max_misses is not None and (two.max_misses is None or one.max_misses < two.max_misses)


def _with_windows(
    connection: Connection,
    slos: Sequence[Published],
    wanted: Mapping[tuple[str, int], Published],
    bounds: Mapping[str, PeriodBounds],
) -> frozenset[tuple[str, int]]:
    """Those of these versions under which windows of the span are expected yet: one that was replaced before anything
    opened under it promised nothing."""
    if not wanted:
        return frozenset()
    start = min(bounds[name].start for name, _ in wanted)
    end = max(bounds[name].end for name, _ in wanted)
    key = tuple_(col(SloWindow.slo), col(SloWindow.version))
    query = (
        select(col(SloWindow.slo), col(SloWindow.version), col(SloWindow.deadline_at))
        .where(
            col(SloWindow.namespace) == slos[0].namespace,
            col(SloWindow.slo).in_(sorted({name for name, _ in wanted})),
            key.in_(list(wanted)),
            col(SloWindow.deadline_at) >= start,
            col(SloWindow.deadline_at) < end,
            col(SloWindow.status) != WITHDRAWN,
        )
        .order_by(col(SloWindow.slo), col(SloWindow.deadline_at))
    )
    return frozenset(
        (slo, version)
        for slo, version, deadline in connection.execute(query)
        if bounds[slo].start <= deadline < bounds[slo].end
    )
