"""Attempts: opened before anything is measured, answered by evaluations, extended by two persons, measured again."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import APIRouter, Path, Request, Response
from sqlmodel import Session
from starlette.responses import JSONResponse

from api.asking import QUEUED, ask_for_work
from api.auth import require_role
from api.recording import Recorder, parse_json
from api.routes.recording import answer_of, appends, documented, record, recorded
from api.services import Services, services_of
from models.actor import Actor, Role
from models.errors import AttemptNotClosed, FieldProblem, InvalidInput, NotFound, ShipworthyError
from models.evaluations.projections import CLOSED
from models.evaluations.queries import Attempt, Counted, count_attempts, get_attempt
from models.evaluations.work import work_request
from models.fields import Digest, Value, instant_text
from models.kinds.evaluations import AttemptsExtended, EvaluationAttempted, EvaluationCompleted
from models.kinds.registry import KINDS
from models.ledger.drafts import Item
from models.work.states import WorkKind

router = APIRouter(tags=["evaluations"])

AttemptId = Annotated[str, Path(max_length=71, description="digest of the attempt's record")]
MAY_MEASURE_AGAIN: Final = (Role.AUTHOR, Role.EVALUATOR)
_OPENED: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["attempt", "number", "state", "expires_at", "record", "created", "counted"],
    "properties": {
        "attempt": {"type": "string", "description": "its id, the digest of its record"},
        "number": {
            "type": "integer",
            "description": "its place among those of this namespace on the data set",
        },
        "state": {"enum": ["open", "closed", "abandoned"]},
        "expires_at": {"type": "string", "description": "results must have come before"},
        "protocol_digest": {"type": "string"},
        "record": {"type": "string"},
        "position": {"type": "integer"},
        "created": {"type": "boolean", "description": "false when it was opened earlier"},
        "counted": {
            "type": "object",
            "properties": {
                "this_namespace": {"type": "integer"},
                "other_namespaces": {"type": "integer"},
            },
        },
    },
}
_OPENED_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    201: {"description": "Opened.", "content": {"application/json": {"schema": _OPENED}}},
    200: {"description": "Opened before.", "content": {"application/json": {"schema": _OPENED}}},
}


class MeasureAgain(Value):
    """The same predictions paired with those of another incumbent, or with none."""

    attempt: Digest
    incumbent: Digest | None


@router.post(
    "/v1/evaluation-attempts",
    status_code=201,
    response_class=Response,
    responses=_OPENED_RESPONSES,
    openapi_extra=documented(EvaluationAttempted),
    summary="Open an attempt before its result is known",
)
async def open_attempt(request: Request) -> Response:
    """Candidate, dataset, evaluator, config and `retry` identify it: sent again it is the same attempt, whatever
    idempotency key comes with it."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["evaluation.attempted"].roles))
    body = parse_json(await request.body())
    item = Recorder(services.ring.pepper).item("evaluation.attempted", actor, body, None)
    (outcome,) = await services.ledger.append_all([item])
    if isinstance(outcome, ShipworthyError):
        raise outcome
    answer = answer_of(outcome, None)
    attempt, counted = await to_thread.run_sync(_opened, services, actor, answer["record"])
    opened = {"attempt": attempt.record} | attempt_json(attempt) | answer | {"counted": counted_json(counted)}
    return JSONResponse(opened, 201 if answer["created"] else 200)


@appends(router, "/v1/evaluations", "Record measurements of an artifact or checkpoint", EvaluationCompleted)
async def add_evaluation(request: Request) -> Response:
    """With `attempt` it is the result of one repeat; the last one closes the attempt and has it measured again."""
    return await record("evaluation.completed", request, {}, examine=_predictions_are_there)


@appends(
    router,
    "/v1/evaluation-attempts/extensions",
    "Allow more attempts on a data set than a policy's budget",
    AttemptsExtended,
)
async def extend_attempts(request: Request) -> Response:
    """Counts once two persons have said the same dataset, number and reason. Every later decision shows it."""
    return await record("attempts.extended", request, {})


@router.post(
    "/v1/evaluation-attempts/{id}/statistics",
    status_code=202,
    response_class=JSONResponse,
    openapi_extra=recorded(MeasureAgain, without="attempt"),
    responses=QUEUED,
    summary="Have an attempt's results compared with another incumbent",
)
async def measure_again(id: AttemptId, request: Request) -> Response:
    """The predictions are those that are there: no new attempt, and none is counted. GET /v1/work/{id} shows what comes
    of it."""
    return await ask_for_work(
        request, WorkKind.STATISTICS, MAY_MEASURE_AGAIN, MeasureAgain, _prepared, {"attempt": id}
    )


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    """What is known of an attempt besides its body."""
    return {
        "number": attempt.number,
        "state": attempt.state,
        "received": attempt.received,
        "opened_at": instant_text(attempt.opened_at),
        "expires_at": instant_text(attempt.expires_at),
        "ended_at": instant_text(attempt.ended_at),
        "ended_by": attempt.ended_by,
        "protocol_digest": attempt.protocol_digest,
    }


def counted_json(counted: Counted) -> dict[str, int]:
    return {"this_namespace": counted.this_namespace, "other_namespaces": counted.other_namespaces}


def _opened(services: Services, actor: Actor, record: str) -> tuple[Attempt, Counted]:
    with services.database.read() as session:
        attempt = get_attempt(session, actor.namespace, record)
        return attempt, count_attempts(session, actor.namespace, attempt.dataset)


def _predictions_are_there(services: Services, actor: Actor, item: Item) -> None:
    """Raises InvalidInput for the result of an attempt whose per-example blob was never uploaded: nobody could measure
    it again, and its attempt would be closed."""
    fact = item.drafts[0].fact
    if not isinstance(fact, EvaluationCompleted) or fact.attempt is None or fact.per_example is None:
        return
    try:
        services.blobs.size(actor.namespace, fact.per_example)
    except NotFound as error:
        message = f"names a blob that is not there; send it first with PUT /v1/blobs/{fact.per_example}"
        raise InvalidInput(
            f"/per_example {message}", problems=[FieldProblem("/per_example", message)]
        ) from error


def _prepared(session: Session, namespace: str, wanted: MeasureAgain) -> tuple[str, Mapping[str, Any]]:
    attempt = get_attempt(session, namespace, wanted.attempt)
    if attempt.state != CLOSED:
        raise AttemptNotClosed(
            f"the attempt is {attempt.state}; what can be measured again is one that closed with all of its results"
        )
    if wanted.incumbent == attempt.candidate:
        message = "is the candidate of the attempt; name another artifact, or null to compare with none"
        raise InvalidInput(f"/incumbent {message}", problems=[FieldProblem("/incumbent", message)])
    return "", work_request(wanted.attempt, wanted.incumbent)
