"""`POST /v1/records:batch`: many records of any kinds, one JSON object a line, an answer for each line."""

import asyncio
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Request, Response
from pydantic import Field

from api.auth import require_role
from api.check_results import require_checks_blob
from api.errors import STATUS
from api.recording import Recorder, idempotency_key, parse_json, read_fact
from api.routes.recording import answer_of
from api.services import services_of
from models.actor import Actor, Role
from models.errors import (
    BodyTooLarge,
    FieldProblem,
    IdempotencyKeyReused,
    InvalidInput,
    RoleMissing,
    ShipworthyError,
)
from models.fields import Value
from models.kinds.registry import KINDS
from models.ledger.drafts import Item

router = APIRouter(tags=["recording"])

MAX_LINE_BYTES: Final = 256 * 1024
MAX_LINES: Final = 20_000
"""Refused lines are answered too: 16 MiB of lines with one character each would be answered with 1 GB."""
CHUNK_ITEMS: Final = 128
"""Lines handed to the ledger at once: other writers get their turn between chunks, and what is prepared but not yet
stored stays small (500 runs took 60 MB)."""
TURN_LINES: Final = 16
"""Lines prepared before other requests get their turn: some 20 ms of one processor."""


class BatchLine(Value):
    """One line: the kind of record, its body as the kind's own call takes it, and an idempotency key."""

    kind: Annotated[str, Field(max_length=64)]
    body: dict[str, Any]
    key: Annotated[str, Field(max_length=255)] | None = None


@router.post(
    "/v1/records:batch",
    response_class=Response,
    summary="Append many records at once",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/x-ndjson": {
                    "schema": {"type": "string", "description": "one JSON object {kind, body, key?} a line"}
                }
            },
        }
    },
    responses={
        200: {
            "description": "An answer for each line, in order; a bad line never harms its neighbours.",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["items"],
                        "properties": {"items": {"type": "array", "items": {"type": "object"}}},
                    }
                }
            },
        }
    },
)
async def append_batch(request: Request) -> Response:
    """Lines are appended in their order, so that a line may rest on an earlier one. Each line is stored whole or
    not at all; its answer carries the status that a call of its own would have had."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.RECORDER, Role.EVALUATOR, Role.WORKER, Role.AUTHOR)
    recorder = Recorder(services.ring.pepper)
    answers: list[dict[str, Any]] = []
    chunk: list[tuple[int, Item]] = []

    async def flush() -> None:
        outcomes = await services.ledger.append_all([item for _, item in chunk])
        for (number, item), outcome in zip(chunk, outcomes, strict=True):
            if isinstance(outcome, ShipworthyError):
                answers.append(_refusal(number, outcome))
            else:
                answer = answer_of(outcome, item.drafts[0].run_id)
                answers.append({"line": number, "status": 201 if answer["created"] else 200, **answer})
        chunk.clear()

    lines = _lines(await request.body())
    for start in range(0, len(lines), CHUNK_ITEMS):
        for place, (number, line) in enumerate(lines[start : start + CHUNK_ITEMS]):
            if place % TURN_LINES == 0:
                await asyncio.sleep(0)
            try:
                item = _item(recorder, actor, line)
                await require_checks_blob(services, actor, item.drafts[0].fact, "/body")
                chunk.append((number, item))
            except ShipworthyError as error:
                answers.append(_refusal(number, error))
        await flush()
    answers.sort(key=lambda answer: int(answer["line"]))
    return Response(orjson.dumps({"items": answers}), media_type="application/json")


def _lines(body: bytes) -> list[tuple[int, bytes]]:
    """Lines that hold something, counted from 1 as an editor counts them. Raises BodyTooLarge for too many."""
    newlines = body.count(b"\n")
    if newlines > MAX_LINES:
        raise BodyTooLarge(
            f"the batch has {newlines:,} lines, the limit is {MAX_LINES:,}; send it in smaller parts"
        )
    return [(number, line) for number, line in enumerate(body.split(b"\n"), start=1) if line.strip()]


def _item(recorder: Recorder, actor: Actor, line: bytes) -> Item:
    if len(line) > MAX_LINE_BYTES:
        raise BodyTooLarge(f"the line has {len(line)} bytes, the limit is {MAX_LINE_BYTES}")
    given = read_fact(parse_json(line, wrappers=1), BatchLine)
    kind = KINDS.get(given.kind)
    if kind is None:
        known = ", ".join(sorted(name for name, each in KINDS.items() if each.roles and not each.own_call))
        raise InvalidInput(
            "there is no such kind of record", problems=[FieldProblem("/kind", f"must be one of {known}")]
        )
    if not kind.roles:
        raise RoleMissing(f"{kind.name} records are made by the service alone")
    if kind.own_call is not None:
        raise InvalidInput(
            f"{kind.name} records come from {kind.own_call} alone",
            problems=[FieldProblem("/kind", f"comes from {kind.own_call} alone")],
        )
    require_role(actor, *sorted(kind.roles))
    if kind.name == "contract.checked" and given.body.get("check") is not None:
        # Else anybody's own report could pass for the result of a check that a worker is still at.
        message = "names work, whose result is handed in with POST /v1/work/{id}:complete; leave it out"
        raise InvalidInput(f"/body/check {message}", problems=[FieldProblem("/body/check", message)])
    if kind.name == "evaluation.completed" and given.body.get("attempt") is not None:
        message = "names an attempt, whose results come with POST /v1/evaluations alone"
        raise InvalidInput(f"/body/attempt {message}", problems=[FieldProblem("/body/attempt", message)])
    return recorder.item(given.kind, actor, given.body, idempotency_key(given.key))


def _refusal(number: int, error: ShipworthyError) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "line": number,
        "status": STATUS[type(error)],
        "code": error.code,
        "detail": error.detail,
    }
    if isinstance(error, IdempotencyKeyReused) and error.record is not None:
        # Who sends a journal from a copy of it goes on where that record ends.
        answer["record"] = error.record
    if error.problems:
        answer["errors"] = [{"field": each.field, "message": each.message} for each in error.problems]
    return answer
