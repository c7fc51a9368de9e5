"""Sources of evidence as a report shows them: whether each lives, and when in the period it was silent."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from gates.slo.heartbeats import coverage
from gates.slo.periods import PeriodBounds
from gates.slo.report import ReportedSource
from models.slo.definitions import Published
from models.slo.sources import last_seen, lives_of


def reported_sources(
    connection: Connection,
    namespace: str,
    slos: Sequence[Published],
    bounds: Mapping[str, PeriodBounds],
    now: datetime,
) -> dict[str, tuple[ReportedSource, ...]]:
    """By the name of the SLO; one that names no source is left out."""
    named = sorted({each.definition.source for each in slos if each.definition.source is not None})
    if not named:
        return {}
    seen = last_seen(connection, namespace, named)
    start = min(each.start for each in bounds.values())
    lives = lives_of(connection, namespace, named, start, now)
    found: dict[str, tuple[ReportedSource, ...]] = {}
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
        found[each.name] = (ReportedSource(source, alive, last, gaps),)
    return found
