"""Reading attempts with what came of them, and who allowed more of them."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request, Response

from api.dependencies import CurrentActor
from api.pages import DEFAULT_LIMIT, PAGE, After, Limit, decode_position, extended, json_response, page
from api.reading_route import reading_router
from api.routes.attempts import AttemptId, attempt_json, counted_json
from api.schemas.reading import marks_json
from api.services import services_of
from models.evaluations.queries import (
    Attempt,
    Extension,
    MeasuredAgain,
    Result,
    count_attempts,
    extensions_of,
    get_attempt,
    list_attempts,
    list_measured_again,
    list_results,
)
from models.evaluations.work import work_key
from models.fields import Digest, Identifier, instant_text
from models.lineage.marks import Mark, marks_at
from models.work.queue import find_by_key

router = reading_router("evaluations")

MAX_STATISTICS: Final = 50
_EXTENSIONS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "What was asked for, each once; `counts` from two persons on.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["dataset", "extra", "items"],
                    "properties": {
                        "dataset": {"type": "string"},
                        "extra": {"type": "integer", "description": "attempts more, of all that count"},
                        "items": {"type": "array", "items": {"type": "object"}},
                    },
                }
            }
        },
    }
}


@router.get(
    "/v1/evaluation-attempts",
    response_class=Response,
    responses=PAGE,
    summary="List attempts, newest first",
)
def get_attempts(
    request: Request,
    actor: CurrentActor,
    dataset: Annotated[Digest | None, Query()] = None,
    model: Annotated[Identifier | None, Query()] = None,
    state: Literal["open", "closed", "abandoned"] | None = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    scope = ["evaluation-attempts", actor.namespace, dataset, model, state]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        rows = list_attempts(
            session, actor.namespace, position, limit + 1, dataset=dataset, model=model, state=state
        )
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope,
        rows,
        limit,
        lambda row: (row.position,),
        lambda row: _attempt(row, marks.get(row.position, [])),
    )


@router.get(
    "/v1/evaluation-attempts/extensions",
    response_class=Response,
    responses=_EXTENSIONS,
    summary="Who allowed more attempts on a data set",
)
def get_extensions(request: Request, actor: CurrentActor, dataset: Annotated[Digest, Query()]) -> Response:
    """Those that were revoked are not shown."""
    with services_of(request).database.read() as session:
        found = extensions_of(session, actor.namespace, dataset)
    answer = {
        "dataset": dataset,
        "extra": sum(each.extra for each in found if each.counts),
        "items": [_extension(each) for each in found],
    }
    return json_response(json.dumps(answer, ensure_ascii=False))


@router.get(
    "/v1/evaluation-attempts/{id}",
    response_class=Response,
    summary="One attempt with its results and what was measured again",
)
def get_one_attempt(id: AttemptId, request: Request, actor: CurrentActor) -> Response:
    """`work` is what its last result set off; `statistics` names records, GET /v1/records/{digest} gives them whole."""
    with services_of(request).database.read() as session:
        row = get_attempt(session, actor.namespace, id)
        results = list_results(session, actor.namespace, id)
        measured = list_measured_again(session, actor.namespace, id, MAX_STATISTICS)
        counted = count_attempts(session, actor.namespace, row.dataset)
        work = find_by_key(session.connection(), actor.namespace, work_key(id))
        positions = [
            row.position,
            *(each.position for each in results),
            *(each.position for each in measured),
        ]
        marks = marks_at(session, actor.namespace, positions)
    members: dict[str, Any] = {
        "counted": counted_json(counted),
        "statistics": [_measured(each, marks.get(each.position, [])) for each in measured],
        "work": None if work is None else {"id": work.id, "state": work.state_at(datetime.now(UTC))[0]},
    }
    evaluations = ",".join(_result(each, marks.get(each.position, [])) for each in results)
    shown = extended(_attempt(row, marks.get(row.position, [])), members)
    return json_response(f'{shown[:-1]},"evaluations":[{evaluations}]}}')


def _attempt(row: Attempt, marks: list[Mark]) -> str:
    members = attempt_json(row) | {
        "attempt": row.record,
        "record": row.record,
        "evidence_level": row.evidence_level,
        "position": row.position,
        "marks": marks_json(marks),
    }
    return extended(row.document, members)


def _result(row: Result, marks: list[Mark]) -> str:
    return extended(row.document, {"position": row.position, "marks": marks_json(marks)})


def _measured(row: MeasuredAgain, marks: list[Mark]) -> dict[str, Any]:
    return {
        "record": row.record,
        "incumbent": row.incumbent,
        "outcome": row.outcome,
        "evidence_level": row.evidence_level,
        "inputs_level": row.inputs_level,
        "recorded_at": instant_text(row.recorded_at),
        "position": row.position,
        "marks": marks_json(marks),
    }


def _extension(each: Extension) -> dict[str, Any]:
    return {
        "extra": each.extra,
        "reason": each.reason,
        "records": list(each.records),
        "owners": list(each.owners),
        "counts": each.counts,
    }
