"""What the guard of a registry asks and tells: may a name be moved, was it, and what does it hold."""

from hashlib import sha256
from typing import Any, Final

import orjson
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from api.auth import require_role
from api.moving import move
from api.pages import JSON
from api.promoting import answer_of, check, settle
from api.recording import Recorder, asked_key, parse_json, read_fact
from api.routes.recording import answer_of as stored_answer
from api.routes.recording import documented, recorded, recorded_responses
from api.schemas.promotions import MoveAsked, MovesWritten, Observation, Settlement
from api.services import Services, services_of
from models.actor import Actor, Role
from models.errors import ShipworthyError
from models.kinds.registry import KINDS
from models.ledger.drafts import Stored
from models.promotions.queries import find_event, find_target_row

router = APIRouter(tags=["promotions"])

_ACTION: Final = {"type": "string", "enum": ["promote", "rollback", "register", "demote"]}
_WHY: Final[dict[str, Any]] = {
    "decision": {"type": ["string", "null"]},
    "sentence": {"type": "string"},
    "code": {"type": ["string", "null"]},
    "missing": {"type": "array", "items": {"type": "string"}},
    "who": {"type": "array", "items": {"type": "string"}},
    "link": {"type": "string", "description": "path of a page"},
}
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
                        "action": _ACTION,
                        "binds": {"type": "object"},
                    },
                },
                **_WHY,
            },
        }
    }
}
_MOVED: Final[dict[str, Any]] = {
    JSON: {
        "schema": {
            "type": "object",
            "required": ["allowed", "promotions", "decision", "sentence", "code", "missing", "who", "link"],
            "properties": {
                "allowed": {"type": "boolean"},
                "promotions": {
                    "type": "array",
                    "description": "one for each move when it is allowed, else none",
                    "items": {
                        "type": "object",
                        "required": ["record", "position", "created", "action", "decision", "binds"],
                        "properties": {
                            "record": {"type": "string"},
                            "position": {"type": "integer"},
                            "created": {"type": "boolean"},
                            "action": _ACTION,
                            "decision": {"type": ["string", "null"]},
                            "binds": {"type": "object"},
                        },
                    },
                },
                **_WHY,
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
    return Response(orjson.dumps(await check(services, actor, asked)), media_type=JSON)


@router.post(
    "/v1/promotions:move",
    response_class=JSONResponse,
    openapi_extra=documented(MovesWritten),
    responses={
        200: {"description": "Recorded, or refused with what is missing.", "content": _MOVED},
    },
    summary="May this move, which is written, be committed?",
)
async def record_moves(request: Request) -> Response:
    """Judges and records at once: where the registry's server can ask between its write and its commit, neither a grant
    nor a confirmation is needed. Unless `allowed` is true, roll the move back."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.REGISTRY)
    written = read_fact(parse_json(await request.body()), MovesWritten)
    return Response(orjson.dumps(await move(services, actor, written)), media_type=JSON)


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
    known, held = await to_thread.run_sync(_known, services, actor, seen)
    if known is not None:
        return Response(orjson.dumps(stored_answer((known,), None)), 200, media_type=JSON)
    body = {"registry": seen.registry, **body}
    key = asked_key(request.headers) or _said_once(body, held)
    item = Recorder(services.ring.pepper).item("promotion.observed", actor, body, key)
    (outcome,) = await services.ledger.append_all([item])
    if isinstance(outcome, ShipworthyError):
        raise outcome
    answer = stored_answer(outcome, None)
    return Response(orjson.dumps(answer), 201 if answer["created"] else 200, media_type=JSON)


def _known(services: Services, actor: Actor, seen: Observation) -> tuple[Stored | None, str | None]:
    """The record that says it already, and the one that made the target what it is."""
    with services.database.reading() as connection:
        place = find_target_row(connection, actor.namespace, seen.registry, seen.model, seen.target)
        held = None if place is None else place["record"]
        if place is None or held is None:
            return None, None
        if (place["version"], place["artifact"]) != (seen.version, seen.artifact):
            return None, held
        event = find_event(connection, actor.namespace, held)
    known = None if event is None else Stored("promotion.observed", event.record, event.position, False)
    return known, held


def _said_once(body: dict[str, Any], held: str | None) -> str:
    """The same words are a fact of their own only when the target was otherwise meanwhile."""
    return sha256(orjson.dumps([held, body], option=orjson.OPT_SORT_KEYS)).hexdigest()
