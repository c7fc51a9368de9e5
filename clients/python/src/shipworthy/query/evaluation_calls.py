"""Calls of an evaluator: an attempt opened before anything is known, its results, and what else was tested."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from shipworthy.query import results
from shipworthy.query.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Attempt:
    """`number` is its place among all attempts on its dataset: the more there were, the wider are its intervals."""

    id: str
    number: int
    state: str
    expires_at: str
    document: results.Document = field(repr=False)


class EvaluationCalls(Exchange):
    """A part of ShipworthyClient."""

    def open_attempt(
        self,
        *,
        model: str,
        candidate: str,
        dataset: str,
        evaluator: str,
        config: str,
        task: str,
        incumbent: str | None = None,
        threshold: float = 0.5,
        repeats: int = 1,
        retry: int = 0,
        timeout_seconds: int = 86_400,
    ) -> Attempt:
        """Declares an evaluation before its result is known. `task` is binary, multiclass or regression.

        `evaluator` and `config` are digests. Opened again it is the same attempt; another try is one with a `retry`,
        and counts.
        """
        asked = {
            "model": model,
            "candidate": candidate,
            "dataset": dataset,
            "evaluator": evaluator,
            "config": config,
            "task": task,
            "incumbent": incumbent,
            "threshold": threshold,
            "repeats": repeats,
            "retry": retry,
            "timeout_seconds": timeout_seconds,
        }
        return self._read(_attempt, self._post("/v1/evaluation-attempts", asked))

    def attempt(self, attempt_id: str) -> Attempt:
        return self._read(_attempt, self._get(f"/v1/evaluation-attempts/{quote(attempt_id, ':')}"))

    def complete_evaluation(
        self,
        *,
        subject: str,
        metrics: Mapping[str, float],
        dataset: str,
        evaluator: str,
        attempt: str | None = None,
        per_example: str | None = None,
        repeat: int = 0,
    ) -> str:
        """Records one repeat's result; the last one closes its attempt. `per_example` is the digest of a Parquet blob
        (put_blob) with the columns id, label, score and prediction. Digest of the record."""
        asked = {
            "subject": subject,
            "metrics": dict(metrics),
            "dataset": dataset,
            "evaluator": evaluator,
            "attempt": attempt,
            "per_example": per_example,
            "repeat": repeat,
        }
        return self._read(lambda found: str(found["record"]), self._post("/v1/evaluations", asked))

    def attest(
        self,
        kind: str,
        *,
        subject: str,
        outcome: str,
        producer: str,
        produced_at: str,
        expires_at: str | None = None,
        report: str | None = None,
        checks: int | None = None,
        rows: int | None = None,
    ) -> str:
        """Records that something was tested: `outcome` is passed, failed or error. Digest of the record."""
        asked = {
            "kind": kind,
            "subject": subject,
            "outcome": outcome,
            "producer": producer,
            "produced_at": produced_at,
            "expires_at": expires_at,
            "report": report,
            "checks": checks,
            "rows": rows,
        }
        return self._read(lambda found: str(found["record"]), self._post("/v1/evidence", asked))


def _attempt(answer: results.Document) -> Attempt:
    return Attempt(
        id=answer["attempt"],
        number=answer["number"],
        state=answer["state"],
        expires_at=answer["expires_at"],
        document=answer,
    )
