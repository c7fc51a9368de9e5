"""Signs of life of running jobs: mutable, outside the log."""

from datetime import datetime

from sqlalchemy import Connection, select
from sqlmodel import col

from models.bulk import upsert_rows
from models.errors import RunNotFound
from models.lineage.tables import Run, RunProgress


def save_progress(
    connection: Connection,
    namespace: str,
    run_id: str,
    process: str,
    step: int | None,
    phase: str | None,
    now: datetime,
) -> None:
    """Raises RunNotFound for a run that this namespace does not have."""
    known = connection.execute(
        select(col(Run.run_id)).where(col(Run.namespace) == namespace, col(Run.run_id) == run_id)
    ).first()
    if known is None:
        raise RunNotFound(f"no run {run_id} in this namespace; register it first with POST /v1/runs")
    row = {
        "namespace": namespace,
        "run_id": run_id,
        "process": process,
        "step": step,
        "phase": phase,
        "received_at": now,
    }
    upsert_rows(connection, RunProgress, [row])
