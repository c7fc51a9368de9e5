"""What records about attempts, statistics and evidence change in the tables that queries read."""

from datetime import timedelta
from typing import Any, Final, cast

from models.actor import EvidenceLevel, weakest
from models.evaluations import tables
from models.kinds import evaluations as kinds
from models.kinds.evidence import EvidenceAttested
from models.kinds.statistics import Statistics
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import projections as lineage
from models.lineage.product_rows import document_of
from models.lineage.tables import Evaluation

OPEN: Final = "open"
CLOSED: Final = "closed"
ABANDONED: Final = "abandoned"


def evaluation_attempted(workspace: Workspace, entry: Entry) -> None:
    """The attempt with its number: one more than there were on this data set in this namespace, whatever model they
    were of and whatever became of them."""
    fact = cast(kinds.EvaluationAttempted, entry.fact)
    before = workspace.get(tables.AttemptCount, entry.namespace, fact.dataset)
    number = 1 if before is None else before["attempts"] + 1
    workspace.put(
        tables.AttemptCount, {"namespace": entry.namespace, "dataset": fact.dataset, "attempts": number}
    )
    workspace.add(
        tables.EvaluationAttempt,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "model": fact.model,
            "candidate": fact.candidate,
            "incumbent": fact.incumbent,
            "dataset": fact.dataset,
            "evaluator": fact.evaluator,
            "config": fact.config,
            "protocol_digest": fact.protocol_digest,
            "repeats": fact.repeats,
            "number": number,
            "received": 0,
            "state": OPEN,
            "opened_at": entry.recorded_at,
            "expires_at": entry.recorded_at + timedelta(seconds=fact.timeout_seconds),
            "ended_at": None,
            "ended_by": None,
            "owner": entry.owner,
            "evidence_level": entry.level,
            "position": entry.position,
            "document": entry.canonical.whole.decode(),
        },
        new=True,
    )


def evaluation_completed(workspace: Workspace, entry: Entry) -> None:
    """A result; the last one that an attempt waits for closes it."""
    lineage.evaluation_completed(workspace, entry)
    fact = entry.fact
    if not isinstance(fact, kinds.EvaluationCompleted) or fact.attempt is None:
        return
    workspace.flag("repeat", entry.namespace, f"{fact.attempt}|{fact.repeat}")
    attempt = workspace.get(tables.EvaluationAttempt, entry.namespace, fact.attempt)
    if attempt is None:
        return
    changed: dict[str, Any] = {"received": attempt["received"] + 1}
    if changed["received"] >= attempt["repeats"]:
        changed |= {"state": CLOSED, "ended_at": entry.recorded_at, "ended_by": entry.digest}
    workspace.put(tables.EvaluationAttempt, {**attempt, **changed})


def evaluation_abandoned(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.EvaluationAbandoned, entry.fact)
    attempt = workspace.get(tables.EvaluationAttempt, entry.namespace, fact.attempt)
    if attempt is not None:
        ended = {"state": ABANDONED, "ended_at": entry.recorded_at, "ended_by": entry.digest}
        workspace.put(tables.EvaluationAttempt, {**attempt, **ended})


def attempts_extended(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.AttemptsExtended, entry.fact)
    workspace.add(
        tables.AttemptExtension,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "dataset": fact.dataset,
            "extra": fact.extra,
            "owner": entry.owner,
            "reason": fact.reason,
            "position": entry.position,
            "document": document_of(entry),
        },
        new=True,
    )


def statistics(workspace: Workspace, entry: Entry) -> None:
    fact = cast(Statistics, entry.fact)
    attempt = workspace.get(tables.EvaluationAttempt, entry.namespace, fact.attempt)
    records = (*fact.evaluations, *fact.incumbent_evaluations)
    inputs = [attempt, *(workspace.get(Evaluation, entry.namespace, record) for record in records)]
    workspace.add(
        tables.Statistic,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "attempt": fact.attempt,
            "candidate": fact.candidate,
            "incumbent": fact.incumbent,
            "dataset": fact.dataset,
            "protocol_digest": fact.protocol_digest,
            "outcome": fact.outcome,
            "evidence_level": entry.level,
            "inputs_level": weakest(
                EvidenceLevel.SELF_REPORTED if row is None else EvidenceLevel(row["evidence_level"])
                for row in inputs
            ),
            "position": entry.position,
            "recorded_at": entry.recorded_at,
            "document": entry.canonical.whole.decode(),
        },
        new=True,
    )


def evidence_attested(workspace: Workspace, entry: Entry) -> None:
    fact = cast(EvidenceAttested, entry.fact)
    workspace.add(
        tables.Evidence,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "subject": fact.subject,
            "kind": fact.kind,
            "outcome": fact.outcome,
            "producer": fact.producer,
            "produced_at": fact.produced_at,
            "expires_at": fact.expires_at,
            "evidence_level": entry.level,
            "position": entry.position,
            "recorded_at": entry.recorded_at,
            "document": document_of(entry),
        },
        new=True,
    )
