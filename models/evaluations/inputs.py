"""What a worker gets with `statistics` work, and which evaluations that is: looked up when the work is claimed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from models.errors import AttemptNotClosed
from models.evaluations.projections import CLOSED
from models.evaluations.queries import Result, find_measured, get_attempt, list_results
from models.evaluations.training_data import snapshot_documents, training_data
from models.evaluations.work import seed_of


@dataclass(frozen=True, slots=True)
class Resolved:
    """`inputs` is what the worker is told, `rests_on` the records of evaluations that its result has to name."""

    inputs: Mapping[str, Any]
    rests_on: Mapping[str, list[str]]


def resolve_inputs(session: Session, namespace: str, attempt_id: str, incumbent: str | None) -> Resolved:
    """The incumbent's results are those of the latest attempt in which it was measured to the end on the same data
    under the same protocol; there are none when it never was. Raises NotFound, AttemptNotClosed."""
    attempt = get_attempt(session, namespace, attempt_id)
    if attempt.state != CLOSED:
        raise AttemptNotClosed(
            f"the attempt is {attempt.state}; only one that closed with all results is measured"
        )
    results = list_results(session, namespace, attempt_id)
    compared: list[Result] = []
    if incumbent is not None:
        measured = find_measured(session, namespace, incumbent, attempt.dataset, attempt.protocol_digest)
        compared = [] if measured is None else list_results(session, namespace, measured)
    inputs = {
        "attempt": {
            **json.loads(attempt.document),
            "id": attempt.record,
            "number": attempt.number,
            "protocol_digest": attempt.protocol_digest,
        },
        "evaluations": [_evaluation(result) for result in results],
        "incumbent": None
        if incumbent is None
        else {"artifact": incumbent, "evaluations": [_evaluation(result) for result in compared]},
        "sketches": _sketches(session, namespace, attempt.candidate, attempt.dataset),
        "seed": seed_of(attempt_id),
    }
    rests_on = {
        "evaluations": [result.record for result in results],
        "incumbent_evaluations": [result.record for result in compared],
    }
    return Resolved(inputs, rests_on)


def _evaluation(result: Result) -> dict[str, Any]:
    body = json.loads(result.document)
    return {
        "record": result.record,
        "repeat": result.repeat,
        "metrics": body["metrics"],
        "per_example": body.get("per_example"),
        "statistics": body.get("statistics", {}),
        "slices": body.get("slices", []),
    }


def _sketches(session: Session, namespace: str, candidate: str, dataset: str) -> dict[str, Any]:
    connection = session.connection()
    training = training_data(connection, namespace, candidate)
    recorded = snapshot_documents(connection, namespace, {dataset, *training})
    of_evaluation = recorded.get(dataset, {})
    return {
        "evaluation": of_evaluation.get("key_sketch"),
        "evaluation_split": of_evaluation.get("split"),
        "training": [
            {
                "snapshot": digest,
                "sketch": recorded.get(digest, {}).get("key_sketch"),
                "split": recorded.get(digest, {}).get("split"),
            }
            for digest in training
        ],
    }
