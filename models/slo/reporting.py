"""The report's facts: for each SLO what its period holds, by what was received up to a time.

One reading serves JSON, CSV, gauges and pages. Its cost follows the number of SLOs and what their periods hold; what
closed before plays no part. An entry is made of texts that are compared first: one of which nothing changed is the one
that was made before (`judged.py`).
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from gates.slo.exclusions import Exclusion
from gates.slo.periods import Period, PeriodBounds, period_at
from gates.slo.report import ReportedSlo, ReportedSource
from models.slo.as_of import held_as_of
from models.slo.current import current_slos
from models.slo.definitions import Published, slos_as_of
from models.slo.held import Held, held_over
from models.slo.judged import entry_of
from models.slo.left_out import excluded_in
from models.slo.live_days import LiveDays, live_days
from models.slo.promised import Promised, promised_over
from models.slo.reported_sources import reported_sources
from models.slo.sums import Span

RECENTLY: Final = timedelta(seconds=90)
"""Three intervals of the tick: an SLO that was not judged for longer has no data."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the report is about. `start` and `end` None: each SLO's own period; `as_of` None: now. Without
    `with_windows` the documents of windows are not read."""

    namespace: str
    now: datetime
    start: datetime | None = None
    end: datetime | None = None
    team: str | None = None
    name: str | None = None
    as_of: datetime | None = None
    with_windows: bool = True


@dataclass(frozen=True, slots=True)
class Reported:
    """`slo` is the same object as long as nothing of it changes. `last_evaluated_at` None: never; `windows` is the
    inside of a JSON list, put together by the database."""

    slo: ReportedSlo
    bounds: PeriodBounds
    last_evaluated_at: datetime | None
    sources: tuple[ReportedSource, ...]
    windows: str


def report(connection: Connection, asked: Asked) -> list[Reported]:
    """In order of name."""
    as_of = asked.as_of if asked.as_of is not None and asked.as_of < asked.now else None
    moment = asked.now if as_of is None else as_of
    slos: Sequence[Published]
    if as_of is None:
        slos = current_slos(connection, asked.namespace, asked.team, asked.name)
    else:
        slos = slos_as_of(connection, asked.namespace, as_of, asked.team)
        slos = [each for each in slos if asked.name in (None, each.name)]
    if not slos:
        return []
    bounds = _bounds(slos, asked, moment)
    promised = promised_over(connection, slos, bounds)
    spans = _spans(slos, bounds, promised)
    behind: Collection[str] = ()
    live: Mapping[str, LiveDays] = {}
    if as_of is None:
        held = _held(connection, asked, spans)
        live = live_days(connection, slos, spans, moment)
    else:
        held, behind = held_as_of(connection, slos, spans, as_of, RECENTLY)
    sources = reported_sources(connection, asked.namespace, slos, bounds, moment)
    found = []
    for each in slos:
        name, period, here = each.name, bounds[each.name], held[spans[each.name]]
        today = live.get(name)
        done_at = here.done_at if here.done_at is None else min(here.done_at, moment)
        recently = done_at is not None and moment - done_at <= RECENTLY and name not in behind
        closed = period.end <= moment and not (asked.end is None and each.definition.period.is_rolling)
        entry = entry_of(
            each,
            promised[name],
            closed=closed,
            recently=recently,
            sums=here.sums.get(name, ""),
            live=None if today is None else today.sums,
            missed=here.missed.get(name, ""),
            corrected=here.corrected.get(name, ""),
            exclusions=_known(here.excluded.get(name, ""), moment),
        )
        shown = here.shown.get(name, "")
        if today is not None and today.shown and asked.with_windows:
            shown = f"{shown},{today.shown}" if shown else today.shown
        found.append(Reported(entry, period, done_at, sources.get(name, ()), shown))
    return found


def _held(connection: Connection, asked: Asked, spans: Mapping[str, Span]) -> dict[Span, Held]:
    """A statement for each span, however many SLOs have it."""
    names: dict[Span, list[str]] = defaultdict(list)
    for name, span in spans.items():
        names[span].append(name)
    return {
        span: held_over(connection, asked.namespace, those, span, with_windows=asked.with_windows)
        for span, those in names.items()
    }


def _known(excluded: str, moment: datetime) -> tuple[Exclusion, ...]:
    """What was left out by then."""
    return tuple(one for one in excluded_in(excluded) if one.recorded_at <= moment) if excluded else ()


def _bounds(slos: Sequence[Published], asked: Asked, moment: datetime) -> dict[str, PeriodBounds]:
    """By name. Most SLOs share their period, and finding one takes a walk through local times."""
    known: dict[Period | str, PeriodBounds] = {}
    found = {}
    for each in slos:
        if asked.start is not None and asked.end is not None:
            zone = each.definition.time_zone
            if zone not in known:
                known[zone] = PeriodBounds("asked", asked.start, asked.end, zone)
            found[each.name] = known[zone]
            continue
        period = each.definition.period
        if period not in known:
            known[period] = period_at(period, moment)
        found[each.name] = known[period]
    return found


def _spans(
    slos: Sequence[Published], bounds: Mapping[str, PeriodBounds], promised: Mapping[str, Promised]
) -> dict[str, Span]:
    """By name."""
    found = {}
    for each in slos:
        period = bounds[each.name]
        zone = None if promised[each.name].has_moved else each.definition.time_zone
        found[each.name] = Span(period.start, period.end, zone)
    return found
