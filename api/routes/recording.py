"""Calls that append facts: each validates, makes canonical bytes, and answers after the commit."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, cast

import orjson
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from api.auth import require_role
from api.recording import Recorder, asked_key, parse_json, with_path
from api.schemas.runs import RunRequest
from api.services import Services, services_of
from models.actor import Actor
from models.errors import ShipworthyError
from models.kinds import facts, runs
from models.kinds.registry import KINDS
from models.ledger.drafts import Item, Stored
from models.patterns import IDEMPOTENCY_KEY_PATTERN

router = APIRouter(tags=["recording"])

_JSON: Final = "application/json"
_IDEMPOTENCY_KEY: Final[dict[str, Any]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "the same key with the same content gives the first answer, with other content 409",
    "schema": {"type": "string", "pattern": IDEMPOTENCY_KEY_PATTERN},
}
_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["record", "position", "created"],
    "properties": {
        "record": {"type": "string", "description": "digest of the record"},
        "position": {"type": "integer", "description": "place in the log"},
        "created": {"type": "boolean", "description": "false when the same content was stored earlier"},
        "run_id": {"type": ["string", "null"]},
        "records": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string"},
                    "record": {"type": "string"},
                    "position": {"type": "integer"},
                    "created": {"type": "boolean"},
                },
            },
        },
    },
}


def documented(model: type[BaseModel], without: str | None = None) -> dict[str, Any]:
    """The OpenAPI part of a route that parses its own body: FastAPI's reader takes NaN and duplicate keys.

    `without` is the field that the URL gives: the body may repeat it, so it stays known but is not required.
    api/openapi.py moves the definitions to where the references point.
    """
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schema["required"] = [name for name in schema.get("required", []) if name != without]
    return {"requestBody": {"required": True, "content": {_JSON: {"schema": schema}}}}


def recorded(model: type[BaseModel], without: str | None = None) -> dict[str, Any]:
    """The same for a call that appends a record and so takes an idempotency key."""
    return documented(model, without) | {"parameters": [_IDEMPOTENCY_KEY]}


def answer_of(stored: tuple[Stored, ...], run_id: str | None) -> dict[str, Any]:
    """What a caller is told of an item: its first record, and all of them when there are more."""
    first = stored[0]
    answer: dict[str, Any] = {
        "record": first.digest,
        "position": first.position,
        "created": any(each.created for each in stored),
    }
    if run_id is not None:
        answer["run_id"] = run_id
    if len(stored) > 1:
        answer["records"] = [
            {"kind": each.kind, "record": each.digest, "position": each.position, "created": each.created}
            for each in stored
        ]
    return answer


async def record(
    kind: str,
    request: Request,
    path: dict[str, str],
    *,
    examine: Callable[[Services, Actor, Item], None] | None = None,
) -> Response:
    """Appends one body of this kind; `path` holds fields that the URL gives (run id, digest). `examine` looks, in a
    thread, at what no database knows, and refuses by raising."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, *sorted(KINDS[kind].roles))
    data = await request.body()
    async with _places(request):
        body = with_path(parse_json(data), path)
        key = asked_key(request.headers)
        item = Recorder(services.ring.pepper).item(kind, actor, body, key)
        if examine is not None:
            await to_thread.run_sync(examine, services, actor, item)
        (outcome,) = await services.ledger.append_all([item])
    if isinstance(outcome, ShipworthyError):
        raise outcome
    answer = answer_of(outcome, item.drafts[0].run_id)
    return Response(orjson.dumps(answer), 201 if answer["created"] else 200, media_type=_JSON)


def _places(request: Request) -> asyncio.Semaphore:
    """Of the application: a body that was read into objects takes ten times its bytes until it is committed, and more
    of them than make up a commit would only wait."""
    return cast(asyncio.Semaphore, request.app.state.places)


Route = Callable[..., Coroutine[Any, Any, Response]]


def recorded_responses() -> dict[int | str, dict[str, Any]]:
    content = {_JSON: {"schema": _ANSWER}}
    return {
        201: {"description": "Recorded.", "content": content},
        200: {"description": "The same content was recorded before.", "content": content},
    }


def appends(
    router: APIRouter, path: str, summary: str, body: type[BaseModel], without: str | None = None
) -> Callable[[Route], Route]:
    """Decorates a call that appends a record: 201 with the answer, or 200 when the same was recorded before."""
    return router.post(
        path,
        status_code=201,
        response_class=Response,
        responses=recorded_responses(),
        openapi_extra=recorded(body, without),
        summary=summary,
    )


@appends(router, "/v1/runs", "Register a run, from its start or from start to end", RunRequest)
async def register_run(request: Request) -> Response:
    """One transaction for the run and every fact nested in it. A later post with the same run id may only add."""
    return await record("run.registered", request, {})


@appends(
    router,
    "/v1/runs/{run_id}/events",
    "Record a state, an attempt, a phase or a note",
    runs.RunEvent,
    without="run_id",
)
async def add_event(run_id: str, request: Request) -> Response:
    return await record("run.event", request, {"run_id": run_id})


@appends(
    router,
    "/v1/runs/{run_id}/checkpoints",
    "Record a saved checkpoint",
    facts.CheckpointSaved,
    without="run_id",
)
async def add_checkpoint(run_id: str, request: Request) -> Response:
    return await record("checkpoint.saved", request, {"run_id": run_id})


@appends(router, "/v1/runs/{run_id}/artifacts", "Record a product of a run", facts.Artifact, without="run_id")
async def add_artifact(run_id: str, request: Request) -> Response:
    return await record("artifact", request, {"run_id": run_id})


@appends(router, "/v1/snapshots", "Record a data snapshot", facts.Snapshot)
async def add_snapshot(request: Request) -> Response:
    return await record("snapshot", request, {})


@appends(
    router,
    "/v1/checkpoints/{digest}/verifications",
    "Record that a checkpoint reached a level, or failed to",
    facts.CheckpointVerified,
    without="checkpoint",
)
async def add_verification(digest: str, request: Request) -> Response:
    return await record("checkpoint.verified", request, {"checkpoint": digest})


@appends(
    router,
    "/v1/model-versions",
    "Bind a registry's name and version to an artifact digest and its run",
    facts.ModelVersion,
)
async def add_model_version(request: Request) -> Response:
    """Seals the lineage manifest of the version."""
    return await record("model_version", request, {})


@appends(router, "/v1/revocations", "Revoke or contest a record", facts.Revocation)
async def add_revocation(request: Request) -> Response:
    return await record("revocation", request, {})
