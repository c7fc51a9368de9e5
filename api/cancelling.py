"""Cancelling work that somebody asked for and that has not ended."""

from datetime import UTC, datetime

from anyio import to_thread
from fastapi import Request
from starlette.responses import JSONResponse, Response

from api.auth import require_role
from api.schemas.work import work_json
from api.services import Services, services_of
from models.actor import Actor, Role
from models.work.queue import cancel_work
from models.work.states import WorkItem, WorkKind


async def cancel(request: Request, id: str, kind: WorkKind, roles: tuple[Role, ...]) -> Response:
    """The work as it is then, for whoever may ask for such work. Raises NotFound, WorkEnded."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *roles)
    item = await to_thread.run_sync(_cancelled, services, actor, id, kind)
    return JSONResponse(work_json(item, datetime.now(UTC)))


def _cancelled(services: Services, actor: Actor, id: str, kind: WorkKind) -> WorkItem:
    with services.database.connection() as connection:
        return cancel_work(connection, actor.namespace, id, kind, datetime.now(UTC))
