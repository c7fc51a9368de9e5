"""What the guard of a registry asks and tells: may a name be moved, was it, and what does it hold."""

from typing import Any, Final
from uuid import uuid4

import orjson
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from api.auth import require_role
from api.pages import JSON
from api.promoting import answer_of, check, settle
from api.recording import Recorder, idempotency_key, parse_json, read_fact
from api.routes.recording import answer_of as stored_answer
from api.routes.recording import documented, recorded, recorded_responses
from api.schemas.promotions import MoveAsked, Observation, Settlement
from api.services import Services, services_of
from models.actor import Actor, Role
from models.errors import ShipworthyError
from models.kinds.registry import KINDS
from models.ledger.drafts import Stored
from models.promotions.queries import find_event, find_target_row

router = APIRouter(tags=["promotions"])

_CHECKED: Final[dict[str, Any]] = {
    JSON: {
        "schema": {
            "type": "object",
            "required": ["allowed", "grant", "decision", "sentence", "code", "missing", "who", "link"],
            "properties": {
                "allowed": {"type": "boolean"},
                "grant": {
                    "type": ["object", "null"],
                    "required": ["id", "expires_at", "action", "binds"],
                    "properties": {
                        "id": {"type": "string", "description": "digest of the grant's record"},
                        "expires_at": {"type": "string"},
                        "action": {"type": "string", "enum": ["promote", "rollback", "register", "demote"]},
                        "binds": {"type": "object"},
                    },
                },
                "decision": {"type": ["string", "null"]},
                "sentence": {"type": "string"},
                "code": {"type": ["string", "null"]},
                "missing": {"type": "array", "items": {"type": "string"}},
                "who": {"type": "array", "items": {"type": "string"}},
                "link": {"type": "string", "description": "path of a page"},
            },
        }
    }
}
_SETTLED: Final[dict[str, Any]] = {
    JSON: {
        "schema": {
            "type": "object",
            "required": ["record", "position", "created", "state"],
            "properties": {
                "record": {"type": "string"},
                "position": {"type": "integer"},
                "created": {"type": "boolean"},
                "state": {"type": "string", "enum": ["promoted", "demoted", "registered", "failed"]},
            },
        }
    }
}


@router.post(
    "/v1/promotions:check",
    response_class=JSONResponse,
    openapi_extra=documented(MoveAsked),
    responses={200: {"description": "Judged: with a grant, or with what is missing.", "content": _CHECKED}},
    summary="May this name of the registry be moved now?",
)
async def check_move(request: Request) -> Response:
    """A grant is for one move, within 10 seconds, and has to be confirmed before the registry commits it."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.REGISTRY)
    asked = read_fact(parse_json(await request.body()), MoveAsked)
    return JSONResponse(await check(services, actor, asked))


@router.post(
    "/v1/promotions",
    status_code=201,
    response_class=Response,
    openapi_extra=documented(Settlement),
    responses={
        201: {"description": "Recorded: the registry may commit.", "content": _SETTLED},
        200: {"description": "The same was recorded before.", "content": _SETTLED},
    },
    summary="Confirm a move, or say that it failed",
)
async def confirm_move(request: Request) -> Response:
    """Refused when the grant is over or what it rests on fell meanwhile: roll the move back then."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.REGISTRY)
    settled = await settle(services, actor, read_fact(parse_json(await request.body()), Settlement))
    return Response(answer_of(settled), 201 if settled.stored.created else 200, media_type=JSON)


@router.post(
    "/v1/promotions:observe",
    status_code=201,
    response_class=Response,
    responses=recorded_responses(),
    openapi_extra=recorded(Observation),
    summary="Say what a registry holds",
)
async def observe(request: Request) -> Response:
    """No release by decision, but what the next artifact is compared with. What the records say already is not recorded
    again."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["promotion.observed"].roles))
    body = parse_json(await request.body())
    seen = read_fact(body, Observation)
    if seen.how == "reconcile":
        require_role(actor, Role.REGISTRY, Role.WORKER)
    known = await to_thread.run_sync(_known, services, actor, seen)
    if known is not None:
        return Response(orjson.dumps(stored_answer((known,), None)), 200, media_type=JSON)
    # What was seen, was otherwise and is seen again is a fact of its own, in the same words.
    key = idempotency_key(request.headers.get("idempotency-key")) or uuid4().hex
    item = Recorder(services.ring.pepper).item(
        "promotion.observed", actor, {"registry": seen.registry, **body}, key
    )
    (outcome,) = await services.ledger.append_all([item])
    if isinstance(outcome, ShipworthyError):
        raise outcome
    answer = stored_answer(outcome, None)
    return Response(orjson.dumps(answer), 201 if answer["created"] else 200, media_type=JSON)


def _known(services: Services, actor: Actor, seen: Observation) -> Stored | None:
    """The record that says it already."""
    with services.database.reading() as connection:
        place = find_target_row(connection, actor.namespace, seen.registry, seen.model, seen.target)
        if place is None or place["record"] is None:
            return None
        if (place["version"], place["artifact"]) != (seen.version, seen.artifact):
            return None
        event = find_event(connection, actor.namespace, place["record"])
    return None if event is None else Stored("promotion.observed", event.record, event.position, False)
