"""Work over HTTP: workers claim it, say how far they are, and hand in what came of it."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from anyio import to_thread
from fastapi import APIRouter, Path, Request, Response
from sqlmodel import Session
from starlette.responses import JSONResponse

from api.asking import with_awaited
from api.auth import require_role
from api.cancelling import cancel
from api.completing import complete
from api.dependencies import CurrentActor
from api.pages import dump, json_response
from api.reading_route import reading_router
from api.recording import parse_json, read_fact
from api.routes.recording import documented
from api.routes.verifications import MAY_ASK
from api.schemas.work import Claim, Completion, Renewal, work_json
from api.services import Services, services_of
from api.waiting import Wait, wait_for
from models.actor import Actor, Role
from models.contracts.queries import get_baseline, get_contract
from models.errors import ContractMoved, ShipworthyError, Unavailable
from models.evaluations.inputs import resolve_inputs
from models.evaluations.work import work_request
from models.fields import Value
from models.kinds.registry import KINDS
from models.work.leases import (
    Claimed,
    Progress,
    claim_work,
    give_back,
    lease_digest,
    renew_work,
    set_request,
)
from models.work.queue import get_work, held, may_claim
from models.work.roots import note_roots, roots_to_note
from models.work.states import ENDED, LEASE_SECONDS, WorkKind
from models.work.verifications import require_latest

router = APIRouter(tags=["work"])
reading = reading_router("work")

V = TypeVar("V", bound=Value)
WorkId = Annotated[str, Path(max_length=64)]


@router.post(
    "/v1/work:claim",
    response_class=Response,
    openapi_extra=documented(Claim),
    responses={
        200: {"description": "Work for this worker alone, for as long as it renews the lease."},
        204: {"description": "Nothing waits."},
    },
    summary="Claim work",
)
async def claim(request: Request) -> Response:
    """The oldest work of these kinds whose data lies under one of these roots, with all that it needs. Work whose
    lease ended is taken over."""
    services, actor, wanted = await _told(request, Claim)
    await to_thread.run_sync(_note_roots, services, actor, wanted)
    found = await wait_for(request, actor, lambda: _claimed(services, actor, wanted), wanted.wait_seconds)
    return Response(status_code=204) if found is None else json_response(found)


@router.post(
    "/v1/work/{id}:renew",
    response_class=JSONResponse,
    openapi_extra=documented(Renewal),
    summary="Renew the lease and say how far it is",
)
async def renew(id: WorkId, request: Request) -> Response:
    """`cancelled` says to stop: nobody waits for the result."""
    services, actor, given = await _told(request, Renewal)
    cancelled = await to_thread.run_sync(_renewed, services, actor, id, given)
    return JSONResponse({"cancelled": cancelled, "lease_seconds": LEASE_SECONDS})


@router.post(
    "/v1/work/{id}:complete",
    response_class=JSONResponse,
    openapi_extra=documented(Completion),
    summary="Hand in the result, or say why there is none",
)
async def complete_work(id: WorkId, request: Request) -> Response:
    """A result becomes a record at the level of the worker's key. The same result again gives the first answer."""
    services, actor, given = await _told(request, Completion)
    return JSONResponse(await complete(services, actor, id, given))


@router.post(
    "/v1/work/{id}:cancel",
    response_class=JSONResponse,
    summary="Cancel the making of a baseline, or a verification, that has not ended",
)
async def cancel_work(id: WorkId, request: Request) -> Response:
    """A worker that is at it hears of it when it renews its lease. Checks have a call of their own."""
    may_cancel = {
        WorkKind.BASELINE: tuple(sorted(KINDS["baseline.published"].roles)),
        WorkKind.CHECKPOINT_VERIFICATION: MAY_ASK,
    }
    return await cancel(request, id, may_cancel)


@reading.get("/v1/work/{id}", response_class=Response, summary="How far work is and what came of it")
async def get_one_work(id: WorkId, request: Request, actor: CurrentActor, wait: Wait = 0) -> Response:
    """For a baseline `baseline` is its digest once the work is done. While it is queued `waits_for` names its root, and
    when a worker that reads it was last seen, null for never. With `wait` the answer comes when the work has ended, or
    after so many seconds."""
    services = services_of(request)

    def ended() -> dict[str, Any] | None:
        found = _work(services, actor, id)
        return found if found["state"] in ENDED else None

    found = await wait_for(request, actor, ended, wait)
    if found is None:
        found = await to_thread.run_sync(_work, services, actor, id)
        found = await to_thread.run_sync(with_awaited, services, actor, found)
    return JSONResponse(found)


async def _told(request: Request, model: type[V]) -> tuple[Services, Actor, V]:
    """A worker and what it says. Raises TokenMissing, TokenInvalid, RoleMissing, InvalidJson, InvalidInput."""
    services = services_of(request)
    actor = await services.authenticator.actor(request)
    require_role(actor, Role.WORKER)
    return services, actor, read_fact(parse_json(await request.body()), model)


def _note_roots(services: Services, actor: Actor, wanted: Claim) -> None:
    """That somebody verifies checkpoints under these roots: new ones are then queued without being asked for."""
    if WorkKind.CHECKPOINT_VERIFICATION not in wanted.kinds:
        return
    now = datetime.now(UTC)
    with services.database.read() as session:
        new = roots_to_note(session.connection(), actor.namespace, wanted.roots, now)
    if new:
        with services.database.connection() as connection:
            note_roots(connection, actor.namespace, new, now)


def _claimed(services: Services, actor: Actor, wanted: Claim) -> str | None:
    """The answer to a claim; each transaction is short, and the suite is read outside of them."""
    while True:
        now = datetime.now(UTC)
        with services.database.read() as session:
            if not _may_claim(session, actor, wanted, now):
                return None
        with services.database.connection() as connection:
            found = claim_work(
                connection, actor.namespace, wanted.kinds, wanted.roots, actor.key_id, now, wanted.lease
            )
        if found is None:
            return None
        try:
            return _answer(*_with_inputs(services, actor, found))
        except Unavailable as error:
            # Nothing is wrong with the work: whoever asks next gets it.
            with services.database.connection() as connection:
                give_back(connection, actor.namespace, found.id, found.lease, error.detail, True, now)
            raise
        except ShipworthyError as error:
            # What it needs is gone or was replaced: no worker can do it, and the next piece is looked at.
            with services.database.connection() as connection:
                give_back(connection, actor.namespace, found.id, found.lease, error.detail, False, now)


def _may_claim(session: Session, actor: Actor, wanted: Claim, now: datetime) -> bool:
    before = (
        () if wanted.lease is None else (held(actor.namespace, actor.key_id, lease_digest(wanted.lease)),)
    )
    return may_claim(session.connection(), actor.namespace, wanted.kinds, wanted.roots, now, *before)


def _answer(found: Claimed, inputs: str) -> str:
    """JSON text; request and inputs are passed through as they are stored."""
    members = {
        "id": json.dumps(found.id),
        "kind": json.dumps(found.kind),
        "lease": json.dumps(found.lease),
        "lease_seconds": json.dumps(LEASE_SECONDS),
        "attempt": json.dumps(found.attempt),
        "request": found.request,
        "inputs": inputs,
    }
    return "{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}"


def _with_inputs(services: Services, actor: Actor, found: Claimed) -> tuple[Claimed, str]:
    """Raises NotFound, ContractMoved, AttemptNotClosed, Conflict."""
    if found.kind == WorkKind.CHECKPOINT_VERIFICATION:
        with services.database.read() as session:
            require_latest(session, actor.namespace, json.loads(found.request))
    if found.kind == WorkKind.STATISTICS:
        return _with_evaluations(services, actor, found)
    return found, _inputs(services, actor, found) if found.kind == WorkKind.CONTRACT_CHECK else "{}"


def _with_evaluations(services: Services, actor: Actor, found: Claimed) -> tuple[Claimed, str]:
    """The evaluations that the statistics are made of, kept with the work: its result has to name them."""
    asked = json.loads(found.request)
    with services.database.read() as session:
        resolved = resolve_inputs(session, actor.namespace, asked["attempt"], asked["incumbent"])
    request = dump(work_request(asked["attempt"], asked["incumbent"], resolved.rests_on))
    with services.database.connection() as connection:
        set_request(connection, actor.namespace, found.id, found.lease, request)
    return replace(found, request=request), dump(resolved.inputs)


def _inputs(services: Services, actor: Actor, found: Claimed) -> str:
    """Raises NotFound, ContractMoved."""
    request = json.loads(found.request)
    contract = request["contract"]
    with services.database.read() as session:
        current = get_contract(session, actor.namespace, contract["name"])
        if current.version != contract["version"]:
            raise ContractMoved(
                f"contract {current.name} has version {current.version} by now, version {contract['version']} "
                "was asked for; ask for the check again"
            )
        baseline = "null"
        if request["baseline"] is not None:
            baseline = get_baseline(session, actor.namespace, request["baseline"]).content
    _, chunks = services.blobs.read(actor.namespace, contract["suite_digest"])
    suite = b"".join(chunks).decode()
    return f'{{"suite":{suite},"baseline":{baseline},"contract":{json.dumps(contract)}}}'


def _renewed(services: Services, actor: Actor, id: str, given: Renewal) -> bool:
    reported = given.progress
    progress = None if reported is None else Progress(reported.done, reported.total, reported.text)
    with services.database.connection() as connection:
        return renew_work(connection, actor.namespace, id, given.lease, progress, datetime.now(UTC))


def _work(services: Services, actor: Actor, id: str) -> dict[str, Any]:
    """Raises NotFound."""
    with services.database.read() as session:
        item = get_work(session.connection(), actor.namespace, id)
    shown = work_json(item, datetime.now(UTC)) | {"request": json.loads(item.request)}
    if item.kind == WorkKind.BASELINE:
        shown["baseline"] = item.result_digest
    return shown
