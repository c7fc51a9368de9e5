"""Cancelling work that somebody asked for and that has not ended."""

from collections.abc import Mapping
from datetime import UTC, datetime

from anyio import to_thread
from fastapi import Request
from starlette.responses import JSONResponse, Response

from api.auth import require_role
from api.schemas.work import work_json
from api.services import Services, services_of
from models.actor import Actor, Role
from models.errors import NotFound
from models.work.queue import WORK_NOT_FOUND, cancel_work, get_work
from models.work.states import WorkItem, WorkKind

MayCancel = Mapping[WorkKind, tuple[Role, ...]]
"""Which kinds of work a call cancels, and who may ask for each."""


async def cancel(request: Request, id: str, may_cancel: MayCancel) -> Response:
    """The work as it is then, for whoever may ask for such work. Raises NotFound, WorkEnded."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *dict.fromkeys(role for roles in may_cancel.values() for role in roles))
    item = await to_thread.run_sync(_cancelled, services, actor, id, may_cancel)
    return JSONResponse(work_json(item, datetime.now(UTC)))


def _cancelled(services: Services, actor: Actor, id: str, may_cancel: MayCancel) -> WorkItem:
    with services.database.connection() as connection:
        kind = WorkKind(get_work(connection, actor.namespace, id).kind)
        if kind not in may_cancel:
            raise NotFound(WORK_NOT_FOUND)
        require_role(actor, *may_cancel[kind])
        return cancel_work(connection, actor.namespace, id, kind, datetime.now(UTC))
