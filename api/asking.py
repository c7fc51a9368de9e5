"""Calls that ask for work: one body, validated, checked against what is recorded, queued, answered with its id."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TypeVar

from anyio import to_thread
from fastapi import Request
from sqlmodel import Session
from starlette.responses import JSONResponse, Response

from api.auth import require_role
from api.pages import JSON, dump
from api.recording import asked_key, parse_json, read_fact, with_path
from api.services import Services, services_of
from models.actor import Actor, Role
from models.errors import FieldProblem, IdempotencyKeyReused, InvalidInput
from models.fields import Value, instant_text
from models.work.queue import add_work, find_by_key
from models.work.roots import awaited_root
from models.work.states import WorkItem, WorkKind, WorkState
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import CanonicalizationError, canonicalize

V = TypeVar("V", bound=Value)
Prepare = Callable[[Session, str, V], tuple[str, Mapping[str, Any]]]
"""From a session, the namespace and what was asked to the root that is read and the request as workers get it."""

QUEUED: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "Queued, or what the same idempotency key asked for before.",
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["id", "state"],
                    "properties": {"id": {"type": "string"}, "state": {"type": "string"}},
                }
            }
        },
    }
}


async def ask_for_work(
    request: Request,
    kind: WorkKind,
    roles: tuple[Role, ...],
    model: type[V],
    prepare: Prepare[V],
    path: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    """202 with the id. The same idempotency key with the same body gives what it asked for first, whatever was
    recorded since. `path` holds fields that the URL gives."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *roles)
    body = with_path(parse_json(await request.body()), path)
    wanted = read_fact(body, model)
    key = asked_key(request.headers)
    content = _content(body)
    item = await to_thread.run_sync(_queued, services, actor, kind, wanted, prepare, key, content)
    return JSONResponse({"id": item.id, "state": item.state_at(datetime.now(UTC))[0]}, 202)


def with_awaited(services: Services, actor: Actor, found: dict[str, Any]) -> dict[str, Any]:
    """Work as it is shown; while it is queued with the root that it waits for, and whether anybody serves it."""
    if found["state"] != WorkState.QUEUED:
        return found
    with services.database.read() as session:
        awaited = awaited_root(session.connection(), actor.namespace, found["id"])
    if awaited is None:
        return found
    root, seen_at = awaited
    return found | {"waits_for": {"root": root, "worker_seen_at": instant_text(seen_at)}}


def _queued(
    services: Services,
    actor: Actor,
    kind: WorkKind,
    wanted: V,
    prepare: Prepare[V],
    key: str | None,
    content: str,
) -> WorkItem:
    with services.database.read() as session:
        known = find_by_key(session.connection(), actor.namespace, key)
        if known is not None:
            if known.content_digest != content or known.kind != kind:
                raise IdempotencyKeyReused(
                    "this idempotency key was used before with other content; send the same content, or a new key"
                )
            return known
        root, prepared = prepare(session, actor.namespace, wanted)
    with services.database.connection() as connection:
        return add_work(
            connection,
            namespace=actor.namespace,
            kind=kind,
            root=root,
            request=dump(prepared),
            content=content,
            key=key,
            owner=actor.owner,
            now=datetime.now(UTC),
        )


def _content(body: Mapping[str, Any]) -> str:
    try:
        return sha256_digest(canonicalize(dict(body)))
    except CanonicalizationError as error:
        raise InvalidInput(str(error), problems=[FieldProblem(error.path, error.reason)]) from error
