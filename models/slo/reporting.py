"""The report's facts: for each SLO what its period holds, by what was received up to a time.

One reading serves JSON, CSV, gauges and pages. Its cost follows the number of SLOs and what their periods hold; what
closed before plays no part.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from gates.slo.counts import Counts
from gates.slo.exclusions import planned_exclusions
from gates.slo.periods import Period, PeriodBounds, period_at
from gates.slo.report import EarlierVersion, ReportedSlo
from models.slo.as_of import windows_as_of
from models.slo.definitions import Published, current_slos, slos_as_of
from models.slo.judged import ByRecord, definition_of, judged
from models.slo.leases import lease_state
from models.slo.left_out import exclusions_of
from models.slo.listed import corrections, misses, shown_windows
from models.slo.live_days import with_live
from models.slo.promised import promised_over
from models.slo.reported_sources import reported_sources
from models.slo.sums import Span, Sums, sums_over

LEASE: Final = "windows"
RECENTLY: Final = timedelta(seconds=90)
"""Three intervals of the tick: an SLO that was not judged for longer has no data."""


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
    promised = promised_over(connection, slos, spans)
    spans = {
        name: replace(span, time_zone=None) if promised[name].has_moved else span
        for name, span in spans.items()
    }
    behind: Collection[str] = ()
    if moment is asked.as_of:
        past = windows_as_of(connection, slos, spans, moment, RECENTLY)
        behind = past.behind
        counted, missed, shown, corrected = past.sums, past.misses, past.shown, past.corrections
    else:
        counted = sums_over(connection, asked.namespace, spans)
        counted = counted | with_live(connection, slos, spans, counted, moment)
        missed = misses(connection, asked.namespace, spans)
        shown = shown_windows(connection, asked.namespace, spans)
        corrected = corrections(connection, asked.namespace, spans)
    sources = reported_sources(connection, asked.namespace, slos, bounds, moment)
    left_out = exclusions_of(connection, asked.namespace, [each.name for each in slos])
    found = []
    for each in slos:
        period = bounds[each.name]
        closed = period.end <= moment and not (asked.end is None and each.definition.period.is_rolling)
        counts = _counts(each, counted.get(each.name, Sums()))
        recently = done_at is not None and moment - done_at <= RECENTLY and each.name not in behind
        promise = promised[each.name]
        definition = definition_of(ByRecord(each), promise.target, promise.max_misses)
        found_so = judged(
            ByRecord(each),
            promise.target,
            promise.max_misses,
            bool(promise.earlier),
            promise.reaches_back,
            counts,
            closed,
            recently,
            tuple(missed.get(each.name, ())),
        )
        exclusions = [*planned_exclusions(each.definition, each.published_at), *left_out.get(each.name, ())]
        reported = ReportedSlo(
            definition=definition,
            revision=each.version,
            bounds=period,
            closed=closed,
            counts=counts,
            status=found_so,
            last_evaluated_at=done_at,
            sources=sources.get(each.name, ()),
            exclusions=[one for one in exclusions if one.recorded_at <= moment],
            corrections=corrected.get(each.name, ()),
            backfilled_until=each.first_at if promise.reaches_back else None,
            earlier=tuple(
                EarlierVersion(
                    one.version, one.published_at, one.definition.target, one.definition.max_misses
                )
                for one in promise.earlier
            ),
        )
        same = (
            each.record,
            reported.earlier,
            reported.backfilled_until,
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
