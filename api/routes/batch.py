"""`POST /v1/records:batch`: many records of any kinds, one JSON object a line, an answer for each line."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request, Response
from pydantic import Field

from api.auth import require_role
from api.recording import Recorder, idempotency_key, parse_json, read_fact
from api.routes.recording import answer_of
from api.errors import STATUS
from api.services import services_of
from models.actor import Actor, Role
from models.errors import BodyTooLarge, FieldProblem, InvalidInput, RoleMissing, ShipworthyError
from models.fields import Value
from models.kinds.registry import KINDS
from models.ledger.drafts import Item

router = APIRouter(tags=["recording"])

MAX_LINE_BYTES: Final = 256 * 1024
CHUNK_ITEMS: Final = 500
"""Lines handed to the ledger at once: other writers get their turn between chunks."""


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

    for number, line in _lines(await request.body()):
        try:
            chunk.append((number, _item(recorder, actor, line)))
        except ShipworthyError as error:
            answers.append(_refusal(number, error))
        if len(chunk) >= CHUNK_ITEMS:
            await flush()
    await flush()
    answers.sort(key=lambda answer: int(answer["line"]))
    return Response(json.dumps({"items": answers}), media_type="application/json")


def _lines(body: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that hold something, counted from 1 as an editor counts them."""
    for number, line in enumerate(body.split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _item(recorder: Recorder, actor: Actor, line: bytes) -> Item:
    if len(line) > MAX_LINE_BYTES:
        raise BodyTooLarge(f"the line has {len(line)} bytes, the limit is {MAX_LINE_BYTES}")
    given = read_fact(parse_json(line), BatchLine)
    kind = KINDS.get(given.kind)
    if kind is None:
        known = ", ".join(sorted(name for name, known in KINDS.items() if known.roles))
        raise InvalidInput(
            "there is no such kind of record", problems=[FieldProblem("/kind", f"must be one of {known}")]
        )
    if not kind.roles:
        raise RoleMissing(f"{kind.name} records are made by the service alone")
    require_role(actor, *sorted(kind.roles))
    return recorder.item(given.kind, actor, given.body, idempotency_key(given.key))


def _refusal(number: int, error: ShipworthyError) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "line": number,
        "status": STATUS[type(error)],
        "code": error.code,
        "detail": error.detail,
    }
    if error.problems:
        answer["errors"] = [{"field": each.field, "message": each.message} for each in error.problems]
    return answer
