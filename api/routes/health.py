"""Is the process alive, can it serve, and its figures for Prometheus."""

import hmac
from typing import Any, Final

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text

from api.loopback import is_loopback
from api.services import Services, services_of
from api.slo_gauges import slo_gauges
from models.errors import TokenInvalid, Unavailable

router = APIRouter(tags=["health"])
_KEY: Final = "sw_"


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
    """For SHIPWORTHY_METRICS_TOKEN as bearer token: the process' figures and the SLOs of all namespaces. With a key:
    the SLOs of its namespace. Without either the process' figures, for this machine only."""
    services = services_of(request)
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if hmac.compare_digest(given.encode(), (services.settings.metrics_token or "").encode()) and given:
        return _exposed(services, await to_thread.run_sync(slo_gauges, services, None))
    from_here = services.settings.metrics_token is None and _is_from_here(request)
    if given.startswith(_KEY) or (from_here and services.authenticator.is_open):
        # Names of SLOs and runs are their namespace's own: no other's key sees them, and no token-less neighbour.
        actor = await services.authenticator.actor(request)
        own = await to_thread.run_sync(slo_gauges, services, actor.namespace)
        return _exposed(services if from_here else None, own)
    if services.settings.metrics_token is not None:
        raise TokenInvalid(
            "metrics need the bearer token of SHIPWORTHY_METRICS_TOKEN, or a key for its own SLOs"
        )
    if not from_here:
        raise TokenInvalid(
            "metrics are for this machine only; set SHIPWORTHY_METRICS_TOKEN to read them from afar, or send a key to "
            "read the SLOs of its namespace"
        )
    return _exposed(services, "")


def _is_from_here(request: Request) -> bool:
    return (
        request.client is not None
        and is_loopback(request.client.host)
        # Behind a proxy on this machine everybody comes from loopback.
        and "x-forwarded-for" not in request.headers
        and "forwarded" not in request.headers
    )


def _exposed(services: Services | None, gauges: str) -> Response:
    figures = b"" if services is None else generate_latest(services.registry)
    return Response(figures + gauges.encode(), media_type=CONTENT_TYPE_LATEST)
