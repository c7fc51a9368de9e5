"""SLOs: definitions published in versions that never change, and looked over without being published."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from api.auth import require_role
from api.documents import document_body, problems_json, published_responses
from api.keeping import keep_blob
from api.recording import Recorder
from api.routes.reading_slos import SloPath
from api.services import Services, services_of
from api.slo_documents import ReadDefinition, checked_definition, read_definition
from gates.documents.problems import DocumentError, Problem
from gates.slo.linting import lint
from models.actor import Actor, Role
from models.errors import FieldProblem, InvalidInput, ShipworthyError
from models.kinds.registry import KINDS
from models.slo.definitions import PublishedVersion, find_slo

router = APIRouter(tags=["slos"])

_BODY: Final = document_body("a definition: docs/slo.md")
_SHOWN: Final = (
    "name",
    "version",
    "kind",
    "objective",
    "service",
    "team",
    "target",
    "max_misses",
    "digest",
    "document_digest",
    "record",
)
_PUBLISHED: Final = published_responses(
    ("name", "version", "digest", "document_digest", "objective", "record", "created"),
    document_digest={"type": "string"},
    objective={"type": "string"},
    target={"type": "string"},
)


@router.put(
    "/v1/slos/{name}",
    status_code=201,
    response_class=JSONResponse,
    openapi_extra=_BODY,
    responses=_PUBLISHED,
    summary="Publish an SLO's definition, or its next version",
)
async def publish_slo(name: SloPath, request: Request) -> Response:
    """The bytes are kept as they are sent. The service counts the versions, and what is published never changes: a
    window is judged by the version that expected it."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["slo.published"].roles))
    data, media = await request.body(), request.headers.get("content-type")
    read, problems, current = await to_thread.run_sync(_checked, services, actor, name, data, media)
    if current is not None and current.digest == read.definition.digest:
        return JSONResponse(_answer(json.loads(current.document), problems, current.position, False))
    version = 1 if current is None else current.version + 1
    await to_thread.run_sync(keep_blob, services.blobs, actor.namespace, read.definition.digest, read.data)
    item = Recorder(services.ring.pepper).item("slo.published", actor, read.body(version), None)
    (stored,) = await services.ledger.append_all([item])
    if isinstance(stored, ShipworthyError):
        raise stored
    first = stored[0]
    document = {**item.drafts[0].body, "record": first.digest}
    return JSONResponse(
        _answer(document, problems, first.position, first.created), 201 if first.created else 200
    )


@router.post(
    "/v1/slos:lint",
    response_class=JSONResponse,
    openapi_extra=_BODY,
    responses={200: {"description": "What is wrong with it, and what the author should know."}},
    summary="Look a definition over without publishing it",
)
async def lint_slo(request: Request) -> Response:
    """`ok` is false when it could not be published now. Nothing is stored."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.AUTHOR)
    data, media = await request.body(), request.headers.get("content-type")
    return JSONResponse(await to_thread.run_sync(_linted, data, media))


def _checked(
    services: Services, actor: Actor, name: str, data: bytes, media: str | None
) -> tuple[ReadDefinition, Sequence[Problem], PublishedVersion | None]:
    """The definition, what lint says of it, and the current version. Raises InvalidInput."""
    read, problems = checked_definition(data, media, datetime.now(UTC))
    if read.definition.name != name:
        message = f"is {read.definition.name}, the URL says {name}; publish it under its own name"
        raise InvalidInput(f"/metadata/name {message}", problems=[FieldProblem("/metadata/name", message)])
    with services.database.read() as session:
        current = find_slo(session.connection(), actor.namespace, name)
    if current is not None:
        _check_objective(read.definition.objective, json.loads(current.document)["objective"])
    return read, problems, current


def _check_objective(objective: str, before: str) -> None:
    """Raises InvalidInput: windows, slices and events don't add up to one count."""
    if objective != before:
        message = (
            f"is {objective}, that of the version before is {before}: their counts don't add up; publish it under "
            "another name"
        )
        raise InvalidInput(f"/objective {message}", problems=[FieldProblem("/objective", message)])


def _answer(
    document: dict[str, Any], problems: Sequence[Problem], position: int, created: bool
) -> dict[str, Any]:
    return {name: document.get(name) for name in _SHOWN} | {
        "problems": problems_json(problems),
        "position": position,
        "created": created,
    }


def _linted(data: bytes, media: str | None) -> dict[str, Any]:
    try:
        definition = read_definition(data, media).definition
    except DocumentError as error:
        return {"ok": False, "problems": problems_json(error.problems)}
    problems = lint(definition, datetime.now(UTC))
    return {
        "ok": all(each.severity != "error" for each in problems),
        "name": definition.name,
        "kind": definition.kind,
        "objective": definition.objective,
        "digest": definition.digest,
        "document_digest": definition.document_digest,
        "problems": problems_json(problems),
    }
