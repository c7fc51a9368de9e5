"""The report's facts: for each SLO what its period holds, by what was received up to a time.

One reading serves JSON, CSV, gauges and pages. Its cost follows the number of SLOs and what their periods hold; what
closed before plays no part.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from sqlalchemy import Connection
from sqlmodel import col

from gates.slo.counts import Counts, Miss
from gates.slo.exclusions import planned_exclusions
from gates.slo.heartbeats import coverage
from gates.slo.periods import Period, PeriodBounds, period_at
from gates.slo.report import ReportedSlo, ReportedSource
from gates.slo.status import SloStatus, status
from models.slo.as_of import windows_as_of
from models.slo.definitions import Published, current_slos, slos_as_of
from models.slo.freshness import slices_of
from models.slo.leases import lease_state
from models.slo.left_out import exclusions_of
from models.slo.listed import corrections, misses, shown_windows
from models.slo.sources import last_seen, lives_of
from models.slo.stored import windows_where
from models.slo.sums import Span, Sums, sums_over
from models.slo.tables import SloWindow

LEASE: Final = "windows"
RECENTLY: Final = timedelta(seconds=90)
"""Three intervals of the tick: an SLO that was not judged for longer has no data."""
MAX_LIVE_DAYS: Final = 10_000
"""Days of live runs whose slices are counted when they are asked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the report is about. `start` and `end` None: each SLO's own period; `as_of` None: now."""

    namespace: str
    now: datetime
    start: datetime | None = None
    end: datetime | None = None
    team: str | None = None
    name: str | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    """`windows` is the inside of a JSON list: what the database put together. `same` is equal where all but the windows
    is."""

    slo: ReportedSlo
    windows: str
    same: Hashable


@dataclass(frozen=True, slots=True, eq=False)
class ByRecord:
    """A version that compares by its record, which says all that it is."""

    version: Published

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByRecord) and other.version.record == self.version.record

    def __hash__(self) -> int:
        return hash(self.version.record)


def report(connection: Connection, asked: Asked) -> list[Reported]:
    """In order of name."""
    done_at: datetime | None
    if asked.as_of is not None and asked.as_of < asked.now:
        slos = slos_as_of(connection, asked.namespace, asked.as_of, asked.team)
        slos = [each for each in slos if asked.name in (None, each.name)]
        moment, done_at = asked.as_of, asked.as_of
    else:
        slos = current_slos(connection, asked.namespace, asked.team, asked.name)
        moment = asked.now
        evaluated = lease_state(connection, LEASE).done_at
        done_at = None if evaluated is None else min(evaluated, asked.now)
    bounds = _bounds(slos, asked, moment)
    spans = {
        each.name: Span(bounds[each.name].start, bounds[each.name].end, each.definition.time_zone)
        for each in slos
    }
    if moment is asked.as_of:
        past = windows_as_of(connection, slos, spans, moment)
        counted, missed, shown, corrected = past.sums, past.misses, past.shown, past.corrections
    else:
        counted = sums_over(connection, asked.namespace, spans)
        counted = counted | _with_live(connection, slos, spans, counted, moment)
        missed = misses(connection, asked.namespace, spans)
        shown = shown_windows(connection, asked.namespace, spans)
        corrected = corrections(connection, asked.namespace, spans)
    sources = _sources(connection, asked.namespace, slos, bounds, moment)
    left_out = exclusions_of(connection, asked.namespace, [each.name for each in slos])
    found = []
    for each in slos:
        period = bounds[each.name]
        closed = period.end <= moment and not (asked.end is None and each.definition.period.is_rolling)
        counts = _counts(each, counted.get(each.name, Sums()))
        recently = done_at is not None and moment - done_at <= RECENTLY
        judged = _judged(ByRecord(each), counts, closed, recently, tuple(missed.get(each.name, ())))
        exclusions = [*planned_exclusions(each.definition, each.published_at), *left_out.get(each.name, ())]
        reported = ReportedSlo(
            definition=each.definition,
            revision=each.version,
            bounds=period,
            closed=closed,
            counts=counts,
            status=judged,
            last_evaluated_at=done_at,
            sources=sources.get(each.name, ()),
            exclusions=[one for one in exclusions if one.recorded_at <= moment],
            corrections=corrected.get(each.name, ()),
        )
        same = (
            each.record,
            period,
            closed,
            counts,
            recently,
            tuple(missed.get(each.name, ())),
            done_at,
            tuple(reported.sources),
            tuple(reported.exclusions),
            tuple(reported.corrections),
        )
        found.append(Reported(reported, shown.get(each.name, ""), same))
    return found


def _bounds(slos: Sequence[Published], asked: Asked, moment: datetime) -> dict[str, PeriodBounds]:
    """By name. Most SLOs share their period, and finding one takes a walk through local times."""
    if asked.start is not None and asked.end is not None:
        return {
            each.name: PeriodBounds("asked", asked.start, asked.end, each.definition.time_zone)
            for each in slos
        }
    known: dict[Period, PeriodBounds] = {}
    for each in slos:
        period = each.definition.period
        if period not in known:
            known[period] = period_at(period, moment)
    return {each.name: known[each.definition.period] for each in slos}


def _counts(published: Published, sums: Sums) -> Counts:
    """Freshness counts slices: of those none is pending."""
    by_slices = published.definition.objective == "freshness"
    return Counts(
        good=sums.good,
        bad=sums.bad,
        unknown=sums.unsure,
        pending=0 if by_slices else sums.pending,
        predicted=0 if by_slices else sums.predicted,
        excluded=sums.excluded,
        met_in_grace=sums.met_in_grace,
    )


@lru_cache(maxsize=20_000)
def _judged(
    published: ByRecord, counts: Counts, closed: bool, recently: bool, missed: tuple[Miss, ...]
) -> SloStatus:
    """Remembered: between two rounds of the tick nothing of it changes, and exact fractions take their time."""
    return status(
        counts,
        published.version.definition,
        period_closed=closed,
        evaluated_recently=recently,
        misses=missed,
    )


def _with_live(
    connection: Connection,
    slos: Sequence[Published],
    spans: Mapping[str, Span],
    counted: Mapping[str, Sums],
    now: datetime,
) -> dict[str, Sums]:
    """Sums with the slices of days that are not over: of live runs the slices up to now."""
    found = {}
    for each in slos:
        span = spans[each.name]
        if each.definition.objective != "freshness" or span.end <= now - timedelta(days=1):
            continue
        pending = windows_where(
            connection,
            col(SloWindow.namespace) == each.namespace,
            col(SloWindow.slo) == each.name,
            col(SloWindow.look_at) > now,
            col(SloWindow.status) == "pending",
            col(SloWindow.deadline_at) >= span.start,
            col(SloWindow.deadline_at) < span.end,
            limit=MAX_LIVE_DAYS,
        )
        live = counted.get(each.name, Sums())
        for day in slices_of(connection, each, pending, now).values() if pending else ():
            bad, unsure = day.counts.bad, day.counts.unknown
            if each.definition.on_missing == "breach":
                bad, unsure = bad + unsure, 0
            elif each.definition.on_missing == "exclude":
                unsure = 0
            live += Sums(good=day.counts.good, bad=bad, unsure=unsure)
        found[each.name] = live
    return found


def _sources(
    connection: Connection,
    namespace: str,
    slos: Sequence[Published],
    bounds: Mapping[str, PeriodBounds],
    now: datetime,
) -> dict[str, list[ReportedSource]]:
    named = sorted({each.definition.source for each in slos if each.definition.source is not None})
    if not named:
        return {}
    seen = last_seen(connection, namespace, named)
    start = min(each.start for each in bounds.values())
    lives = lives_of(connection, namespace, named, start, now)
    found = {}
    for each in slos:
        source = each.definition.source
        if source is None:
            continue
        period = bounds[each.name]
        beats = [beat for life in lives.get(source, ()) for beat in life.heartbeats]
        known = max(period.start, min(each.first_at, now))
        until = min(period.end, now)
        gaps = coverage(beats, known, until).gaps if known < until else ()
        last, alive_until = seen.get(source, (None, None))
        alive = alive_until is not None and alive_until >= now
        found[each.name] = [ReportedSource(source, alive, last, gaps)]
    return found
