"""`POST /v1/runs/{run_id}/progress`: a sign of life and the step. Not a record: one row per run and process."""

from datetime import UTC, datetime
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request

from api.auth import require_role
from api.recording import parse_json, read_fact
from api.routes.recording import documented
from api.services import services_of
from models.actor import Role
from models.fields import Count, Label, Value, instant_text
from models.lineage.progress import save_progress

router = APIRouter(tags=["recording"])


class Progress(Value):
    """How far a process is; each call replaces what it said before."""

    process: Label = "main"
    step: Count | None = None
    phase: Label | None = None


@router.post(
    "/v1/runs/{run_id}/progress",
    openapi_extra=documented(Progress),
    summary="Say that a run lives, and at which step",
)
async def report_progress(run_id: str, request: Request) -> dict[str, Any]:
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.RECORDER)
    progress = read_fact(parse_json(await request.body()), Progress)
    now = datetime.now(UTC)

    def save() -> None:
        with services.database.connection() as connection:
            save_progress(
                connection, actor.namespace, run_id, progress.process, progress.step, progress.phase, now
            )

    await to_thread.run_sync(save)
    return {"run_id": run_id, "received_at": instant_text(now)}
