"""Data contracts: published, and looked over without being published."""

import json
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import APIRouter, Path, Request, Response
from starlette.responses import JSONResponse

from api.auth import require_role
from api.contract_reading import ReadContract, read, read_for_publishing
from api.documents import document_body, problems_json, published_responses
from api.keeping import keep_blob
from api.recording import Recorder
from api.services import Services, services_of
from gates.documents.problems import DocumentError
from models.actor import Actor, Role
from models.contracts.queries import (
    CurrentContract,
    PublishedVersion,
    find_contract,
    get_contract_version,
)
from models.errors import Conflict, ShipworthyError
from models.kinds.registry import KINDS
from models.patterns import NAME_PATTERN

router = APIRouter(tags=["contracts"])

_ATTEMPTS: Final = 20
"""Each one lost means that somebody else published a version in between."""
Name = Annotated[str, Path(max_length=128, json_schema_extra={"pattern": NAME_PATTERN})]
_BODY: Final = document_body("Open Data Contract Standard v3, or a GX 1.x suite")
_PUBLISHED: Final = published_responses(
    ("name", "version", "digest", "suite_digest", "objects", "problems", "record", "created"),
    suite_digest={"type": "string"},
    baseline={"type": ["string", "null"]},
    objects={"type": "array", "items": {"type": "object"}},
)


@router.put(
    "/v1/contracts/{name}",
    status_code=201,
    response_class=JSONResponse,
    openapi_extra=_BODY,
    responses=_PUBLISHED,
    summary="Publish a contract, or its next version",
)
async def publish_contract(name: Name, request: Request) -> Response:
    """The bytes are kept as they are sent, at most 1 MiB, and compiled. Versions are numbered in log order; what the
    current version says already makes none."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["contract.published"].roles))
    data = await request.body()
    contract = await to_thread.run_sync(read_for_publishing, data, request.headers.get("content-type"))
    await to_thread.run_sync(_keep, services, actor, contract)
    outcome: ShipworthyError | None = None
    for _ in range(_ATTEMPTS):
        current = await to_thread.run_sync(_current, services, actor, name)
        if current is not None and _is_same(current, contract):
            version = await to_thread.run_sync(_version, services, actor, name, current.version)
            return JSONResponse(_answer(contract, json.loads(version.document), version.position, False))
        following = 1 if current is None else current.version + 1
        item = Recorder(services.ring.pepper).item(
            "contract.published", actor, _body(name, following, contract), None
        )
        (stored,) = await services.ledger.append_all([item])
        if not isinstance(stored, ShipworthyError):
            first = stored[0]
            document = {**item.drafts[0].body, "record": first.digest}
            answer = _answer(contract, document, first.position, first.created)
            return JSONResponse(answer, 201 if first.created else 200)
        if not isinstance(stored, Conflict):
            raise stored
        outcome = stored
    assert outcome is not None
    raise outcome


@router.post(
    "/v1/contracts:lint",
    response_class=JSONResponse,
    openapi_extra=_BODY,
    responses={200: {"description": "What is wrong with it, and what it would be compiled into."}},
    summary="Look a contract over without publishing it",
)
async def lint(request: Request) -> Response:
    """`ok` is false when a rule can't run as it is written. `not_evaluated` lists the rules that can't be
    checked, each with the reason. Nothing is stored."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.AUTHOR)
    data = await request.body()
    return JSONResponse(await to_thread.run_sync(_linted, data, request.headers.get("content-type")))


def _keep(services: Services, actor: Actor, contract: ReadContract) -> None:
    """Both blobs before the record that names them: a record must never name what is not there."""
    for digest, data in (
        (contract.digest, contract.data),
        (contract.compiled.digest, contract.compiled.canonical),
    ):
        keep_blob(services.blobs, actor.namespace, digest, data)


def _current(services: Services, actor: Actor, name: str) -> CurrentContract | None:
    with services.database.read() as session:
        return find_contract(session, actor.namespace, name)


def _version(services: Services, actor: Actor, name: str, version: int) -> PublishedVersion:
    with services.database.read() as session:
        return get_contract_version(session, actor.namespace, name, version)


def _is_same(current: CurrentContract, contract: ReadContract) -> bool:
    # The suite as well: a newer compiler reads the same bytes in another way, and that is another version.
    return (current.digest, current.suite_digest) == (contract.digest, contract.compiled.digest)


def _body(name: str, version: int, contract: ReadContract) -> dict[str, Any]:
    body = {
        "name": name,
        "version": version,
        "format": contract.format,
        "media_type": contract.media_type,
        "digest": contract.digest,
        "size_bytes": len(contract.data),
        "suite_digest": contract.compiled.digest,
        "objects": contract.objects,
    }
    pinned = contract.compiled.baseline
    return body if pinned is None else body | {"baseline": pinned}


def _answer(contract: ReadContract, document: dict[str, Any], position: int, created: bool) -> dict[str, Any]:
    return {
        "name": document["name"],
        "version": document["version"],
        "format": document["format"],
        "digest": document["digest"],
        "suite_digest": document["suite_digest"],
        "baseline": document.get("baseline"),
        "objects": document["objects"],
        "problems": problems_json(contract.problems),
        "record": document["record"],
        "position": position,
        "created": created,
    }


def _linted(data: bytes, content_type: str | None) -> dict[str, Any]:
    try:
        contract = read(data, content_type)
    except DocumentError as error:
        problems = problems_json(error.problems)
        return {"ok": False, "format": None, "problems": problems, "objects": [], "not_evaluated": []}
    return {
        "ok": contract.is_sound,
        "format": contract.format,
        "problems": problems_json(contract.problems),
        "objects": contract.objects,
        "not_evaluated": [
            {"object": each.name, **rule.to_json()}
            for each in contract.compiled.objects
            for rule in each.not_evaluated
        ],
    }
