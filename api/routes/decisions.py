"""Asking a gate."""

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from api.auth import require_role
from api.deciding import decide
from api.pages import JSON
from api.recording import parse_json, read_fact
from api.routes.reading_gates import GatePath
from api.routes.recording import documented
from api.schemas.gates import DecisionRequest
from api.services import services_of
from models.actor import Role

router = APIRouter(tags=["decisions"])

_DECIDED: Final[dict[str, Any]] = {
    JSON: {
        "schema": {
            "type": "object",
            "required": [
                "decision",
                "verdict",
                "sentence",
                "criteria",
                "unblocks",
                "valid_until",
                "position",
            ],
            "properties": {
                "decision": {"type": "string", "description": "digest of the decision's record"},
                "verdict": {"type": "string", "enum": ["passed", "review_required", "blocked"]},
                "sentence": {"type": "string"},
                "criteria": {"type": "array", "items": {"type": "object"}},
                "unblocks": {"type": "array", "items": {"type": "string"}},
                "valid_until": {"type": ["string", "null"]},
                "position": {"type": "integer"},
            },
        }
    }
}


@router.post(
    "/v1/gates/{name}/decisions",
    status_code=201,
    response_class=JSONResponse,
    openapi_extra=documented(DecisionRequest),
    responses={201: {"description": "Decided and recorded, whatever the verdict.", "content": _DECIDED}},
    summary="Decide whether an artifact may take a place",
)
async def add_decision(name: GatePath, request: Request) -> Response:
    """Judged on what is recorded at this moment; each call makes a decision of its own, and the latest one counts."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.AUTHOR, Role.EVALUATOR, Role.RECORDER)
    wanted = read_fact(parse_json(await request.body()), DecisionRequest)
    return JSONResponse(await decide(services, actor, name, wanted), 201)
