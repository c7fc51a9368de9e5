"""Reading decisions: by id, in lists, of a model version, and the one in force."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import Path, Query, Request, Response
from sqlmodel import Session
from starlette.responses import JSONResponse

from api.dependencies import CurrentActor
from api.pages import (
    DEFAULT_LIMIT,
    JSON,
    PAGE,
    After,
    Limit,
    decode_position,
    dump,
    extended,
    json_response,
    page,
)
from api.reading_route import reading_router
from api.routes.reading_catalog import ModelPath, Registry
from api.routes.reading_checkpoints import DigestPath
from api.schemas.reading import marks_json
from api.services import services_of
from models.errors import FieldProblem, InvalidInput
from models.fields import Identifier, instant_text
from models.gates.in_force import Standing, standing, why
from models.gates.queries import StoredDecision, get_decision, list_decisions
from models.lineage.marks import Mark, marks_at
from models.lineage.model_queries import get_version
from models.patterns import NAME_PATTERN
from shipworthy.formats.digests import DIGEST_PATTERN

router = reading_router("decisions")

Model = Annotated[Identifier | None, Query()]
To = Annotated[Identifier | None, Query(description="registration, an alias or a stage")]
_IN_FORCE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["active", "decision", "why", "missing", "gate", "asked_at"],
    "properties": {
        "active": {"type": "boolean"},
        "decision": {"type": ["object", "null"]},
        "why": {"type": "string"},
        "missing": {"type": "array", "items": {"type": "string"}},
        "gate": {"type": ["object", "null"]},
        "asked_at": {"type": "string"},
    },
}


@router.get("/v1/decisions", response_class=Response, responses=PAGE, summary="List decisions, newest first")
def get_decisions(
    request: Request,
    actor: CurrentActor,
    model: Model = None,
    to: To = None,
    gate: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
    verdict: Annotated[str | None, Query(pattern="^(passed|review_required|blocked|break_glass)$")] = None,
    artifact: Annotated[str | None, Query(pattern=DIGEST_PATTERN)] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    filters = {"model": model, "target": to, "gate": gate, "verdict": verdict, "artifact": artifact}
    scope = ["decisions", actor.namespace, *filters.values()]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        rows = list_decisions(session, actor.namespace, position, limit + 1, **filters)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.position,), lambda row: shown(row, marks.get(row.position, []))
    )


@router.get(
    "/v1/decisions:in-force",
    response_class=JSONResponse,
    responses={200: {"description": "Whether it may, and why.", "content": {JSON: {"schema": _IN_FORCE}}}},
    summary="May this artifact take this place now?",
)
def get_in_force(
    request: Request,
    actor: CurrentActor,
    model: Annotated[Identifier, Query()],
    to: Annotated[Identifier, Query()],
    artifact: Annotated[str | None, Query(pattern=DIGEST_PATTERN)] = None,
    version: Annotated[str | None, Query(max_length=128)] = None,
    registry: Registry = "default",
) -> Response:
    """`missing` is empty exactly when `active` is true. Name the artifact by its digest, or a model version that is
    bound to one."""
    if (artifact is None) == (version is None):
        message = "give either `artifact`, a digest, or `version`, a model version"
        raise InvalidInput(f"/query/artifact {message}", problems=[FieldProblem("/query/artifact", message)])
    database = services_of(request).database
    if artifact is None:
        assert version is not None
        with database.read() as session:
            artifact = get_version(session, actor.namespace, registry, model, version).artifact
    now = datetime.now(UTC)
    with database.one_statement() as connection:
        found = standing(connection, actor.namespace, model, to, artifact, now)
    marks: list[Mark] = []
    if not found.is_active:
        with database.read() as session:
            marks = _marks(session, actor.namespace, found.decision)
    return json_response(in_force_json(found, marks, now))


@router.get("/v1/decisions/{id}", response_class=Response, summary="One decision, as it was signed")
def get_one_decision(
    id: DigestPath,
    request: Request,
    actor: CurrentActor,
) -> Response:
    """The bytes that were signed are in the record: GET /v1/records/{digest}."""
    with services_of(request).database.read() as session:
        row = get_decision(session, actor.namespace, id)
        marks = _marks(session, actor.namespace, row)
    return json_response(shown(row, marks))


@router.get(
    "/v1/models/{model:path}/versions/{version}/decisions",
    response_class=Response,
    responses=PAGE,
    summary="Decisions about the artifact of a model version, newest first",
)
def get_decisions_of_version(
    model: ModelPath,
    version: Annotated[str, Path(max_length=128)],
    request: Request,
    actor: CurrentActor,
    registry: Registry = "default",
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    scope = ["decisions-of-version", actor.namespace, registry, model, version]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        artifact = get_version(session, actor.namespace, registry, model, version).artifact
        rows = list_decisions(session, actor.namespace, position, limit + 1, model=model, artifact=artifact)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.position,), lambda row: shown(row, marks.get(row.position, []))
    )


def shown(row: StoredDecision, marks: list[Mark]) -> str:
    return extended(row.document, {"position": row.position, "marks": marks_json(marks)})


def in_force_json(found: Standing, marks: list[Mark], now: datetime) -> str:
    gate = found.gate
    front = {
        "active": found.is_active,
        "why": why(found),
        "missing": list(found.missing),
        "gate": None if gate is None else {"name": gate.name, "version": gate.version},
        "asked_at": instant_text(now),
    }
    decision = "null" if found.decision is None else shown(found.decision, marks)
    return f'{dump(front)[:-1]},"decision":{decision}}}'


def _marks(session: Session, namespace: str, row: StoredDecision | None) -> list[Mark]:
    return [] if row is None else list(marks_at(session, namespace, [row.position]).get(row.position, []))
