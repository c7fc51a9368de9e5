"""The stream by which the overview learns that it has something new to show."""

from typing import cast

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.watching import EventStream, Watch
from api.web.viewers import CurrentViewer

router = APIRouter(include_in_schema=False)


@router.get("/events")
async def stream_events(request: Request, viewer: CurrentViewer) -> Response:
    """Server-sent events: `version` names what the overview says, `last` when the log took its last record."""
    return EventStream(cast(Watch, request.app.state.watch), viewer)
