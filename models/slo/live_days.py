"""Days of live runs that are not over: their slices up to now count already."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection
from sqlmodel import col

from models.slo.definitions import Published
from models.slo.freshness import slices_of
from models.slo.stored import windows_where
from models.slo.sums import Span, Sums
from models.slo.tables import SloWindow

MAX_LIVE_DAYS: Final = 10_000
"""Days of live runs whose slices are counted when they are asked for."""


def with_live(
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
            # A rolling period ends now, and today is in it as far as it has come.
            col(SloWindow.opens_at if span.end >= now else SloWindow.deadline_at) < span.end,
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
