"""Windows that nobody could expect ahead of time: of events among new records, and of the days of live runs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from models.slo.definitions import Published
from models.slo.events import OF_EVENTS, events_in
from models.slo.expecting import Body, day_bodies, event_bodies
from models.slo.freshness import live_runs, run_days
from models.slo.stored import known_ids
from models.slo.touched import Touched

OF_RUNS: Final = frozenset({"run.registered", "run.event"})
Named = list[tuple[str, Body]]


def seen_windows(
    connection: Connection, slos: Iterable[Published], records: Sequence[Touched], now: datetime
) -> Named:
    """Windows that the events among the records make, and the days of the runs among them."""
    bodies: Named = []
    runs = sorted({each.run_id for each in records if each.run_id is not None and each.kind in OF_RUNS})
    for published in slos:
        namespace = published.namespace
        if published.definition.objective == "freshness" and runs:
            bodies += days_of(connection, published, runs, now)
        elif published.definition.objective in OF_EVENTS:
            events = events_in(connection, published, records)
            known = known_ids(connection, namespace, [each.id for each in events])
            new = [each for each in events if each.id not in known]
            bodies += [(namespace, body) for body in event_bodies(published, new)]
    return bodies


def days_of(
    connection: Connection, published: Published, run_ids: Sequence[str] | None, now: datetime
) -> Named:
    runs = live_runs(connection, published.namespace, published.definition.evidence.job, now, run_ids)
    days = [day for run in runs for day in run_days(published, run, now)]
    known = known_ids(connection, published.namespace, [each.id for each in days])
    new = [each for each in days if each.id not in known]
    return [(published.namespace, body) for body in day_bodies(published, new)]
