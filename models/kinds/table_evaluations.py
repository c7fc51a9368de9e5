"""Kinds of what is measured and attested: attempts, evaluations, statistics and evidence."""

from typing import Final

from models.actor import Role
from models.kinds import evaluations, evidence, statistics
from models.kinds.kind import SERVER_ONLY, Kind


def _evaluation_subject(fact: evaluations.EvaluationFact, run_id: str | None) -> str:
    return f"run:{run_id}" if run_id else f"digest:{fact.subject}"


def _evaluation_key(fact: evaluations.EvaluationFact, run_id: str | None) -> str | None:
    """A repeat of an attempt has one result; what was measured without an attempt is told apart by its content."""
    if isinstance(fact, evaluations.EvaluationCompleted) and fact.attempt is not None:
        return f"{fact.attempt}|{fact.repeat}"
    return None


EVALUATIONS: Final = (
    Kind(
        "evaluation.completed",
        evaluations.EvaluationCompleted,
        frozenset({Role.EVALUATOR, Role.RECORDER}),
        _evaluation_subject,
        key=_evaluation_key,
        subjects=lambda fact: [("artifact", fact.subject)] if fact.subject else [],
    ),
    Kind(
        "evaluation.attempted",
        evaluations.EvaluationAttempted,
        frozenset({Role.EVALUATOR}),
        lambda fact, _: f"digest:{fact.candidate}",
        key=lambda fact, _: fact.identity,
        subjects=lambda fact: [("artifact", fact.candidate), ("data", fact.dataset)],
        own_call="POST /v1/evaluation-attempts",
    ),
    Kind(
        "evaluation.abandoned",
        evaluations.EvaluationAbandoned,
        SERVER_ONLY,
        lambda fact, _: f"record:{fact.attempt}",
        key=lambda fact, _: fact.attempt,
    ),
    Kind(
        "attempts.extended",
        evaluations.AttemptsExtended,
        frozenset({Role.APPROVER}),
        lambda fact, _: f"digest:{fact.dataset}",
        subjects=lambda fact: [("data", fact.dataset)],
        personal=True,
    ),
    Kind(
        "statistics",
        statistics.Statistics,
        frozenset({Role.WORKER}),
        lambda fact, _: f"digest:{fact.candidate}",
        subjects=lambda fact: [("artifact", fact.candidate), ("data", fact.dataset)],
        own_call="POST /v1/work/{id}:complete",
    ),
    Kind(
        "evidence.attested",
        evidence.EvidenceAttested,
        frozenset({Role.EVALUATOR}),
        lambda fact, _: f"digest:{fact.subject}",
    ),
)
