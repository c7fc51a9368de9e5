"""What was promised over a time: a version that asks for less does not count for windows of those before it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from sqlalchemy import Connection, select, tuple_
from sqlmodel import col

from models.slo.definitions import Published, versions_of
from models.slo.projections import WITHDRAWN
from models.slo.sums import Span
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
    connection: Connection, slos: Sequence[Published], spans: Mapping[str, Span]
) -> dict[str, Promised]:
    """By the name of the SLO, over each one's span. One statement more when any has earlier versions, and one when such
    a version asked for more."""
    before = _before(connection, slos)
    stricter = {
        (each.name, other.version): other
        for each in slos
        for other in _in_force(each, before.get(each.name, ()), spans[each.name])
        if _is_stricter(other, each)
    }
    kept = _with_windows(connection, slos, stricter, spans)
    found = {}
    for each in slos:
        earlier = [other for key, other in stricter.items() if key[0] == each.name and key in kept]
        definitions = [each.definition, *(other.definition for other in earlier)]
        most = [one.max_misses for one in definitions if one.max_misses is not None]
        found[each.name] = Promised(
            target=max(one.target for one in definitions),
            max_misses=min(most, default=None),
            earlier=tuple(earlier),
            reaches_back=any(
                one.since < one.first_at and one.first_at > spans[each.name].start
                for one in (each, *before.get(each.name, ()))
            ),
            has_moved=any(
                other.definition.time_zone != each.definition.time_zone for other in before.get(each.name, ())
            ),
        )
    return found


def _before(connection: Connection, slos: Sequence[Published]) -> Mapping[str, Sequence[Published]]:
    """Versions before the reported ones, by name, the first one first."""
    reported = {each.name: each.version for each in slos if each.version > 1}
    if not reported:
        return {}
    found: dict[str, list[Published]] = defaultdict(list)
    for each in versions_of(connection, slos[0].namespace, sorted(reported), MAX_VERSIONS):
        if each.version < reported[each.name]:
            found[each.name].append(each)
    return found


def _in_force(reported: Published, before: Sequence[Published], span: Span) -> Sequence[Published]:
    """Those of the versions before that were the current one at some time of the span. What the first one reached back
    to it promised as well."""
    lasted = [(one, other.published_at) for one, other in pairwise([*before, reported])]
    return [
        one
        for one, until in lasted
        if until > span.start and (one.published_at < span.end or one.version == 1)
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
    spans: Mapping[str, Span],
) -> frozenset[tuple[str, int]]:
    """Those of these versions under which windows of the span are expected yet: one that was replaced before anything
    opened under it promised nothing."""
    if not wanted:
        return frozenset()
    start = min(spans[name].start for name, _ in wanted)
    end = max(spans[name].end for name, _ in wanted)
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
        if spans[slo].start <= deadline < spans[slo].end
    )
