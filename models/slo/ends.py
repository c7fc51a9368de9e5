"""Ends of attempts as they were reported, without those that were taken back."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select
from sqlmodel import col

from models.slo.evidence_tables import RunEnd
from models.slo.revoked import not_revoked


@dataclass(frozen=True, slots=True)
class End:
    """An end of an attempt as it was reported."""

    at: datetime
    completed: bool
    record: str
    recorded_at: datetime


def ends_of(connection: Connection, namespace: str, run_ids: Collection[str]) -> Mapping[str, Sequence[End]]:
    """Reported ends by run, the one that counts last; without those that were taken back."""
    query = (
        select(
            col(RunEnd.run_id),
            col(RunEnd.ended_at),
            col(RunEnd.state),
            col(RunEnd.record),
            col(RunEnd.recorded_at),
        )
        .where(
            col(RunEnd.namespace) == namespace,
            col(RunEnd.run_id).in_(list(run_ids)),
            not_revoked(namespace, col(RunEnd.record)),
        )
        .order_by(col(RunEnd.run_id), col(RunEnd.attempt), col(RunEnd.ended_at), col(RunEnd.state))
    )
    found: dict[str, list[End]] = defaultdict(list)
    for row in connection.execute(query) if run_ids else ():
        found[row.run_id].append(End(row.ended_at, row.state == "completed", row.record, row.recorded_at))
    return found
