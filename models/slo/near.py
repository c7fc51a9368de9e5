"""Runs that may have been meant for a window, and don't count for it: what somebody who asks why looks for first."""

from typing import Any, Final

from sqlalchemy import Connection, select
from sqlmodel import col

from gates.slo.schedules import Interval
from models.fields import instant_text
from models.slo.chains import named
from models.slo.definitions import Published
from models.slo.evidence_tables import RunTiming
from models.slo.measured import covers
from models.slo.stored import StoredWindow

MAX_NEAR: Final = 20


def near_runs(connection: Connection, published: Published, window: StoredWindow) -> list[dict[str, Any]]:
    """Runs of the job for data that overlaps the window's; `covers` says whether it is all of the window's."""
    if window.interval_start is None or window.interval_end is None:
        return []
    query = (
        select(
            col(RunTiming.run_id),
            col(RunTiming.job_namespace),
            col(RunTiming.job_name),
            col(RunTiming.state),
            col(RunTiming.interval_start),
            col(RunTiming.interval_end),
        )
        .where(
            col(RunTiming.namespace) == published.namespace,
            col(RunTiming.interval_end) > window.interval_start,
            col(RunTiming.interval_start) < window.interval_end,
        )
        .order_by(col(RunTiming.interval_end))
        .limit(10 * MAX_NEAR)
    )
    found = []
    for row in connection.execute(query):
        if not named(row.job_namespace, row.job_name, published.definition.evidence.job):
            continue
        assert row.interval_start is not None
        assert row.interval_end is not None
        interval = Interval(row.interval_start, row.interval_end)
        found.append(
            {
                "run_id": row.run_id,
                "job": f"{row.job_namespace}/{row.job_name}",
                "state": row.state,
                "data_interval": {
                    "start": instant_text(interval.start),
                    "end": instant_text(interval.end),
                },
                "covers": covers(interval, window.interval),
            }
        )
    return found[:MAX_NEAR]
