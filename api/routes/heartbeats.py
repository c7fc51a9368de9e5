"""`POST /v1/sources/{name}/heartbeats`: a source of evidence lives. Not a record: a row for each time without a gap."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Path, Request
from pydantic import Field

from api.auth import require_role
from api.recording import parse_json, read_fact
from api.routes.recording import documented
from api.services import services_of
from models.actor import Role
from models.errors import FieldProblem, InvalidInput
from models.fields import Value, instant_text
from models.patterns import IDENTIFIER_PATTERN
from models.slo.sources import is_source_name, save_heartbeat

router = APIRouter(tags=["slos"])


class SourceHeartbeat(Value):
    """The next one will come within the interval."""

    interval_seconds: Annotated[int, Field(ge=5, le=86_400)]


@router.post(
    "/v1/sources/{name:path}/heartbeats",
    openapi_extra=documented(SourceHeartbeat),
    summary="Say that a source of evidence lives",
)
async def report_heartbeat(
    name: Annotated[str, Path(max_length=256, json_schema_extra={"pattern": IDENTIFIER_PATTERN})],
    request: Request,
) -> dict[str, Any]:
    """While a source is proven alive, a window without evidence was missed; else nobody knows, and the definition's
    `onMissing` decides. The time is the service's own: nothing can be proven afterwards."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.RECORDER)
    beat = read_fact(parse_json(await request.body()), SourceHeartbeat)
    if not is_source_name(name):
        message = (
            "is no name of a source: letters, digits and . _ / : @ -, at most 256, a letter or digit first"
        )
        raise InvalidInput(f"/name {message}", problems=[FieldProblem("/name", message)])
    now = datetime.now(UTC)

    def save() -> None:
        with services.database.connection() as connection:
            save_heartbeat(connection, actor.namespace, name, beat.interval_seconds, now)

    await to_thread.run_sync(save)
    until = now + timedelta(seconds=beat.interval_seconds)
    return {"source": name, "received_at": instant_text(now), "alive_until": instant_text(until)}
