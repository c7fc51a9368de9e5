"""The end of work: a worker's result becomes a record, or its error decides whether it is tried again."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from anyio import to_thread

from api.check_results import require_checks_blob
from api.recording import read_fact
from api.schemas.work import Completion
from api.services import Services
from models.actor import Actor
from models.errors import Conflict, FieldProblem, InvalidInput, ShipworthyError, WorkLeaseLost
from models.evaluations.work import check_answers
from models.kinds.baselines import BaselineContent
from models.kinds.contracts import ContractChecked
from models.kinds.registry import KINDS
from models.kinds.statistics import Statistics
from models.kinds.verifications import VerificationResult
from models.ledger.drafts import Draft, Item, make_draft
from models.work.leases import check_held, give_back, lease_digest
from models.work.queue import get_work
from models.work.results import (
    baseline_body,
    check_answers_request,
    check_body,
    check_bytes,
    ended_with,
    fail_work,
    held_under_lock,
    is_done_with,
)
from models.work.states import WorkItem, WorkKind, WorkState
from models.work.verifications import verified_bodies
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import CanonicalizationError, canonicalize


async def complete(services: Services, actor: Actor, id: str, given: Completion) -> dict[str, Any]:
    """Raises NotFound, WorkLeaseLost, InvalidInput; ContractMoved or Conflict for a result that no longer fits, and the
    work has failed then."""
    if given.result is None:
        state = await to_thread.run_sync(_given_back, services, actor, id, given)
        return {"id": id, "state": state, "record": None}
    item = await to_thread.run_sync(_read, services, actor, id)
    # Off the event loop: a result of 1 MiB takes a second to bring into canonical form.
    digest = await to_thread.run_sync(_digest, given.result)
    if is_done_with(item, given.lease, digest):
        return _answer(item.id, item.record, item.kind, digest)
    check_held(item, given.lease)
    try:
        drafts = await to_thread.run_sync(_drafts, services, actor, item, given.lease, given.result, digest)
        await require_checks_blob(services, actor, drafts[-1].fact, "/result")
        written = Item(
            drafts,
            check=held_under_lock(item, given.lease, digest),
            statements=(ended_with(item, drafts[-1].digest, digest, datetime.now(UTC)),),
        )
        (outcome,) = await services.ledger.append_all([written])
        if isinstance(outcome, ShipworthyError):
            raise outcome
    except WorkLeaseLost:
        raise
    except Conflict as error:
        await to_thread.run_sync(_failed, services, item, given.lease, error.detail)
        raise
    return _answer(item.id, outcome[-1].digest, item.kind, digest)


def _drafts(
    services: Services, actor: Actor, item: WorkItem, lease: str, result: Mapping[str, Any], digest: str
) -> tuple[Draft, ...]:
    """The records that the result becomes, the one that the work names last. Raises as `_draft`."""
    if item.kind != WorkKind.CHECKPOINT_VERIFICATION:
        return (_draft(actor, item, lease, result, digest),)
    found = read_fact(result, VerificationResult)
    with services.database.read() as session:
        bodies = verified_bodies(session, item, found)
    kind = KINDS["checkpoint.verified"]
    return tuple(
        make_draft(
            kind,
            actor,
            body,
            read_fact(body, kind.body),
            # As below: nobody else can know it.
            idempotency_key=f"{lease_digest(lease)}/{body['level']}",
        )
        for body in bodies
    )


def _draft(actor: Actor, item: WorkItem, lease: str, result: Mapping[str, Any], digest: str) -> Draft:
    """The record's bytes. Raises InvalidInput, Conflict, RecordTooLarge."""
    # Only whoever holds the lease knows this key: nobody can record something under it beforehand.
    key = lease_digest(lease)
    if item.kind == WorkKind.CONTRACT_CHECK:
        body = check_body(item, result)
        checked = read_fact(body, ContractChecked)
        check_answers_request(item, checked)
        return make_draft(
            KINDS["contract.checked"], actor, body, checked, run_id=checked.run_id, idempotency_key=key
        )
    if item.kind == WorkKind.STATISTICS:
        kind = KINDS["statistics"]
        found = read_fact(result, Statistics)
        check_answers(item, found)
        return make_draft(kind, actor, result, found, idempotency_key=key)
    measured = read_fact(result, BaselineContent)
    check_bytes(item, measured.data.manifest)
    body = baseline_body(item, result, digest)
    kind = KINDS["baseline.published"]
    return make_draft(kind, actor, body, read_fact(body, kind.body), idempotency_key=key)


def _answer(id: str, record: str | None, kind: str, digest: str) -> dict[str, Any]:
    answer = {"id": id, "state": str(WorkState.DONE), "record": record}
    return answer | {"baseline": digest} if kind == WorkKind.BASELINE else answer


def _given_back(services: Services, actor: Actor, id: str, given: Completion) -> WorkState:
    assert given.error is not None
    reason = f"{given.error.code}: {given.error.message}"
    with services.database.connection() as connection:
        return give_back(
            connection, actor.namespace, id, given.lease, reason, given.error.retry, datetime.now(UTC)
        )


def _read(services: Services, actor: Actor, id: str) -> WorkItem:
    with services.database.read() as session:
        return get_work(session.connection(), actor.namespace, id)


def _failed(services: Services, item: WorkItem, lease: str, reason: str) -> None:
    with services.database.connection() as connection:
        fail_work(connection, item, lease, reason, datetime.now(UTC))


def _digest(result: Mapping[str, Any]) -> str:
    try:
        return sha256_digest(canonicalize(dict(result)))
    except CanonicalizationError as error:
        problem = FieldProblem(f"/result{error.path}", error.reason)
        raise InvalidInput(str(error), problems=[problem]) from error
