"""Appending one record whose body the service completes: what a client sent, and what only the service knows."""

from typing import Any

import orjson
from fastapi import Request
from starlette.responses import Response

from api.pages import JSON
from api.recording import Recorder, asked_key
from api.routes.recording import answer_of
from api.services import Services
from models.actor import Actor
from models.errors import ShipworthyError
from models.ledger.drafts import Stored


async def stored_fact(
    services: Services, actor: Actor, kind: str, body: dict[str, Any], request: Request
) -> Stored:
    """Where the record lies. Raises what refuses it."""
    key = asked_key(request.headers)
    item = Recorder(services.ring.pepper).item(kind, actor, body, key)
    (outcome,) = await services.ledger.append_all([item])
    if isinstance(outcome, ShipworthyError):
        raise outcome
    return outcome[0]


async def append_fact(
    services: Services, actor: Actor, kind: str, body: dict[str, Any], request: Request
) -> Response:
    """The answer of a recording call: 201, or 200 when the same was recorded before."""
    answer = answer_of((await stored_fact(services, actor, kind, body, request),), None)
    return Response(orjson.dumps(answer), 201 if answer["created"] else 200, media_type=JSON)
