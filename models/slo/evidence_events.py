"""Windows that an event made: whether it was a good one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select, tuple_
from sqlmodel import col

from gates.slo.definition import EvidenceRule
from gates.slo.windows import EvidenceItem
from models.gates.tables import GateDecision
from models.ledger.tables import Record
from models.lineage.tables import ModelVersion, Run
from models.slo.definitions import Published
from models.slo.ends import ends_of
from models.slo.measured import Found
from models.slo.revoked import not_revoked
from models.slo.stored import StoredWindow


def event_outcomes(
    connection: Connection, published: Published, windows: Sequence[StoredWindow]
) -> Mapping[str, Found]:
    """Registrations of model versions, or ends of runs."""
    if published.definition.evidence.event == "model.registered":
        return _registrations(connection, published, windows)
    return _runs(connection, published, windows)


def _as_it_happened(window: StoredWindow, *, good: bool, record: str | None = None) -> EvidenceItem:
    """The event itself is the evidence, from the moment that it occurred."""
    return EvidenceItem(
        at=window.deadline_at,
        recorded_at=window.deadline_at,
        good=good,
        record=record or window.about or window.expected,
        final=not good,
        run_id=window.run_id,
    )


def _registrations(
    connection: Connection, published: Published, windows: Sequence[StoredWindow]
) -> Mapping[str, Found]:
    """A registration is good when a decision that let its very artifact pass stood in the log before it."""
    names = _names(connection, published.namespace, [each.about for each in windows if each.about])
    key = tuple_(col(ModelVersion.registry_name), col(ModelVersion.model), col(ModelVersion.version))
    query = select(col(ModelVersion.record), col(ModelVersion.artifact), col(ModelVersion.position)).where(
        col(ModelVersion.namespace) == published.namespace, key.in_(names)
    )
    made = {row.record: row for row in connection.execute(query)} if names else {}
    passed = _passed(
        connection,
        published.namespace,
        published.definition.evidence,
        [row.artifact for row in made.values()],
    )
    found = {}
    for window in windows:
        row = made.get(window.about or "")
        if row is None:
            continue
        before = [record for position, record in passed.get(row.artifact, ()) if position < row.position]
        decision = before[-1] if before else None
        found[window.id] = Found([_as_it_happened(window, good=bool(before), record=decision)])
    return found


def _names(connection: Connection, namespace: str, records: Sequence[str]) -> list[tuple[str, ...]]:
    """Registry, model and version of registrations, from what their records are filed under."""
    query = select(col(Record.subject)).where(
        col(Record.digest).in_(records), col(Record.namespace) == namespace
    )
    subjects = connection.execute(query).scalars().all() if records else ()
    return [tuple(subject.removeprefix("model:").split("|")) for subject in subjects]


def _passed(
    connection: Connection, namespace: str, rule: EvidenceRule, artifacts: Sequence[str]
) -> Mapping[str, list[tuple[int, str]]]:
    """Log position and record of the passing decisions about each artifact, in log order."""
    query = (
        select(col(GateDecision.artifact), col(GateDecision.position), col(GateDecision.record))
        .where(
            col(GateDecision.namespace) == namespace,
            col(GateDecision.artifact).in_(artifacts),
            col(GateDecision.mode) == "enforce",
            col(GateDecision.verdict) == "passed",
            not_revoked(namespace, col(GateDecision.record)),
        )
        .order_by(col(GateDecision.position))
    )
    if rule.gate is not None:
        query = query.where(col(GateDecision.gate) == rule.gate)
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in connection.execute(query) if artifacts else ():
        found[row.artifact].append((row.position, row.record))
    return found


def _runs(
    connection: Connection, published: Published, windows: Sequence[StoredWindow]
) -> Mapping[str, Found]:
    """A run is good when its last attempt completed."""
    run_ids = [each.run_id for each in windows if each.run_id is not None]
    ends = ends_of(connection, published.namespace, run_ids)
    query = select(col(Run.run_id), col(Run.state)).where(
        col(Run.namespace) == published.namespace, col(Run.run_id).in_(run_ids)
    )
    states = {row.run_id: row.state for row in connection.execute(query)} if run_ids else {}
    found = {}
    for window in windows:
        last = ends.get(window.run_id or "")
        if last:
            good = states.get(window.run_id or "") == "completed"
            found[window.id] = Found([_as_it_happened(window, good=good, record=last[-1].record)])
    return found
