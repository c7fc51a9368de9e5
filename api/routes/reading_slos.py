"""Reading SLOs, their versions, their windows and what is left out of them."""

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Path, Query, Request, Response

from api.dependencies import CurrentActor
from api.keeping import kept_blob
from api.pages import (
    DEFAULT_LIMIT,
    PAGE,
    After,
    Limit,
    decode_cursor,
    decode_position,
    dump,
    extended,
    json_response,
    page,
)
from api.reading_route import reading_router
from api.schemas.reading import marks_json
from api.services import services_of
from api.slo_explaining import explained
from models.actor import Actor
from models.fields import instant_text
from models.lineage.marks import Mark, marks_at
from models.lineage.queries import Document
from models.patterns import NAME_PATTERN
from models.slo.definitions import PublishedVersion, get_slo_version, list_slo_versions, list_slos
from models.slo.left_out import list_exclusions
from models.slo.listed import list_windows
from shipworthy.formats.times import parse_instant

router = reading_router("slos")

SloPath = Annotated[str, Path(max_length=128, json_schema_extra={"pattern": NAME_PATTERN})]
Version = Annotated[int, Path(ge=1, le=2**31 - 1)]
Raw = Annotated[int, Query(ge=0, le=1, description="1: the bytes as they were sent")]
Team = Annotated[str | None, Query(max_length=256, description="only SLOs of this team")]
_STATUS: Final = "^(pending|met|met_in_grace|breached|unknown|excluded)$"


@router.get("/v1/slos", response_class=Response, responses=PAGE, summary="List SLOs")
def get_slos(
    request: Request,
    actor: CurrentActor,
    team: Team = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """The current version of each, the last published first."""
    scope = ["slos", actor.namespace, team]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        rows = list_slos(session, actor.namespace, position, limit + 1, team)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.position,), lambda row: _shown(row, marks.get(row.position, []))
    )


@router.get("/v1/slos/{name}", response_class=Response, summary="The current version of an SLO")
def get_current_slo(name: SloPath, request: Request, actor: CurrentActor, raw: Raw = 0) -> Response:
    return _one(request, actor, name, None, raw)


@router.get(
    "/v1/slos/{name}/versions",
    response_class=Response,
    responses=PAGE,
    summary="Versions of an SLO, the latest first",
)
def get_slo_versions(
    name: SloPath, request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    scope = ["slo-versions", actor.namespace, name]
    key = decode_cursor(scope, after, int)
    start = None if key is None else int(key[0])
    with services_of(request).database.read() as session:
        get_slo_version(session.connection(), actor.namespace, name, None)
        rows = list_slo_versions(session, actor.namespace, name, start, limit + 1)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.version,), lambda row: _shown(row, marks.get(row.position, []))
    )


@router.get("/v1/slos/{name}/versions/{version}", response_class=Response, summary="One version of an SLO")
def get_one_slo_version(
    name: SloPath, version: Version, request: Request, actor: CurrentActor, raw: Raw = 0
) -> Response:
    """With `raw=1` the definition itself, byte for byte; its SHA-256 is `digest`."""
    return _one(request, actor, name, version, raw)


@router.get(
    "/v1/slos/{name}/windows",
    response_class=Response,
    responses=PAGE,
    summary="Windows of an SLO, the latest deadline first",
)
def get_windows(
    name: SloPath,
    request: Request,
    actor: CurrentActor,
    status: Annotated[str | None, Query(pattern=_STATUS)] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """Those that are expected yet, too: they are written down ahead of time."""
    scope = ["slo-windows", actor.namespace, name, status]
    key = decode_cursor(scope, after, str, str)
    start = None if key is None else (parse_instant(str(key[0])), str(key[1]))
    with services_of(request).database.read() as session:
        connection = session.connection()
        get_slo_version(connection, actor.namespace, name, None)
        rows = list_windows(connection, actor.namespace, name, start, limit + 1, status)
    return page(
        scope,
        rows,
        limit,
        lambda row: (instant_text(row.deadline_at), row.id),
        lambda row: row.document,
    )


@router.get(
    "/v1/slos/{name}/windows/{id:path}",
    response_class=Response,
    summary="Why a window's outcome is what it is",
)
def explain_window(
    name: SloPath, id: Annotated[str, Path(max_length=640)], request: Request, actor: CurrentActor
) -> Response:
    """Everything that led to it: the version that expected the window, each revision with its record, the evidence and
    the runs, whether the source was proven alive, and what was left out. `id` is the whole id or what follows the
    SLO's name in it."""
    with services_of(request).database.read() as session:
        told = explained(session, actor.namespace, name, id, datetime.now(UTC))
    return json_response(dump(told))


@router.get(
    "/v1/slos/{name}/exclusions",
    response_class=Response,
    responses=PAGE,
    summary="What approvers left out of an SLO, the latest first",
)
def get_exclusions(
    name: SloPath, request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    scope = ["slo-exclusions", actor.namespace, name]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        get_slo_version(session.connection(), actor.namespace, name, None)
        rows = list_exclusions(session, actor.namespace, name, position, limit + 1)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.position,), lambda row: _shown(row, marks.get(row.position, []))
    )


def _one(request: Request, actor: Actor, name: str, version: int | None, raw: int) -> Response:
    services = services_of(request)
    with services.database.read() as session:
        row = get_slo_version(session.connection(), actor.namespace, name, version)
        marks = marks_at(session, actor.namespace, [row.position])
    if raw:
        data = kept_blob(services.blobs, actor.namespace, row.digest)
        # As text and not as what it was sent as: whoever opens it in a browser reads it, and nothing in it runs.
        return Response(
            data, headers={"X-Definition-Digest": row.digest}, media_type="text/plain; charset=utf-8"
        )
    return json_response(_shown(row, marks.get(row.position, [])))


def _shown(row: Document | PublishedVersion, marks: list[Mark]) -> str:
    return extended(row.document, {"position": row.position, "marks": marks_json(marks)})
