"""What is read ahead, refused and set off under the log lock for records about attempts and statistics.

A result counts only while its attempt is open, and the time that tells so is the one at which the log takes it.
"""

import json
import uuid
from collections.abc import Iterable
from typing import Final, cast

from models.actor import EvidenceLevel, weakest
from models.bulk import Row
from models.errors import (
    AttemptEnded,
    AttemptNotClosed,
    Conflict,
    FieldProblem,
    InvalidInput,
    NotFound,
    RoleMissing,
    SeparationOfDuties,
)
from models.evaluations.projections import ABANDONED, CLOSED, OPEN
from models.evaluations.tables import AttemptCount, EvaluationAttempt
from models.evaluations.work import work_key, work_request
from models.fields import instant_text
from models.kinds import evaluations as kinds
from models.kinds.statistics import Statistics
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage.tables import Evaluation
from models.work.queue import work_row
from models.work.states import WorkKind
from models.work.tables import Work

ATTEMPT_NOT_FOUND: Final = (
    "no attempt with this id in this namespace; open one with POST /v1/evaluation-attempts before anything is "
    "measured"
)
_REPEATS: Final = (
    "SELECT attempt || '|' || CAST(repeat AS TEXT) FROM evaluation WHERE namespace = :namespace "
    "AND attempt IN :keys"
)


def load_attempts(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    workspace.load(
        AttemptCount,
        "dataset",
        [(draft.namespace, cast(kinds.EvaluationAttempted, draft.fact).dataset) for draft in drafts],
    )


def load_results(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    named = [
        (draft.namespace, draft.fact.attempt)
        for draft in drafts
        if isinstance(draft.fact, kinds.EvaluationCompleted) and draft.fact.attempt is not None
    ]
    workspace.load(EvaluationAttempt, "record", named)
    workspace.load_flags("repeat", _REPEATS, named)


def check_result(workspace: Workspace, entry: Entry) -> None:
    """Raises NotFound for an attempt that is not there, AttemptEnded when it waits for nothing any more, Conflict for a
    repeat that has its result, InvalidInput for another candidate, data set or evaluator than it declared, RoleMissing
    when the key's word is weaker than that of the key which opened it."""
    fact = entry.fact
    if not isinstance(fact, kinds.EvaluationCompleted) or fact.attempt is None:
        return
    attempt = workspace.get(EvaluationAttempt, entry.namespace, fact.attempt)
    if attempt is None:
        raise NotFound(ATTEMPT_NOT_FOUND)
    if ("repeat", entry.namespace, f"{fact.attempt}|{fact.repeat}") in workspace.flags:
        raise Conflict(
            f"repeat {fact.repeat} of this attempt has its result already; a result never changes, measure again in "
            "an attempt with the next `retry`"
        )
    _check_open(attempt, entry)
    problems = [
        FieldProblem(f"/{name}", f"is not that of the attempt, which declared {attempt[declared]}")
        for name, declared in (("subject", "candidate"), ("dataset", "dataset"), ("evaluator", "evaluator"))
        if getattr(fact, name) != attempt[declared]
    ]
    if fact.repeat >= attempt["repeats"]:
        problems.append(
            FieldProblem(
                "/repeat",
                f"is not one of the {attempt['repeats']} that the attempt declared; they count from 0",
            )
        )
    if problems:
        raise InvalidInput(f"{problems[0].field} {problems[0].message}", problems=problems)
    needed, given = EvidenceLevel(attempt["evidence_level"]), EvidenceLevel(entry.level)
    if needed is not given and weakest((needed, given)) is given:
        raise RoleMissing(
            f"the attempt was opened at level {needed}, what this key says is {given}: a key that is also a "
            "recorder's reports about itself; send the result with an evaluator's own key"
        )


def queue_statistics(workspace: Workspace, entry: Entry) -> None:
    """The work that the last result of an attempt sets off; in the same transaction, so that no attempt is closed and
    forgotten."""
    fact = entry.fact
    if not isinstance(fact, kinds.EvaluationCompleted) or fact.attempt is None:
        return
    attempt = workspace.get(EvaluationAttempt, entry.namespace, fact.attempt)
    if attempt is None or attempt["ended_by"] != entry.digest:
        return
    workspace.add(
        Work,
        work_row(
            id=str(uuid.uuid4()),
            namespace=entry.namespace,
            kind=WorkKind.STATISTICS,
            root="",
            request=json.dumps(work_request(fact.attempt, attempt["incumbent"]), separators=(",", ":")),
            content=entry.content,
            key=work_key(fact.attempt),
            owner=entry.owner,
            now=entry.recorded_at,
        ),
        new=True,
    )


def load_abandonments(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    workspace.load(
        EvaluationAttempt,
        "record",
        [(draft.namespace, cast(kinds.EvaluationAbandoned, draft.fact).attempt) for draft in drafts],
    )


def check_abandonment(workspace: Workspace, entry: Entry) -> None:
    """Raises NotFound; AttemptEnded when the last result came before the service looked; AttemptNotClosed when there
    is time left."""
    fact = cast(kinds.EvaluationAbandoned, entry.fact)
    attempt = workspace.get(EvaluationAttempt, entry.namespace, fact.attempt)
    if attempt is None:
        raise NotFound(ATTEMPT_NOT_FOUND)
    if attempt["state"] != OPEN:
        raise AttemptEnded(f"the attempt is {attempt['state']} already")
    if entry.recorded_at < attempt["expires_at"]:
        raise AttemptNotClosed(f"the attempt has time until {instant_text(attempt['expires_at'])}")


def check_extension(workspace: Workspace, entry: Entry) -> None:
    if entry.owner is None:
        raise SeparationOfDuties(
            "the key names no person, and an extension counts by the persons behind it; use one that has an owner "
            "(keys create --role approver --owner ADDRESS)"
        )


def load_statistics(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    named = [(draft.namespace, cast(Statistics, draft.fact)) for draft in drafts]
    workspace.load(EvaluationAttempt, "record", [(namespace, fact.attempt) for namespace, fact in named])
    workspace.load(
        Evaluation,
        "record",
        [
            (namespace, record)
            for namespace, fact in named
            for record in (*fact.evaluations, *fact.incumbent_evaluations)
        ],
    )


def check_statistics(workspace: Workspace, entry: Entry) -> None:
    """Raises NotFound, AttemptNotClosed, InvalidInput when it is about something else."""
    fact = cast(Statistics, entry.fact)
    attempt = workspace.get(EvaluationAttempt, entry.namespace, fact.attempt)
    if attempt is None:
        raise NotFound(ATTEMPT_NOT_FOUND)
    if attempt["state"] != CLOSED:
        raise Conflict(
            f"the attempt is {attempt['state']}; statistics are made of one that closed with all results"
        )
    for name in ("candidate", "dataset", "protocol_digest"):
        if getattr(fact, name) != attempt[name]:
            message = f"is not that of the attempt, which is {attempt[name]}"
            raise InvalidInput(f"/{name} {message}", problems=[FieldProblem(f"/{name}", message)])


def _check_open(attempt: Row, entry: Entry) -> None:
    again = "it counts all the same; measure again in an attempt with the next `retry`"
    if attempt["state"] == ABANDONED:
        raise AttemptEnded(
            f"the attempt was abandoned at {instant_text(attempt['ended_at'])}, when its time was over; {again}"
        )
    if attempt["state"] == CLOSED:
        raise AttemptEnded(
            f"the attempt closed at {instant_text(attempt['ended_at'])} with all of its {attempt['repeats']} results; "
            "more of them are a new attempt with the next `retry`"
        )
    if entry.recorded_at >= attempt["expires_at"]:
        raise AttemptEnded(
            f"the attempt's time was over at {instant_text(attempt['expires_at'])}, before this result came; {again}"
        )
