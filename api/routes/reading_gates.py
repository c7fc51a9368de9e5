"""Reading gates and their policy versions."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Path, Query, Request, Response
from sqlmodel import Session

from api.dependencies import CurrentActor
from api.keeping import kept_blob
from api.marked_pages import marked_document, marked_page
from api.pages import (
    DEFAULT_LIMIT,
    PAGE,
    After,
    Limit,
    json_response,
)
from api.reading_route import reading_router
from api.services import services_of
from models.actor import Actor
from models.gates.queries import PublishedGate, get_gate, get_gate_version, list_gate_versions, list_gates
from models.lineage.marks import marks_at
from models.patterns import NAME_PATTERN

router = reading_router("gates")

GatePath = Annotated[str, Path(max_length=128, json_schema_extra={"pattern": NAME_PATTERN})]
Version = Annotated[int, Path(ge=1, le=2**31 - 1)]
Raw = Annotated[int, Query(ge=0, le=1, description="1: the bytes as they were sent")]


@router.get("/v1/gates", response_class=Response, responses=PAGE, summary="List gates")
def get_gates(
    request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    """The current version of each, the last published first."""
    scope = ["gates", actor.namespace]
    return marked_page(request, actor, scope, after, limit, list_gates, marked_document)


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

    def versions(session: Session, namespace: str, start: int | None, most: int) -> Sequence[PublishedGate]:
        get_gate(session.connection(), namespace, name)
        return list_gate_versions(session, namespace, name, start, most)

    return marked_page(
        request, actor, scope, after, limit, versions, marked_document, number=lambda row: row.version
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
    return json_response(marked_document(row, marks.get(row.position, [])))
