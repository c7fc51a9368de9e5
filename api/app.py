"""The one place where the application is put together."""

from importlib.metadata import version

from fastapi import FastAPI

from api import errors
from api.middleware import RequestGuard
from api.openapi import Application
from api.routes import batch, blobs, health, lineage, log, progress, reading, recording
from api.services import Services

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
    errors.install(app)
    app.add_middleware(RequestGuard, registry=services.registry)
    return app
