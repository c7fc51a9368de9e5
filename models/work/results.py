"""From a worker's result to a record: what must agree with what was asked for, and the row that ends with it.

The lease is looked at again under the log lock, in the transaction that appends the record: a worker that was
overtaken can't leave a result behind.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Executable, update
from sqlmodel import col

from models.errors import Conflict, FieldProblem, InvalidInput
from models.kinds.contracts import ContractChecked
from models.ledger.workspace import Workspace
from models.work.leases import check_held, give_back, lease_digest
from models.work.queue import locked
from models.work.states import WorkItem, WorkState
from models.work.tables import Work
from shipworthy.formats.times import parse_instant

_ASKED: Final = ("object", "baseline", "parameters", "run_id", "transformation")


def check_body(item: WorkItem, result: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the contract.checked record: the result, and what only the request knows."""
    asked = json.loads(item.request)
    added = {name: asked[name] for name in ("run_id", "transformation") if asked[name] is not None}
    return {**result, **added}


def baseline_body(item: WorkItem, result: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """The body of the baseline.published record; `digest` is that of the result as RFC 8785 JSON."""
    asked = json.loads(item.request)
    return {
        "digest": digest,
        "baseline": dict(result),
        "root": asked["root"],
        "path": asked["path"],
        "requested_by": item.requested_by,
    }


def check_answers_request(item: WorkItem, fact: ContractChecked) -> None:
    """Raises InvalidInput when a result is not about what was asked, Conflict when the bytes are other ones."""
    asked = json.loads(item.request)
    problems = []
    if fact.check != item.id:
        problems.append(FieldProblem("/result/check", "must be the id of the work"))
    if fact.contract.model_dump() != asked["contract"]:
        problems.append(FieldProblem("/result/contract", "must be the one that was claimed"))
    for name in _ASKED:
        if getattr(fact, name) != asked[name]:
            problems.append(FieldProblem(f"/result/{name}", "must be the one of the request"))
    if fact.as_of != parse_instant(asked["as_of"]):
        problems.append(FieldProblem("/result/as_of", "must be the one of the request"))
    if (fact.data.root, fact.data.path) != (asked["root"], asked["path"]):
        problems.append(FieldProblem("/result/data", "must have root and path of the request"))
    if problems:
        raise InvalidInput(f"{problems[0].field} {problems[0].message}", problems=problems)
    check_bytes(item, fact.data.manifest)


def check_bytes(item: WorkItem, manifest: str) -> None:
    """Raises Conflict when a snapshot was asked for and what lies at its place are other bytes."""
    wanted = json.loads(item.request)["snapshot"]
    if wanted is not None and manifest != wanted:
        raise Conflict(
            f"the data at this place has the manifest digest {manifest} by now, the snapshot is {wanted}: what "
            "was recorded there is gone or was overwritten"
        )


def held_under_lock(item: WorkItem, lease: str, result_digest: str) -> Callable[[Workspace], None]:
    """The check to make in the transaction that appends the record. Raises NotFound, WorkLeaseLost."""

    def check(workspace: Workspace) -> None:
        found = locked(workspace.connection, item.namespace, item.id)
        # A worker that got no answer sends its result again, maybe while the first one is being written.
        if not is_done_with(found, lease, result_digest):
            check_held(found, lease)

    return check


def is_done_with(item: WorkItem, lease: str, result_digest: str) -> bool:
    """Whether the work was ended under this lease by this very result."""
    ended = (item.state, item.lease, item.result_digest)
    return ended == (WorkState.DONE, lease_digest(lease), result_digest)


def ended_with(item: WorkItem, record: str, result_digest: str, now: datetime) -> Executable:
    """The statement that ends the work in the same transaction."""
    return (
        update(Work)
        .where(col(Work.namespace) == item.namespace, col(Work.id) == item.id)
        .values(
            state=str(WorkState.DONE),
            record=record,
            result_digest=result_digest,
            reason=None,
            finished_at=now,
        )
    )


def fail_work(connection: Connection, item: WorkItem, lease: str, reason: str, now: datetime) -> None:
    """A result that can't be taken ends the work: trying again would give the same. Not when the lease is lost."""
    found = locked(connection, item.namespace, item.id)
    if found.state == WorkState.RUNNING and found.lease == item.lease:
        give_back(connection, item.namespace, item.id, lease, reason, False, now)
