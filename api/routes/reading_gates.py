"""Reading gates and their policy versions."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from api.dependencies import READING, CurrentActor
from api.keeping import kept_blob
from api.pages import (
    DEFAULT_LIMIT,
    PAGE,
    After,
    Limit,
    decode_cursor,
    decode_position,
    extended,
    json_response,
    page,
)
from api.schemas.reading import marks_json
from api.services import services_of
from models.actor import Actor
from models.gates.queries import PublishedGate, get_gate, get_gate_version, list_gate_versions, list_gates
from models.kinds.gates import NAME_PATTERN
from models.lineage.marks import Mark, marks_at
from models.lineage.queries import Document

router = APIRouter(tags=["gates"], dependencies=READING)

GatePath = Annotated[str, Path(max_length=128, json_schema_extra={"pattern": NAME_PATTERN})]
Version = Annotated[int, Path(ge=1, le=2**31 - 1)]
Raw = Annotated[int, Query(ge=0, le=1, description="1: the bytes as they were sent")]


@router.get("/v1/gates", response_class=Response, responses=PAGE, summary="List gates")
def get_gates(
    request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    """The current version of each, the last published first."""
    scope = ["gates", actor.namespace]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        rows = list_gates(session, actor.namespace, position, limit + 1)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.position,), lambda row: _shown(row, marks.get(row.position, []))
    )


@router.get("/v1/gates/{name}", response_class=Response, summary="The current version of a gate")
def get_current_gate(name: GatePath, request: Request, actor: CurrentActor, raw: Raw = 0) -> Response:
    return _one(request, actor, name, None, raw)


@router.get(
    "/v1/gates/{name}/versions",
    response_class=Response,
    responses=PAGE,
    summary="Versions of a gate, the latest first",
)
def get_gate_versions(
    name: GatePath, request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    scope = ["gate-versions", actor.namespace, name]
    key = decode_cursor(scope, after, int)
    start = None if key is None else int(key[0])
    with services_of(request).database.read() as session:
        get_gate(session.connection(), actor.namespace, name)
        rows = list_gate_versions(session, actor.namespace, name, start, limit + 1)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.version,), lambda row: _shown(row, marks.get(row.position, []))
    )


@router.get("/v1/gates/{name}/versions/{version}", response_class=Response, summary="One version of a gate")
def get_one_gate_version(
    name: GatePath, version: Version, request: Request, actor: CurrentActor, raw: Raw = 0
) -> Response:
    """With `raw=1` the policy itself, byte for byte; its SHA-256 is `digest`."""
    return _one(request, actor, name, version, raw)


def _one(request: Request, actor: Actor, name: str, version: int | None, raw: int) -> Response:
    services = services_of(request)
    with services.database.read() as session:
        row = get_gate_version(session.connection(), actor.namespace, name, version)
        marks = marks_at(session, actor.namespace, [row.position])
    if raw:
        data = kept_blob(services.blobs, actor.namespace, row.digest)
        # As text and not as what it was sent as: whoever opens it in a browser reads it, and nothing in it runs.
        return Response(
            data,
            headers={"X-Policy-Digest": row.digest},
            media_type="text/plain; charset=utf-8",
        )
    return json_response(_shown(row, marks.get(row.position, [])))


def _shown(row: Document | PublishedGate, marks: list[Mark]) -> str:
    return extended(row.document, {"position": row.position, "marks": marks_json(marks)})
