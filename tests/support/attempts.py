"""Attempts, their results and statistics as tests need them: small, complete, different only where a test says so."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from sqlalchemy import select, update
from sqlmodel import col

from api.ticks.attempts import abandon_overdue
from models.evaluations.tables import EvaluationAttempt
from shipworthy.formats.digests import sha256_digest
from tests.support.bodies import Body, digest_of
from tests.support.contracts import claim
from tests.support.service import RunningService

PREDICTIONS = b"id,label,score\n"


@dataclass(frozen=True)
class Scene:
    """Somebody who evaluates, somebody who works, and time that passes."""

    service: RunningService
    evaluator: httpx.Client
    worker: httpx.Client

    def abandon(self) -> int:
        """What the tick does, once."""
        services = self.service.services
        return abandon_overdue(services.database, services.ledger, datetime.now(UTC))

    @contextmanager
    def later(self, seconds: float = 90_000) -> Iterator[None]:
        """As if so much time had passed for every attempt; the times are put back afterwards."""
        row = select(col(EvaluationAttempt.record), col(EvaluationAttempt.expires_at))
        with self.service.services.database.connection() as connection:
            before = connection.execute(row).all()
        self._set({record: expires - timedelta(seconds=seconds) for record, expires in before})
        try:
            yield
        finally:
            self._set(dict(before))

    def _set(self, times: dict[str, datetime]) -> None:
        with self.service.services.database.connection() as connection:
            for record, expires in times.items():
                connection.execute(
                    update(EvaluationAttempt)
                    .where(col(EvaluationAttempt.record) == record)
                    .values(expires_at=expires)
                )


def make_scene(service: RunningService) -> Scene:
    return Scene(service, service.client("evaluator"), service.client("worker"))


def make_attempt(**changes: object) -> Body:
    return {
        "model": "fraud-classifier",
        "candidate": digest_of("model"),
        "dataset": digest_of("fraud-eval"),
        "evaluator": digest_of("evaluator"),
        "config": digest_of("config"),
        "task": "binary",
        "repeats": 1,
    } | changes


def make_result(attempt: Body, **changes: object) -> Body:
    """A result of the attempt that `opened` answered, with sufficient statistics and no predictions."""
    return {
        "attempt": attempt["attempt"],
        "subject": digest_of("model"),
        "dataset": digest_of("fraud-eval"),
        "evaluator": digest_of("evaluator"),
        "metrics": {"roc_auc": 0.91},
        "statistics": {"roc_auc": {"n": 1000, "mean": 0.91, "sd": 0.2}},
    } | changes


def make_evidence(**changes: object) -> Body:
    return {
        "kind": "checkpoint-restore",
        "subject": digest_of("checkpoint"),
        "outcome": "passed",
        "producer": "restore-drill 2.1",
        "produced_at": "2026-05-01T12:00:00Z",
        "exit_code": 0,
    } | changes


def opened(client: httpx.Client, **changes: object) -> Body:
    answer = client.post("/v1/evaluation-attempts", json=make_attempt(**changes))
    assert answer.status_code in (200, 201), answer.text
    attempt: Body = answer.json()
    return attempt


def answered(client: httpx.Client, attempt: Body, **changes: object) -> str:
    """The record of a result."""
    answer = client.post("/v1/evaluations", json=make_result(attempt, **changes))
    assert answer.status_code == 201, answer.text
    return str(answer.json()["record"])


def closed(client: httpx.Client, **changes: object) -> Body:
    """An attempt of one repeat with its result."""
    attempt = opened(client, **changes)
    answered(client, attempt, subject=changes.get("candidate", digest_of("model")))
    return attempt


def shown(client: httpx.Client, attempt: Body) -> Body:
    answer = client.get(f"/v1/evaluation-attempts/{attempt['attempt']}")
    assert answer.status_code == 200, answer.text
    found: Body = answer.json()
    return found


def uploaded(client: httpx.Client, content: bytes = PREDICTIONS) -> str:
    digest = sha256_digest(content)
    assert client.put(f"/v1/blobs/{digest}", content=content).status_code in (200, 201)
    return digest


def claimed(worker: httpx.Client) -> Body:
    """Statistics work: it reads no root, so that a worker without any gets it."""
    work = claim(worker, kinds=["statistics"], roots=[])
    assert work is not None
    return work


def statistics_of(work: Body, **changes: object) -> Body:
    """What a worker makes of claimed work."""
    attempt, incumbent = work["inputs"]["attempt"], work["inputs"]["incumbent"]
    compared = [] if incumbent is None else incumbent["evaluations"]
    return {
        "schema": "shipworthy.statistics/1",
        "attempt": attempt["id"],
        "candidate": attempt["candidate"],
        "incumbent": None if incumbent is None else incumbent["artifact"],
        "dataset": attempt["dataset"],
        "protocol_digest": attempt["protocol_digest"],
        "evaluations": [each["record"] for each in work["inputs"]["evaluations"]],
        "incumbent_evaluations": [each["record"] for each in compared],
        "engine": {"scipy": "1.16.0"},
        "seed": work["inputs"]["seed"],
        "resamples": 2000,
        "outcome": "ok",
        "rows": 1000,
        "positives": 40,
        "metrics": {"roc_auc": {"estimate": 0.91, "standard_error": 0.01, "n": 1000, "method": "delong"}},
        "disjointness": {"status": "unknown", "method": "none"},
    } | changes
