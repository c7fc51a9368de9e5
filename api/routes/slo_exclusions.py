"""Exclusions: an approver takes it upon himself that windows count for nothing, with a reason."""

from typing import Any

from fastapi import APIRouter, Request, Response

from api.appending import append_fact
from api.auth import require_role
from api.recording import parse_json, read_fact, with_path
from api.routes.reading_slos import SloPath
from api.routes.recording import recorded, recorded_responses
from api.services import services_of
from models.errors import SeparationOfDuties
from models.kinds.registry import KINDS
from models.kinds.slos import Exclusion

router = APIRouter(tags=["slos"])


@router.post(
    "/v1/slos/{name}/exclusions",
    status_code=201,
    response_class=Response,
    responses=recorded_responses(),
    openapi_extra=recorded(Exclusion, "slo"),
    summary="Leave windows out of count",
)
async def exclude_windows(name: SloPath, request: Request) -> Response:
    """A time, or windows by their ids. Without `retroactive` what was over keeps counting. What was judged stays in the
    ledger: a window that is left out gets one revision more, which says so."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["slo.excluded"].roles))
    body: dict[str, Any] = with_path(parse_json(await request.body()), {"slo": name})
    read_fact(body, Exclusion)
    if actor.owner is None:
        raise SeparationOfDuties(
            "the key names no person, and what is left out of count needs somebody who says so; use a key that has an "
            "owner (keys create --role approver --owner ADDRESS)"
        )
    return await append_fact(services, actor, "slo.excluded", body | {"by": actor.owner}, request)
