"""What is protected, what was released when, and everything that happened at a name of a registry."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, Final

import orjson
from fastapi import Query, Request, Response
from starlette.responses import JSONResponse

from api.dependencies import CurrentActor
from api.pages import (
    DEFAULT_LIMIT,
    JSON,
    PAGE,
    After,
    Limit,
    decode_position,
    extended,
    page,
)
from api.reading_route import reading_router
from api.routes.reading_catalog import ModelPath, Registry
from api.schemas.reading import marks_json
from api.services import services_of
from models.errors import FieldProblem, InvalidInput
from models.fields import Identifier, instant_text
from models.lineage.marks import Mark, marks_at
from models.promotions.queries import (
    Protections,
    Released,
    StoredEvent,
    list_events,
    protections,
    protections_version,
    released_at,
)
from shipworthy.formats.digests import DIGEST_PATTERN
from shipworthy.formats.times import parse_instant

router = reading_router("promotions")

ALWAYS: Final = "Production"
"""MLflow's stage, which whoever serves by stages serves."""
Target = Annotated[Identifier | None, Query(description="an alias, a stage, or registration")]
State = Annotated[
    str | None,
    Query(pattern="^(promoted|demoted|registered|failed|refused|observed|demotion_allowed)$"),
]
_PROTECTIONS: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["all", "targets", "registration_models", "released", "more_released", "read_at"],
    "properties": {
        "all": {"type": "boolean"},
        "targets": {"type": "array", "items": {"type": "string"}},
        "registration_models": {"type": "array", "items": {"type": "string"}},
        "released": {"type": "array", "items": {"type": "object"}},
        "more_released": {"type": "boolean"},
        "read_at": {"type": "string"},
    },
}
_RELEASED: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"type": "object"}},
        "next": {"type": ["string", "null"]},
        "released": {
            "type": "array",
            "items": {"type": "object"},
            "description": "instead of items, with `at`",
        },
        "at": {"type": "string"},
    },
}


@router.get(
    "/v1/protections",
    response_class=JSONResponse,
    responses={
        200: {"description": "What takes a decision.", "content": {JSON: {"schema": _PROTECTIONS}}},
        304: {"description": "Nothing changed since the answer with this ETag."},
    },
    summary="Which names of registries are protected?",
)
def get_protections(request: Request, actor: CurrentActor) -> Response:
    services = services_of(request)
    protect = services.settings.protect
    asked = request.headers.get("if-none-match")
    if asked is not None:
        with services.database.one_statement() as connection:
            tag = _tag(actor.namespace, protections_version(connection, actor.namespace), protect)
        if asked == tag:
            return Response(status_code=304, headers=_tagged(tag))
    with services.database.reading() as connection:
        tag = _tag(actor.namespace, protections_version(connection, actor.namespace), protect)
        found = protections(connection, actor.namespace)
    return JSONResponse(_protections_json(found, protect), headers=_tagged(tag))


def _tag(namespace: str, version: tuple[int, int], protect: tuple[str, ...]) -> str:
    return f'"{sha256(repr((namespace, version, protect)).encode()).hexdigest()[:32]}"'


def _tagged(tag: str) -> dict[str, str]:
    return {"ETag": tag, "Cache-Control": "no-cache"}


def protected_names(found: Protections, protect: tuple[str, ...]) -> list[str]:
    """Names of registries that take a decision; with "*" in `protect` all others do as well."""
    return sorted({*found.targets, *protect, ALWAYS} - {"*"})


def _protections_json(found: Protections, protect: tuple[str, ...]) -> dict[str, Any]:
    return {
        "all": "*" in protect,
        "targets": protected_names(found, protect),
        "registration_models": list(found.registration_models),
        "released": [
            {
                "registry": each.registry,
                "model": each.model,
                "version": each.version,
                "artifact": each.artifact,
                "run_id": each.run_id,
                "source": each.source,
                "targets": list(each.targets),
            }
            for each in found.released
        ],
        "more_released": found.has_more,
        "read_at": instant_text(datetime.now(UTC)),
    }


@router.get(
    "/v1/promotions",
    response_class=Response,
    responses=PAGE,
    summary="What happened at the names of registries, newest first",
)
def get_promotions(
    request: Request,
    actor: CurrentActor,
    registry: Annotated[Identifier | None, Query()] = None,
    model: Annotated[str | None, Query(max_length=256)] = None,
    target: Target = None,
    state: State = None,
    artifact: Annotated[str | None, Query(pattern=DIGEST_PATTERN)] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    filters = {
        "registry_name": registry,
        "model": model,
        "target": target,
        "state": state,
        "artifact": artifact,
    }
    return _listed(request, actor.namespace, "promotions", filters, limit, after)


@router.get(
    "/v1/models/{model:path}/promotions",
    response_class=Response,
    responses={
        200: {"description": "A page, or what was released.", "content": {JSON: {"schema": _RELEASED}}}
    },
    summary="What happened at the names of a model, or what they held at a time",
)
def get_promotions_of_model(
    model: ModelPath,
    request: Request,
    actor: CurrentActor,
    registry: Registry = "default",
    target: Target = None,
    at: Annotated[str | None, Query(max_length=64, description="an instant: what was released then")] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    if at is None:
        filters = {"registry_name": registry, "model": model, "target": target}
        return _listed(request, actor.namespace, "promotions-of-model", filters, limit, after)
    when = _instant(at)
    with services_of(request).database.read() as session:
        rows = released_at(session, actor.namespace, registry, model, when, target)
    return JSONResponse({"released": [_released_json(row) for row in rows], "at": instant_text(when)})


def _listed(
    request: Request,
    namespace: str,
    name: str,
    filters: dict[str, str | None],
    limit: int,
    after: str | None,
) -> Response:
    scope = [name, namespace, *filters.values()]
    position = decode_position(scope, after)
    with services_of(request).database.read() as session:
        rows = list_events(session, namespace, position, limit + 1, **filters)
        marks = marks_at(session, namespace, [row.position for row in rows])
    return page(
        scope, rows, limit, lambda row: (row.position,), lambda row: _shown(row, marks.get(row.position, []))
    )


def _shown(row: StoredEvent, marks: list[Mark]) -> str:
    return extended(row.document, {"position": row.position, "marks": marks_json(marks)})


def _released_json(row: Released) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads(row.document)
    return {
        "target": row.target,
        "version": document["version"],
        "artifact": document["artifact"],
        "decision": document["decision"],
        "by": document["registry_user"],
        "since": instant_text(row.since),
        "action": document["action"],
        "how": "observed" if document["state"] == "observed" else "promotion",
        "record": row.record,
    }


def _instant(text: str) -> datetime:
    try:
        return parse_instant(text)
    except ValueError as error:
        problem = FieldProblem("/query/at", str(error))
        raise InvalidInput(f"/query/at {error}", problems=[problem]) from error
