"""Checks of contracts: asked for, waited for, cancelled, listed."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final, Literal

from anyio import to_thread
from fastapi import APIRouter, Path, Query, Request, Response
from sqlmodel import Session
from starlette.responses import JSONResponse

from api.asking import QUEUED, ask_for_work, with_awaited
from api.cancelling import cancel
from api.dependencies import CurrentActor
from api.marked_pages import marked_page
from api.pages import DEFAULT_LIMIT, PAGE, After, Limit, decode_cursor, dump, extended, page
from api.reading_route import reading_router
from api.routes.recording import recorded
from api.schemas.reading import marks_json
from api.schemas.work import CheckRequest, work_json
from api.services import Services, services_of
from api.waiting import Wait, wait_for
from models.actor import Actor, Role
from models.contracts.checks import get_check as read_check
from models.contracts.queries import CheckLine, CurrentContract, get_contract, list_results
from models.contracts.targets import find_target
from models.errors import ContractMoved, FieldProblem, InvalidInput
from models.fields import Digest, instant_text
from models.kinds.contracts import ContractName, Outcome
from models.lineage.marks import Mark
from models.lineage.run_queries import require_run
from models.work.queue import list_work
from models.work.states import ENDED, WorkKind
from shipworthy.formats.times import parse_instant

router = APIRouter(tags=["contract checks"])
reading = reading_router("contract checks")

MAY_ASK: Final = (Role.AUTHOR, Role.EVALUATOR, Role.RECORDER)
CheckId = Annotated[str, Path(max_length=71, description="id of the check, or digest of its record")]


@router.post(
    "/v1/contract-checks",
    status_code=202,
    response_class=JSONResponse,
    openapi_extra=recorded(CheckRequest),
    responses=QUEUED,
    summary="Ask for data to be checked against a contract",
)
async def ask_for_check(request: Request) -> Response:
    """A worker claims it; GET /v1/contract-checks/{id} shows how far it is and what came of it."""
    return await ask_for_work(request, WorkKind.CONTRACT_CHECK, MAY_ASK, CheckRequest, _prepared)


@router.post(
    "/v1/contract-checks/{id}:cancel",
    response_class=JSONResponse,
    summary="Cancel a check that has not ended",
)
async def cancel_check(id: CheckId, request: Request) -> Response:
    """A worker that is at it hears of it when it renews its lease."""
    return await cancel(request, id, {WorkKind.CONTRACT_CHECK: MAY_ASK})


@reading.get(
    "/v1/contract-checks", response_class=Response, responses=PAGE, summary="List checks, newest first"
)
def get_checks(
    request: Request,
    actor: CurrentActor,
    contract: Annotated[ContractName | None, Query(description="of this contract")] = None,
    snapshot: Annotated[Digest | None, Query(description="of data with this manifest digest")] = None,
    outcome: Annotated[Outcome | None, Query(description="with this outcome")] = None,
    state: Annotated[
        Literal["queued", "running", "failed", "cancelled", "dead"] | None,
        Query(description="checks without a result, by their state; goes with no other filter"),
    ] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """Results, without the single checks; with `state` the checks that have none."""
    if state is not None:
        if contract or snapshot or outcome:
            message = "goes with no other filter; leave it out to list results"
            raise InvalidInput(f"/query/state {message}", problems=[FieldProblem("/query/state", message)])
        return _without_result(request, actor, state, limit, after)
    scope = ["contract-checks", actor.namespace, contract, snapshot, outcome]
    return marked_page(
        request,
        actor,
        scope,
        after,
        limit,
        partial(list_results, contract=contract, snapshot=snapshot, outcome=outcome),
        _line,
    )


@reading.get("/v1/contract-checks/{id}", response_class=Response, summary="One check and its result")
async def get_check(id: CheckId, request: Request, actor: CurrentActor, wait: Wait = 0) -> Response:
    """`state` is queued, running, done, failed, cancelled or dead, `progress` how far the worker is; `result` is the
    body of the record once it is done. While it is queued `waits_for` names its root and when a worker that reads it
    was last seen, null for never. With `wait` the answer comes when the check has ended, or after so many
    seconds. A result that was made elsewhere is asked for by the digest of its record."""
    services = services_of(request)

    def ended() -> dict[str, Any] | None:
        found = _check(services, actor, id)
        return found if found["state"] in ENDED else None

    found = await wait_for(request, actor, ended, wait)
    if found is None:
        found = await to_thread.run_sync(_check, services, actor, id)
        found = await to_thread.run_sync(with_awaited, services, actor, found)
    return JSONResponse(found)


def _prepared(session: Session, namespace: str, wanted: CheckRequest) -> tuple[str, Mapping[str, Any]]:
    contract = get_contract(session, namespace, wanted.contract)
    for what, asked, current in (
        ("version", wanted.version, contract.version),
        ("baseline", wanted.baseline, contract.baseline),
    ):
        if asked is not None and asked != current:
            raise ContractMoved(
                f"contract {contract.name} has {what} {current} now, not {asked}; only its current version is "
                "checked: publish the one that you mean, or leave the field out"
            )
    if wanted.run_id is not None:
        require_run(session, namespace, wanted.run_id)
    target = find_target(
        session,
        namespace,
        snapshot=wanted.snapshot,
        root=wanted.root,
        path=wanted.path,
        transformation=wanted.transformation,
    )
    return target.root, {
        "contract": {
            "name": contract.name,
            "version": contract.version,
            "digest": contract.digest,
            "suite_digest": contract.suite_digest,
        },
        "object": _object(contract, wanted.object),
        "baseline": contract.baseline,
        "snapshot": target.snapshot,
        "root": target.root,
        "path": target.path,
        "as_of": instant_text(wanted.as_of or datetime.now(UTC)),
        "parameters": dict(wanted.parameters),
        "run_id": wanted.run_id,
        "transformation": wanted.transformation,
    }


def _object(contract: CurrentContract, wanted: str | None) -> str:
    names = [str(each["name"]) for each in contract.objects]
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names:
        return wanted
    listed = ", ".join(repr(name) for name in names[:20]) or "none"
    message = f"must be one of the contract's objects: {listed}"
    raise InvalidInput(f"/object {message}", problems=[FieldProblem("/object", message)])


def _check(services: Services, actor: Actor, id: str) -> dict[str, Any]:
    """Raises NotFound."""
    with services.database.read() as session:
        found = read_check(session, actor.namespace, id)
    result = found.result
    if found.work is None:
        shown: dict[str, Any] = {"id": id, "kind": WorkKind.CONTRACT_CHECK, "state": "done", "record": id}
    else:
        shown = work_json(found.work, datetime.now(UTC)) | {"request": json.loads(found.work.request)}
    return shown | {
        "result": None if result is None else result.body,
        "evidence_level": None if result is None else result.level,
        "position": None if result is None else result.position,
        "marks": [] if result is None else marks_json(result.marks),
    }


def _line(row: CheckLine, marks: list[Mark]) -> str:
    members = {
        "id": json.loads(row.document).get("check") or row.record,
        "position": row.position,
        "marks": marks_json(marks),
    }
    return extended(row.document, members)


def _without_result(request: Request, actor: Actor, state: str, limit: int, after: str | None) -> Response:
    scope = ["contract-checks", actor.namespace, state]
    key = decode_cursor(scope, after, str, str)
    start = None if key is None else (parse_instant(str(key[0])), str(key[1]))
    with services_of(request).database.read() as session:
        rows = list_work(session, actor.namespace, WorkKind.CONTRACT_CHECK, state, start, limit + 1)
    now = datetime.now(UTC)
    return page(
        scope,
        rows,
        limit,
        lambda row: (instant_text(row.created_at), row.id),
        lambda row: dump(work_json(row, now) | {"request": json.loads(row.request)}),
    )
