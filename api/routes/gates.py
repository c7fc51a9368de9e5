"""Release gates: policies published in versions that never change, and looked over without being published."""

import json
from datetime import UTC, datetime
from typing import Any, Final

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from api.auth import require_role
from api.documents import document_body, problems_json, published_responses, refusal
from api.keeping import keep_blob
from api.policies import WHAT, ReadPolicy, people_problems, read_policy
from api.recording import Recorder
from api.routes.reading_gates import GatePath
from api.services import Services, services_of
from gates.documents.problems import DocumentError, Problem
from gates.release.linting import lint
from models.actor import Actor, Role
from models.errors import FieldProblem, InvalidInput, ShipworthyError
from models.gates.people import approvers
from models.gates.queries import PublishedGate, find_gate, get_gate_version
from models.gates.rules import check_follows
from models.kinds.registry import KINDS

router = APIRouter(tags=["gates"])

_BODY: Final = document_body("a policy: docs/gates.md")
_PUBLISHED: Final = published_responses(
    ("name", "version", "digest", "document_digest", "applies_to", "record", "created"),
    document_digest={"type": "string"},
    applies_to={"type": "object"},
    criteria={"type": "array", "items": {"type": "string"}},
)


@router.put(
    "/v1/gates/{name}",
    status_code=201,
    response_class=JSONResponse,
    openapi_extra=_BODY,
    responses=_PUBLISHED,
    summary="Publish a gate's policy, or its next version",
)
async def publish_gate(name: GatePath, request: Request) -> Response:
    """The bytes are kept as they are sent. The policy says its own name and version; the next version has the number
    after, and what is published never changes. Refused when it asks for more approvers than there are."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["gate.published"].roles))
    data, media = await request.body(), request.headers.get("content-type")
    read, problems, current = await to_thread.run_sync(_checked, services, actor, name, data, media)
    if current is not None:
        return JSONResponse(_answer(json.loads(current.document), problems, current.position, False))
    await to_thread.run_sync(keep_blob, services.blobs, actor.namespace, read.policy.digest, read.data)
    item = Recorder(services.ring.pepper).item("gate.published", actor, _body(read), None)
    (stored,) = await services.ledger.append_all([item])
    if isinstance(stored, ShipworthyError):
        raise stored
    first = stored[0]
    document = {**item.drafts[0].body, "record": first.digest}
    return JSONResponse(
        _answer(document, problems, first.position, first.created), 201 if first.created else 200
    )


@router.post(
    "/v1/gates:lint",
    response_class=JSONResponse,
    openapi_extra=_BODY,
    responses={200: {"description": "What is wrong with it, and what the author should know."}},
    summary="Look a policy over without publishing it",
)
async def lint_gate(request: Request) -> Response:
    """`ok` is false when it could not be published. Nothing is stored."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.AUTHOR)
    data, media = await request.body(), request.headers.get("content-type")
    return JSONResponse(await to_thread.run_sync(_linted, services, actor, data, media))


def _checked(
    services: Services, actor: Actor, name: str, data: bytes, media: str | None
) -> tuple[ReadPolicy, list[Problem], PublishedGate | None]:
    """The policy, what lint says of it, and the current version when it has this content. Raises InvalidInput."""
    try:
        read = read_policy(data, media)
    except DocumentError as error:
        raise refusal(error, WHAT) from error
    if read.policy.name != name:
        message = f"is {read.policy.name}, the URL says {name}; publish it under its own name"
        raise InvalidInput(f"/metadata/name {message}", problems=[FieldProblem("/metadata/name", message)])
    with services.database.read() as session:
        connection = session.connection()
        current = find_gate(connection, actor.namespace, name)
        if current is not None and current.digest == read.policy.digest:
            version = get_gate_version(connection, actor.namespace, name, current.version)
            return read, list(lint(read.policy)), version
        if current is not None:
            check_follows(current.name, current.version, read.policy.version)
        found = approvers(connection, actor.namespace, datetime.now(UTC))
    problems = people_problems(read.policy, found, actor.owner)
    if problems:
        raise refusal(DocumentError(problems), WHAT)
    return read, list(lint(read.policy)), None


def _body(read: ReadPolicy) -> dict[str, Any]:
    policy = read.policy
    return {
        "name": policy.name,
        "version": policy.version,
        "media_type": read.media_type,
        "digest": policy.digest,
        "document_digest": policy.document_digest,
        "size_bytes": len(read.data),
        "applies_to": {
            "model": policy.model,
            "to": policy.to,
            "valid_for_seconds": policy.valid_for.total_seconds(),
        },
        "criteria": [criterion.id for criterion in policy.criteria],
        "reason": policy.document.metadata.reason,
    }


def _answer(
    document: dict[str, Any], problems: list[Problem], position: int, created: bool
) -> dict[str, Any]:
    names = ("name", "version", "digest", "document_digest", "applies_to", "criteria", "record")
    return {name: document[name] for name in names} | {
        "problems": problems_json(problems),
        "position": position,
        "created": created,
    }


def _linted(services: Services, actor: Actor, data: bytes, media: str | None) -> dict[str, Any]:
    try:
        policy = read_policy(data, media).policy
    except DocumentError as error:
        return {"ok": False, "problems": problems_json(error.problems)}
    with services.database.read() as session:
        found = approvers(session.connection(), actor.namespace, datetime.now(UTC))
    problems = [*people_problems(policy, found, actor.owner), *lint(policy)]
    return {
        "ok": all(each.severity != "error" for each in problems),
        "name": policy.name,
        "version": policy.version,
        "digest": policy.digest,
        "document_digest": policy.document_digest,
        "problems": problems_json(problems),
    }
