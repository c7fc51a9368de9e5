"""Days of live runs that are not over: their slices up to now count already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import orjson
from sqlalchemy import Connection
from sqlmodel import col

from gates.slo.checkpoints import SliceCounts
from gates.slo.definition import OnMissing
from models.slo.definitions import Published
from models.slo.freshness import slices_of
from models.slo.listed import MAX_SHOWN
from models.slo.stored import windows_where
from models.slo.sums import Span, Sums
from models.slo.tables import SloWindow

MAX_LIVE_DAYS: Final = 10_000
"""Days of live runs whose slices are counted when they are asked for."""


_NOTHING: Final = SliceCounts(0, 0, 0)


@dataclass(frozen=True, slots=True)
class LiveDays:
    """What days that are not over add. `sums`: of live runs the slices up to now; `shown`: the documents of days that
    end after the time that is asked about, the inside of a JSON list."""

    sums: Sums
    shown: str


def live_days(
    connection: Connection, slos: Sequence[Published], spans: Mapping[str, Span], now: datetime
) -> dict[str, LiveDays]:
    """By the name of the SLO; only freshness has such days."""
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
        counted = slices_of(connection, each, pending, now) if pending else {}
        sums, shown = Sums(), list[str]()
        for window in pending:
            day = counted.get(window.id)
            counts = _NOTHING if day is None else _resolved(day.counts, each.definition.on_missing)
            sums += Sums(good=counts.good, bad=counts.bad, unsure=counts.unknown)
            if window.deadline_at >= span.end:
                so_far = {"good": counts.good, "bad": counts.bad, "unknown": counts.unknown}
                shown.append(orjson.dumps({**window.shown, "slices": so_far}).decode())
        found[each.name] = LiveDays(sums, ",".join(shown[-MAX_SHOWN:]))
    return found


def _resolved(counts: SliceCounts, on_missing: OnMissing) -> SliceCounts:
    """As they count when nothing more comes."""
    if on_missing == "breach":
        return SliceCounts(counts.good, counts.bad + counts.unknown, 0)
    return SliceCounts(counts.good, counts.bad, 0) if on_missing == "exclude" else counts
