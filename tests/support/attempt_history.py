"""Attempts, results, statistics, extensions and evidence, written through the ledger as the service writes them."""

from typing import Any

from models.kinds.evaluations import EvaluationAttempted
from models.ledger.drafts import Stored
from tests.support.histories import History, digest


def write_attempts(history: History) -> None:
    """One attempt with two results and statistics, one that waits, one in another namespace; both kinds of persons
    that extend; evidence that expires and that doesn't."""
    evaluator = history.actor("evaluator", owner="grace@example.org")
    worker = history.actor("worker")
    history.add(evaluator, "evaluation.attempted", _attempt(0))
    attempt = history.add(evaluator, "evaluation.attempted", _attempt(1))
    results = [history.add(evaluator, "evaluation.completed", _result(attempt, repeat)) for repeat in (1, 0)]
    history.add(worker, "statistics", _statistics(attempt, results))
    stranger = history.actor("evaluator", namespace="team-b")
    history.add(stranger, "evaluation.attempted", _attempt(0) | {"threshold": 1.0, "model": "other"})
    for person in ("ada@example.org", "mary@example.org"):
        approver = history.actor("approver", owner=person)
        wanted = {"dataset": digest(51), "extra": 2, "reason": "labels — 修正"}
        history.add(approver, "attempts.extended", wanted)
        history.add(approver, "attempts.extended", wanted, key="ticket")
    for expires in ({}, {"expires_at": "2027-01-01T00:00:00+01:00"}):
        history.add(evaluator, "evidence.attested", _evidence() | expires)


def _attempt(retry: int) -> dict[str, Any]:
    return {
        "repeats": 2,
        "retry": retry,
        "task": "binary",
        "model": "churn",
        "candidate": digest(201),
        "incumbent": digest(202),
        "dataset": digest(51),
        "evaluator": digest(9),
        "config": digest(10),
    }


def _result(attempt: Stored, repeat: int) -> dict[str, Any]:
    return {
        "attempt": attempt.digest,
        "repeat": repeat,
        "subject": digest(201),
        "dataset": digest(51),
        "evaluator": digest(9),
        "metrics": {"größe": 1e-07, "auc": 1.0},
        "statistics": {"auc": {"n": 10, "mean": 1e16}},
    }


def _statistics(attempt: Stored, results: list[Stored]) -> dict[str, Any]:
    protocol = EvaluationAttempted.model_validate(_attempt(1)).protocol_digest
    return {
        "schema": "shipworthy.statistics/1",
        "attempt": attempt.digest,
        "candidate": digest(201),
        "incumbent": None,
        "dataset": digest(51),
        "protocol_digest": protocol,
        "evaluations": [result.digest for result in results],
        "engine": {"scipy": "1.16.0"},
        "seed": 7,
        "resamples": 2000,
        "outcome": "ok",
        "rows": 10,
        "metrics": {"auc": {"estimate": 1.0, "standard_error": 1e-07, "n": 10, "method": "reported"}},
    }


def _evidence() -> dict[str, Any]:
    return {
        "subject": digest(101),
        "kind": "checkpoint-restore",
        "outcome": "error",
        "producer": "Prüfstand 2",
        "produced_at": "2026-05-01T12:00:00.5+02:00",
        "exit_code": 137,
    }
