"""Which windows new records may change: evidence that came, late or not, was taken back, or was left out of count."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, or_, select
from sqlmodel import col

from gates.slo.definition import BOUND_BY_INTERVAL
from gates.slo.schedules import Interval
from models.contracts.tables import ContractCheck
from models.gates.tables import GateDecision
from models.lineage.tables import Artifact, Checkpoint, Evaluation, RunLink
from models.slo.chains import chains_of
from models.slo.definitions import Published
from models.slo.evidence_tables import SnapshotInterval
from models.slo.projections import WITHDRAWN
from models.slo.stored import StoredWindow, windows_where
from models.slo.tables import SloExclusion, SloWindow
from models.slo.touched import Touched

MAX_INTERVALS: Final = 200
"""That one statement asks for."""
MAX_WINDOWS: Final = 20_000
"""That the records of one round may change; what follows is found by a later record or by time."""


def touched_windows(
    connection: Connection, namespace: str, slos: Sequence[Published], touched: Sequence[Touched]
) -> list[StoredWindow]:
    """Windows of these SLOs whose evidence, or exclusion, is among the records."""
    names = {each.name for each in slos}
    conditions: list[ColumnElement[bool]] = []
    intervals = _intervals(connection, namespace, touched)
    bound = [each.name for each in slos if each.definition.objective in BOUND_BY_INTERVAL]
    for start in range(0, len(intervals) if bound else 0, MAX_INTERVALS):
        covered = [
            and_(
                col(SloWindow.interval_start) >= each.start,
                col(SloWindow.interval_start) < each.end,
                col(SloWindow.interval_end) <= each.end,
            )
            for each in intervals[start : start + MAX_INTERVALS]
        ]
        conditions.append(and_(col(SloWindow.slo).in_(bound), or_(*covered)))
    runs = sorted({each.run_id for each in touched if each.run_id is not None})
    if runs:
        conditions.append(col(SloWindow.run_id).in_(runs))
    saved = _savers(connection, namespace, touched)
    if saved:
        conditions.append(col(SloWindow.run_id).in_(saved))
    conditions += _excluded(connection, namespace, touched)
    events = [each.digest for each in touched]
    conditions.append(col(SloWindow.about).in_(events))
    found: dict[str, StoredWindow] = {}
    for condition in conditions:
        for window in windows_where(
            connection, col(SloWindow.namespace) == namespace, condition, limit=MAX_WINDOWS
        ):
            if window.slo in names and window.status != WITHDRAWN:
                found[window.id] = window
    return list(found.values())


def _intervals(connection: Connection, namespace: str, touched: Sequence[Touched]) -> list[Interval]:
    """The data intervals that the records are about."""
    runs = {each.run_id for each in touched if each.run_id is not None}
    records: dict[str, list[str]] = defaultdict(list)
    for each in touched:
        records[each.kind].append(each.digest)
    runs |= _makers(connection, namespace, records["decision"], records["evaluation.completed"])
    found = {(interval.start, interval.end) for interval in chains_of(connection, namespace, runs)}
    for interval in _of_data(connection, namespace, touched, runs, records["contract.checked"]):
        found.add((interval.start, interval.end))
    return [Interval(*each) for each in sorted(found)]


def _makers(
    connection: Connection, namespace: str, decisions: Sequence[str], evaluations: Sequence[str]
) -> set[str]:
    """Runs that made what was decided on or evaluated."""
    found: set[str] = set()
    artifacts: set[str] = set()
    if decisions:
        query = select(col(GateDecision.artifact)).where(
            col(GateDecision.namespace) == namespace, col(GateDecision.record).in_(decisions)
        )
        artifacts |= set(connection.execute(query).scalars())
    if evaluations:
        about = select(col(Evaluation.subject), col(Evaluation.run_id)).where(
            col(Evaluation.namespace) == namespace, col(Evaluation.record).in_(evaluations)
        )
        for subject, run_id in connection.execute(about):
            if run_id is not None:
                found.add(run_id)
            if subject is not None:
                artifacts.add(subject)
    if artifacts:
        makers = select(col(Artifact.run_id)).where(
            col(Artifact.namespace) == namespace, col(Artifact.digest).in_(artifacts)
        )
        found |= set(connection.execute(makers).scalars())
    return found


def _of_data(
    connection: Connection,
    namespace: str,
    touched: Sequence[Touched],
    runs: Collection[str],
    checks: Sequence[str],
) -> Iterable[Interval]:
    """The extraction intervals of snapshots that came, were read by a run that came, or were checked."""
    digests: set[str] = set()
    if checks:
        query = select(col(ContractCheck.manifest)).where(
            col(ContractCheck.namespace) == namespace, col(ContractCheck.record).in_(checks)
        )
        digests |= set(connection.execute(query).scalars())
    if any(each.kind == "run.registered" for each in touched):
        links = select(col(RunLink.digest)).where(
            col(RunLink.run_id).in_(list(runs)),
            col(RunLink.namespace) == namespace,
            col(RunLink.direction) == "in",
            col(RunLink.kind) == "data",
        )
        digests |= set(connection.execute(links).scalars())
    positions = [each.position for each in touched if each.kind == "snapshot"]
    conditions: list[ColumnElement[bool]] = []
    if digests:
        conditions.append(col(SnapshotInterval.digest).in_(digests))
    if positions:
        conditions.append(col(SnapshotInterval.position).in_(positions))
    if not conditions:
        return []
    intervals = select(col(SnapshotInterval.interval_start), col(SnapshotInterval.interval_end)).where(
        col(SnapshotInterval.namespace) == namespace, or_(*conditions)
    )
    return [Interval(start, end) for start, end in connection.execute(intervals)]


def _savers(connection: Connection, namespace: str, touched: Sequence[Touched]) -> list[str]:
    """Runs whose checkpoints were verified."""
    digests = {each.subject[7:] for each in touched if each.kind == "checkpoint.verified"}
    if not digests:
        return []
    query = select(col(Checkpoint.run_id)).where(
        col(Checkpoint.digest).in_(digests), col(Checkpoint.namespace) == namespace
    )
    return sorted(set(connection.execute(query).scalars()))


def _excluded(
    connection: Connection, namespace: str, touched: Sequence[Touched]
) -> list[ColumnElement[bool]]:
    """What exclusions that came, or were taken back, are about."""
    records = [each.digest for each in touched if each.kind == "slo.excluded"]
    if not records:
        return []
    query = select(
        col(SloExclusion.slo),
        col(SloExclusion.starts_at),
        col(SloExclusion.ends_at),
        col(SloExclusion.windows),
    ).where(col(SloExclusion.namespace) == namespace, col(SloExclusion.record).in_(records))
    found: list[ColumnElement[bool]] = []
    for row in connection.execute(query):
        if row.starts_at is not None and row.ends_at is not None:
            found.append(
                and_(
                    col(SloWindow.slo) == row.slo,
                    col(SloWindow.deadline_at) >= row.starts_at,
                    col(SloWindow.opens_at) < row.ends_at,
                )
            )
        if row.windows is not None:
            found.append(col(SloWindow.id).in_(json.loads(row.windows)))
    return found
