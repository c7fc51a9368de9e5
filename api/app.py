"""The one place where the application is put together."""

from importlib.metadata import version

from fastapi import FastAPI

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
    evidence,
    gates,
    health,
    lineage,
    log,
    pages_contract_checks,
    pages_contracts,
    pages_decisions,
    pages_home,
    pages_models,
    pages_session,
    pages_static,
    progress,
    reading,
    reading_attempts,
    reading_contracts,
    reading_decisions,
    reading_gates,
    recording,
    replays,
    reviews,
    waivers,
    work,
)
from api.services import Services
from api.web.sign_in_tries import SignInTries

DESCRIPTION = (
    "Immutable lineage of training runs and release gates. Every answer about what a model is made of rests on "
    "records that never change, in a log whose head is signed."
)


def create_app(services: Services) -> FastAPI:
    """The application over opened services; whoever opened them closes them."""
    app = Application(
        title="Shipworthy",
        version=version("shipworthy-server"),
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        # A body is not sent twice: POST to a path with a slash too many is told so.
        redirect_slashes=False,
    )
    app.state.services = services
    for module in (health, recording, progress, batch, lineage, reading, log, blobs):
        app.include_router(module.router)
    for part in (baselines, contract_checks, evidence, reviews, waivers, work):
        app.include_router(part.router)
        app.include_router(part.reading)
    app.include_router(contracts.router)
    app.include_router(reading_contracts.router)
    for gate_part in (
        gates,
        reading_gates,
        decisions,
        reading_decisions,
        decision_proofs,
        replays,
        break_glass,
    ):
        app.include_router(gate_part.router)
    app.include_router(attempts.router)
    app.include_router(reading_attempts.router)
    app.state.sign_in_tries = SignInTries()
    for pages in (
        pages_session,
        pages_home,
        pages_decisions,
        pages_models,
        pages_contract_checks,
        pages_contracts,
        pages_static,
    ):
        app.include_router(pages.router)
    errors.install(app)
    app.add_middleware(RequestGuard, registry=services.registry)
    return app
