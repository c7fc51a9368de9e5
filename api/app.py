"""The one place where the application is put together."""

import asyncio
from importlib.metadata import version
from typing import Final

import structlog
from fastapi import APIRouter, FastAPI

from api import errors
from api.middleware import RequestGuard
from api.openapi import Application
from api.routes import (
    attempts,
    baselines,
    batch,
    blobs,
    break_glass,
    contract_checks,
    contracts,
    decision_proofs,
    decisions,
    demotions,
    evidence,
    gates,
    health,
    heartbeats,
    lineage,
    log,
    pages_contract_checks,
    pages_contracts,
    pages_decisions,
    pages_errors,
    pages_events,
    pages_home,
    pages_models,
    pages_registry,
    pages_runs,
    pages_session,
    pages_slos,
    pages_static,
    progress,
    promotions,
    reading_attempts,
    reading_catalog,
    reading_checkpoints,
    reading_contracts,
    reading_decisions,
    reading_gates,
    reading_promotions,
    reading_records,
    reading_runs,
    reading_slos,
    reconciliations,
    recording,
    replays,
    reviews,
    slo_exclusions,
    slo_report,
    slos,
    verifications,
    waivers,
    work,
)
from api.services import Services
from api.telemetry import CONFIGURATION, QuerySilence
from api.watching import Watch
from api.web.sign_in_tries import SignInTries

_log: structlog.typing.FilteringBoundLogger = structlog.get_logger("api.app")
PREPARED: Final = 24
"""Recording calls that are being prepared or committed at once; others wait with the bytes they were sent."""
DESCRIPTION = (
    "Immutable lineage of training runs and release gates. Every answer about what a model is made of rests on "
    "records that never change, in a log whose head is signed."
)

# What machines ask most is looked at first: a request is compared with one route after the other.
_ROUTERS: Final[tuple[APIRouter, ...]] = (
    health.router,
    recording.router,
    batch.router,
    progress.router,
    heartbeats.router,
    reading_decisions.router,
    promotions.router,
    reading_promotions.router,
    lineage.router,
    blobs.router,
    work.router,
    work.reading,
    reading_runs.router,
    reading_checkpoints.router,
    reading_catalog.router,
    reading_records.router,
    log.router,
    baselines.router,
    baselines.reading,
    contract_checks.router,
    contract_checks.reading,
    evidence.router,
    evidence.reading,
    reviews.router,
    reviews.reading,
    waivers.router,
    waivers.reading,
    verifications.router,
    contracts.router,
    reading_contracts.router,
    gates.router,
    reading_gates.router,
    decisions.router,
    decision_proofs.router,
    replays.router,
    break_glass.router,
    demotions.router,
    slo_report.router,
    slos.router,
    reading_slos.router,
    slo_exclusions.router,
    reconciliations.router,
    reconciliations.reading,
    attempts.router,
    reading_attempts.router,
    pages_session.router,
    pages_home.router,
    pages_events.router,
    pages_runs.router,
    pages_slos.router,
    pages_decisions.router,
    pages_models.router,
    pages_registry.router,
    pages_contract_checks.router,
    pages_contracts.router,
    pages_errors.router,
    pages_static.router,
)


def create_app(services: Services) -> FastAPI:
    """The application over opened services; whoever opened them closes them. Says in the log what concerns a start."""
    for concern in services.ledger.concerns:
        _log.error(concern.event, detail=concern.detail)
    app = Application(
        title="Shipworthy",
        version=version("shipworthy-server"),
        telemetry=CONFIGURATION,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        # A body is not sent twice: POST to a path with a slash too many is told so.
        redirect_slashes=False,
        # Flat: include_router() keeps a router of its own, and each such router is matched twice a request.
        routes=[route for router in _ROUTERS for route in router.routes],
    )
    app.state.services = services
    app.state.sign_in_tries = SignInTries()
    app.state.watch = Watch(services)
    app.state.places = asyncio.Semaphore(PREPARED)
    errors.install(app)
    app.add_middleware(RequestGuard, registry=services.registry)
    app.add_middleware(QuerySilence)
    return app
