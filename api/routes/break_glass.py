"""Passing by a gate, by two persons."""

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from api.appending import stored_fact
from api.auth import require_role
from api.breaking_glass import decide_when_two_asked
from api.pages import JSON
from api.recording import parse_json, read_fact
from api.routes.recording import recorded
from api.schemas.gates import BreakGlassRequest
from api.services import services_of
from models.errors import SeparationOfDuties
from models.fields import instant_text
from models.kinds.registry import KINDS

router = APIRouter(tags=["reviews"])

_ASKED: Final[dict[str, Any]] = {
    JSON: {
        "schema": {
            "type": "object",
            "required": ["record", "position", "created", "decision", "waiting"],
            "properties": {
                "record": {"type": "string"},
                "position": {"type": "integer"},
                "created": {"type": "boolean"},
                "decision": {"type": ["object", "null"]},
                "waiting": {
                    "type": "boolean",
                    "description": "whether a second person has to ask for the same",
                },
            },
        }
    }
}


@router.post(
    "/v1/break-glass",
    status_code=201,
    response_class=JSONResponse,
    openapi_extra=recorded(BreakGlassRequest),
    responses={
        201: {"description": "Recorded; `decision` holds the break-glass once two asked.", "content": _ASKED},
        200: {"description": "The same person asked for the same before.", "content": _ASKED},
    },
    summary="Let an artifact pass without its gate, with a second person",
)
async def break_glass(request: Request) -> Response:
    """For at most 7 days. The decision is of a type of its own: no gate passed, and whatever shows it says so."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["break_glass.asked"].roles))
    wanted = read_fact(parse_json(await request.body()), BreakGlassRequest)
    if actor.owner is None:
        raise SeparationOfDuties("this key names no person, and a gate is passed by by persons")
    body: dict[str, Any] = {
        "model": wanted.model,
        "artifact": wanted.artifact,
        "to": wanted.to,
        "reason": wanted.reason,
        "expires_at": instant_text(wanted.expires_at),
        "by": actor.owner,
    }
    if wanted.version is not None:
        body["version"] = wanted.version
    stored = await stored_fact(services, actor, "break_glass.asked", body, request)
    decision = await decide_when_two_asked(services, actor, stored.digest, wanted)
    answer = {
        "record": stored.digest,
        "position": stored.position,
        "created": stored.created,
        "decision": decision,
        "waiting": decision is None,
    }
    return JSONResponse(answer, 201 if stored.created else 200)
