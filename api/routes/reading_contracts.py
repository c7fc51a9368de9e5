"""Reading data contracts: versions, and what they are compiled into."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Path, Request, Response
from sqlmodel import Session

from api.dependencies import CurrentActor
from api.marked_pages import marked_document, marked_page
from api.pages import (
    DEFAULT_LIMIT,
    JSON,
    PAGE,
    After,
    Limit,
    json_response,
)
from api.reading_route import reading_router
from api.routes.contracts import Name
from api.services import services_of
from models.actor import Actor
from models.contracts.queries import (
    PublishedVersion,
    get_contract,
    get_contract_version,
    list_contract_versions,
    list_contracts,
)
from models.lineage.marks import marks_at

router = reading_router("contracts")

Version = Annotated[int, Path(ge=1, le=1_000_000)]


@router.get("/v1/contracts", response_class=Response, responses=PAGE, summary="List contracts")
def get_contracts(
    request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    """The current version of each, the last published first."""
    scope = ["contracts", actor.namespace]
    return marked_page(request, actor, scope, after, limit, list_contracts, marked_document)


@router.get("/v1/contracts/{name}", response_class=Response, summary="The current version of a contract")
def get_current_contract(name: Name, request: Request, actor: CurrentActor) -> Response:
    """The bytes as they were sent are the blob `digest`."""
    return _one(request, actor, name, None)


@router.get(
    "/v1/contracts/{name}/versions",
    response_class=Response,
    responses=PAGE,
    summary="Versions of a contract, the latest first",
)
def get_contract_versions(
    name: Name, request: Request, actor: CurrentActor, limit: Limit = DEFAULT_LIMIT, after: After = None
) -> Response:
    scope = ["contract-versions", actor.namespace, name]

    def versions(
        session: Session, namespace: str, start: int | None, most: int
    ) -> Sequence[PublishedVersion]:
        get_contract(session, namespace, name)
        return list_contract_versions(session, namespace, name, start, most)

    return marked_page(
        request, actor, scope, after, limit, versions, marked_document, number=lambda row: row.version
    )


@router.get("/v1/contracts/{name}/versions/{version}", response_class=Response, summary="One version")
def get_one_contract_version(name: Name, version: Version, request: Request, actor: CurrentActor) -> Response:
    return _one(request, actor, name, version)


@router.get(
    "/v1/contracts/{name}/compiled",
    response_class=Response,
    summary="What the current version is compiled into",
)
def get_compiled(name: Name, request: Request, actor: CurrentActor) -> Response:
    """Every rule, compiled or in `not_evaluated` with the reason; the bytes hash to the suite's digest."""
    return _compiled(request, actor, name, None)


@router.get(
    "/v1/contracts/{name}/versions/{version}/compiled",
    response_class=Response,
    summary="What a version is compiled into",
)
def get_compiled_version(name: Name, version: Version, request: Request, actor: CurrentActor) -> Response:
    return _compiled(request, actor, name, version)


def _one(request: Request, actor: Actor, name: str, version: int | None) -> Response:
    with services_of(request).database.read() as session:
        row = get_contract_version(session, actor.namespace, name, version)
        marks = marks_at(session, actor.namespace, [row.position])
    return json_response(marked_document(row, marks.get(row.position, [])))


def _compiled(request: Request, actor: Actor, name: str, version: int | None) -> Response:
    services = services_of(request)
    with services.database.read() as session:
        row = get_contract_version(session, actor.namespace, name, version)
    _, chunks = services.blobs.read(actor.namespace, row.suite_digest)
    return Response(b"".join(chunks), headers={"X-Suite-Digest": row.suite_digest}, media_type=JSON)
