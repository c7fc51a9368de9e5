"""Evaluation reports that were promised to be kept: whether their bytes are there, and are the ones they were."""

from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select
from sqlmodel import col

from gates.slo.definition import EvidenceRule
from gates.slo.windows import EvidenceItem
from models.lineage.tables import Evaluation, ModelVersion, Run
from models.slo.chains import named
from models.slo.definitions import Published
from models.slo.evidence_tables import EvaluationReport
from models.slo.measured import Found
from models.slo.stored import StoredWindow

MAX_REPORTS: Final = 100_000
"""That one check looks at."""
MAX_NAMED: Final = 50
"""Missing reports that an outcome names; `measured` says how many there are."""


def kept_reports(
    connection: Connection,
    published: Published,
    windows: Sequence[StoredWindow],
    kept: Container[str],
    now: datetime,
) -> Mapping[str, Found]:
    """For each window all reports that had come before its deadline and must be kept until after it; looked at once it
    has passed. `kept` are the digests whose bytes are there."""
    found = {}
    for window in windows:
        due = _due(connection, published, window.deadline_at) if now >= window.due_at else []
        if not due:
            continue
        missing = [each for each in due if each[1] not in kept]
        named = missing[:MAX_NAMED] or due[:1]
        items = [
            EvidenceItem(
                at=window.deadline_at,
                recorded_at=received,
                good=not missing,
                record=record,
                final=bool(missing),
            )
            for record, _, received in named
        ]
        found[window.id] = Found(items, {"reports": len(due), "reports_missing": len(missing)})
    return found


def reports_due(connection: Connection, published: Published, windows: Sequence[StoredWindow]) -> set[str]:
    """Digests of all reports that one of the windows is about."""
    return {digest for window in windows for _, digest, _ in _due(connection, published, window.deadline_at)}


def _due(connection: Connection, published: Published, at: datetime) -> list[tuple[str, str, datetime]]:
    namespace = published.namespace
    query = (
        select(col(EvaluationReport.record), col(EvaluationReport.digest), col(EvaluationReport.recorded_at))
        .where(
            col(EvaluationReport.namespace) == namespace,
            col(EvaluationReport.retain_until) >= at,
            col(EvaluationReport.recorded_at) < at,
        )
        .order_by(col(EvaluationReport.position))
        .limit(MAX_REPORTS)
    )
    found = [(row.record, row.digest, row.recorded_at) for row in connection.execute(query)]
    rule = published.definition.evidence
    if rule.job is not None or rule.model is not None:
        wanted = _about(connection, namespace, [record for record, _, _ in found], rule)
        found = [each for each in found if each[0] in wanted]
    return found


def _about(
    connection: Connection, namespace: str, records: Sequence[str], rule: EvidenceRule
) -> frozenset[str]:
    """Evaluations of the job's runs, or of what was registered as a version of the model."""
    query = (
        select(col(Evaluation.record), col(Run.job_namespace), col(Run.job_name), col(ModelVersion.model))
        .outerjoin(
            Run,
            (col(Run.run_id) == col(Evaluation.run_id)) & (col(Run.namespace) == col(Evaluation.namespace)),
        )
        .outerjoin(
            ModelVersion,
            (col(ModelVersion.artifact) == col(Evaluation.subject))
            & (col(ModelVersion.namespace) == col(Evaluation.namespace)),
        )
        .where(col(Evaluation.namespace) == namespace, col(Evaluation.record).in_(records))
    )
    return frozenset(
        row.record
        for row in (connection.execute(query) if records else ())
        if named(row.job_namespace or "", row.job_name or "", rule.job) and rule.model in (None, row.model)
    )
