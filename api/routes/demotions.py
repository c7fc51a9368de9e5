"""Letting a target be emptied."""

from uuid import uuid4

import orjson
from fastapi import APIRouter, Request, Response

from api.auth import require_role
from api.pages import JSON
from api.recording import Recorder, asked_key, parse_json, read_fact
from api.routes.recording import answer_of, recorded, recorded_responses
from api.schemas.promotions import DemotionRequest
from api.services import services_of
from models.errors import SeparationOfDuties, ShipworthyError
from models.kinds.registry import KINDS

router = APIRouter(tags=["promotions"])


@router.post(
    "/v1/demotions",
    status_code=201,
    response_class=Response,
    responses=recorded_responses(),
    openapi_extra=recorded(DemotionRequest),
    summary="Let a target of a model be emptied, once",
)
async def allow_demotion(request: Request) -> Response:
    """Within 15 minutes, and for what the target holds now: a promotion in between uses it up."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["demotion.allowed"].roles))
    wanted = read_fact(parse_json(await request.body()), DemotionRequest)
    if actor.owner is None:
        raise SeparationOfDuties("this key names no person, and a target is emptied by persons")
    # The same words another day are another permission.
    key = asked_key(request.headers) or uuid4().hex
    body = {**wanted.model_dump(), "by": actor.owner}
    item = Recorder(services.ring.pepper).item("demotion.allowed", actor, body, key)
    (outcome,) = await services.ledger.append_all([item])
    if isinstance(outcome, ShipworthyError):
        raise outcome
    answer = answer_of(outcome, None)
    return Response(orjson.dumps(answer), 201 if answer["created"] else 200, media_type=JSON)
