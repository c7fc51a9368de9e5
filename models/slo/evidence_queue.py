"""How long jobs waited to start, by team and priority, with those that still wait."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, or_, select
from sqlmodel import col

from gates.slo.queueing import Job, all_within, delays
from gates.slo.windows import EvidenceItem
from models.ledger.tables import Record
from models.lineage.run_state import OPEN_STATES
from models.slo.chains import named
from models.slo.definitions import Published
from models.slo.evidence_tables import RunTiming
from models.slo.measured import Found
from models.slo.stored import StoredWindow

MAX_JOBS: Final = 50_000
"""Of one window."""
NOBODY: Final = "–"
"""Stands for a team or priority that a run does not name."""
_MAX_GROUPS: Final = 10
"""Groups whose figures an outcome shows, the slowest first."""


def waiting_times(
    connection: Connection, published: Published, windows: Sequence[StoredWindow], now: datetime
) -> Mapping[str, Found]:
    """Every job that waited at some time of the window: it was submitted before the deadline, and had not started
    before the window opened. A job that still waits has waited until `now`; a window is due when that tells whether the
    limit was kept."""
    limit = published.definition.limits.p95
    assert limit is not None
    found = {}
    for window in windows:
        jobs = _jobs(connection, published, window) if now >= window.due_at else []
        if not jobs:
            continue
        groups = delays([job for job, _, _ in jobs], limit, now)
        within, slowest = all_within(groups), max(groups, key=lambda each: each.p95)
        measured: dict[str, int | float | str | bool | None] = {
            "jobs": sum(each.jobs for each in groups),
            "still_waiting": sum(each.waiting for each in groups),
        }
        for each in sorted(groups, key=lambda each: -each.p95)[:_MAX_GROUPS]:
            name = f"p95_seconds of {each.team[:80]}, {each.priority[:80]}"
            measured[name] = each.p95.total_seconds()
        record, received = _longest(jobs, now)
        item = EvidenceItem(
            at=window.deadline_at,
            recorded_at=received,
            good=within is True,
            record=record,
            final=within is False,
            measured=slowest.p95.total_seconds(),
        )
        found[window.id] = Found([item], measured)
    return found


def _jobs(
    connection: Connection, published: Published, window: StoredWindow
) -> list[tuple[Job, str, datetime]]:
    """Each with the record that registered it and when that came."""
    query = (
        select(
            col(RunTiming.job_namespace),
            col(RunTiming.job_name),
            col(RunTiming.team),
            col(RunTiming.priority),
            col(RunTiming.state),
            col(RunTiming.queued_at),
            col(RunTiming.started_at),
            col(RunTiming.ended_at),
            col(Record.digest),
            col(Record.recorded_at),
        )
        .join(Record, col(Record.position) == col(RunTiming.position))
        .where(
            col(RunTiming.namespace) == published.namespace,
            col(RunTiming.queued_at) < window.deadline_at,
            or_(col(RunTiming.started_at).is_(None), col(RunTiming.started_at) >= window.opens_at),
            or_(
                col(RunTiming.started_at).is_not(None),
                col(RunTiming.state).in_(OPEN_STATES),
                col(RunTiming.ended_at) >= window.opens_at,
            ),
        )
        .order_by(col(RunTiming.queued_at).desc())
        .limit(MAX_JOBS)
    )
    job = published.definition.evidence.job
    found = []
    for row in connection.execute(query):
        if row.queued_at is None or not named(row.job_namespace, row.job_name, job):
            continue
        # One that was given up while it waited has waited until then.
        until = row.started_at if row.started_at is not None or row.state in OPEN_STATES else row.ended_at
        waited = Job(row.team or NOBODY, row.priority or NOBODY, row.queued_at, until)
        found.append((waited, row.digest, row.recorded_at))
    return found


def _longest(jobs: Sequence[tuple[Job, str, datetime]], now: datetime) -> tuple[str, datetime]:
    _, record, received = max(jobs, key=lambda each: ((each[0].started or now) - each[0].submitted, each[1]))
    return record, received
