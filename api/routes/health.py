"""Is the process alive, can it serve, and its figures for Prometheus."""

import hmac
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text

from api.loopback import is_loopback
from api.services import services_of
from models.errors import TokenInvalid, Unavailable

router = APIRouter(tags=["health"])


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", summary="Can the service take and answer requests?")
async def readyz(request: Request) -> dict[str, Any]:
    """Asks the database; 503 when it does not answer or the writer has stopped."""
    services = services_of(request)
    if not services.ledger.is_open:
        raise Unavailable("the service is shutting down; send it again in a moment")

    def ask() -> int:
        with services.database.read() as session:
            return int(
                session.connection().execute(text("SELECT count(*) FROM tree_head WHERE id = 0")).scalar_one()
            )

    await to_thread.run_sync(ask)
    return {"status": "ready", "database": services.database.dialect}


@router.get("/metrics", response_class=Response, summary="Figures in Prometheus' text format")
async def metrics(request: Request) -> Response:
    """For SHIPWORTHY_METRICS_TOKEN as bearer token; without one configured, for this machine only."""
    services = services_of(request)
    wanted = services.settings.metrics_token
    if wanted is not None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), wanted.encode()):
            raise TokenInvalid("metrics need the bearer token of SHIPWORTHY_METRICS_TOKEN")
    elif (
        request.client is None
        or not is_loopback(request.client.host)
        # Behind a proxy on this machine everybody comes from loopback.
        or "x-forwarded-for" in request.headers
        or "forwarded" in request.headers
    ):
        raise TokenInvalid(
            "metrics are for this machine only; set SHIPWORTHY_METRICS_TOKEN to read them from afar"
        )
    return Response(generate_latest(services.registry), media_type=CONTENT_TYPE_LATEST)
