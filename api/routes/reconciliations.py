"""What a registry holds against what was decided."""

import json
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from api.auth import require_role
from api.dependencies import CurrentActor
from api.keeping import kept_blob
from api.pages import JSON
from api.reading_route import reading_router
from api.reconciling import reconcile
from api.recording import parse_json, read_fact
from api.routes.reading_catalog import Registry
from api.routes.recording import documented
from api.schemas.promotions import ReconciliationRequest
from api.services import services_of
from models.errors import NotFound
from models.kinds.registry import KINDS
from models.promotions.reconciliations import find_latest

router = APIRouter(tags=["promotions"])
reading = reading_router("promotions")

_NEVER: Final = (
    "this registry was never compared with the records; give a worker SHIPWORTHY_MLFLOW_URI and start it with "
    "`shipworthy-server worker`"
)
_FINDINGS: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["record", "findings"],
    "properties": {
        "record": {"type": "string"},
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "required": [
                    "kind",
                    "registry",
                    "model",
                    "target",
                    "version",
                    "artifact",
                    "since",
                    "sentence",
                    "who",
                ],
            },
        },
    },
}


@router.post(
    "/v1/reconciliations",
    status_code=201,
    response_class=JSONResponse,
    openapi_extra=documented(ReconciliationRequest),
    responses={
        201: {"description": "Compared and recorded.", "content": {JSON: {"schema": _FINDINGS}}},
        200: {"description": "All is as the last record says.", "content": {JSON: {"schema": _FINDINGS}}},
    },
    summary="Compare what a registry holds with the records",
)
async def add_reconciliation(request: Request) -> Response:
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS["registry.reconciled"].roles))
    asked = read_fact(parse_json(await request.body()), ReconciliationRequest)
    answer = await reconcile(services, actor, asked)
    return JSONResponse(answer, 201 if answer["created"] else 200)


@reading.get(
    "/v1/reconciliations:latest",
    response_class=JSONResponse,
    responses={200: {"description": "The last one.", "content": {JSON: {"schema": _FINDINGS}}}},
    summary="What the last comparison of a registry found",
)
def get_latest(request: Request, actor: CurrentActor, registry: Registry = "default") -> Response:
    """`age_seconds` counts from when the registry was last seen as it is told here."""
    services = services_of(request)
    with services.database.reading() as connection:
        latest = find_latest(connection, actor.namespace, registry)
    if latest is None:
        raise NotFound(_NEVER)
    report = json.loads(kept_blob(services.blobs, actor.namespace, latest.report))
    answer = json.loads(latest.document) | {
        "counts": json.loads(latest.document)["findings"],
        "findings": report["findings"],
        "position": latest.position,
        "age_seconds": round((datetime.now(UTC) - latest.seen_at).total_seconds(), 3),
    }
    return JSONResponse(answer)
