"""What is recorded about windows: for each the facts that its promise is judged by.

Windows of one SLO are looked up together: a statement for hundreds of them costs what one for one does.
"""

from collections.abc import Container, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from models.slo.definitions import Published
from models.slo.evidence_data import approved_snapshots
from models.slo.evidence_events import event_outcomes
from models.slo.evidence_queue import waiting_times
from models.slo.evidence_reports import kept_reports
from models.slo.evidence_resuming import resumptions
from models.slo.evidence_runs import completed_runs, of_artifacts
from models.slo.measured import Found
from models.slo.stored import StoredWindow


def gather(
    connection: Connection,
    published: Published,
    windows: Sequence[StoredWindow],
    kept: Container[str],
    now: datetime,
) -> Mapping[str, Found]:
    """By the id of the window; a window of which nothing is known is left out. All windows are of this SLO, and none of
    a freshness objective, which is judged by slices. `kept` are digests of reports whose bytes are there."""
    match published.definition.objective, published.definition.evidence.event:
        case "retention", _:
            return kept_reports(connection, published, windows, kept, now)
        case "queue-delay", _:
            return waiting_times(connection, published, windows, now)
        case "resume-loss", _:
            return resumptions(connection, published, windows)
        case "ratio", _:
            return event_outcomes(connection, published, windows)
        case _, "snapshot.approved":
            return approved_snapshots(connection, published, windows)
        case _, "run.completed":
            return completed_runs(connection, published, windows)
        case _:
            return of_artifacts(connection, published, windows)
