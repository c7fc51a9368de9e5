"""Verification of a checkpoint as work: what is asked of a worker, and the bodies of the records that its result makes.

A run that lives has its checkpoints verified without being asked, when a worker that reads their root was seen lately.
"""

import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import select
from sqlmodel import Session, col

from models.errors import Conflict, FieldProblem, InvalidInput, NotFound
from models.fields import instant_text
from models.kinds.facts import CheckpointSaved
from models.kinds.verifications import VerificationResult
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage.checkpoint_queries import CHECKPOINT_NOT_FOUND
from models.lineage.run_rows import view_of
from models.lineage.run_state import OPEN_STATES
from models.lineage.run_view import reported_state
from models.lineage.tables import Checkpoint
from models.work.queue import work_row
from models.work.states import WorkItem, WorkKind
from models.work.tables import Work, WorkerRoot

SEEN_LATELY: Final = timedelta(days=1)
"""Beyond it nobody would claim the work, and it would lie there."""
METHOD: Final = (
    "by a worker: every byte hashed before and after, loaded without running code of the checkpoint"
)


def verification_request(checkpoint: str, root: str, path: str, run_id: str | None) -> dict[str, Any]:
    """`asked` says that somebody wants to know, so that a checkpoint that is gone is an answer. Without, `run_id` is
    that of the run whose checkpoint it is, and one that is gone may have made room for the next."""
    return {"checkpoint": checkpoint, "root": root, "path": path, "asked": run_id is None, "run_id": run_id}


def find_location(session: Session, namespace: str, digest: str) -> tuple[str, str]:
    """Root and path that were recorded last. Raises NotFound, InvalidInput when nobody recorded any."""
    statement = (
        select(col(Checkpoint.document))
        .where(col(Checkpoint.digest) == digest, col(Checkpoint.namespace) == namespace)
        .order_by(col(Checkpoint.position).desc())
        .limit(100)
    )
    documents = session.connection().execute(statement).scalars().all()
    if not documents:
        raise NotFound(CHECKPOINT_NOT_FOUND)
    for document in documents:
        location = json.loads(document).get("location")
        if location is not None:
            return location["root"], location["path"]
    problem = FieldProblem(
        "/location", "was not recorded with the checkpoint; say where it lies by `root` and `path`"
    )
    raise InvalidInput(f"{problem.field} {problem.message}", problems=[problem])


def load_roots(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    facts = [(draft.namespace, cast(CheckpointSaved, draft.fact)) for draft in drafts]
    wanted = [(namespace, fact.location.root) for namespace, fact in facts if fact.location is not None]
    workspace.load(WorkerRoot, "root", wanted)


def queue_verification(workspace: Workspace, entry: Entry) -> None:
    """The work that a new checkpoint sets off, in the same transaction."""
    fact = cast(CheckpointSaved, entry.fact)
    if fact.location is None or entry.run_id is None:
        return
    known = workspace.get(WorkerRoot, entry.namespace, fact.location.root)
    if known is None or entry.recorded_at - known["seen_at"] > SEEN_LATELY:
        return
    view = view_of(workspace, entry.namespace, entry.run_id)
    if view is None or reported_state(view) not in OPEN_STATES:
        return
    request = verification_request(fact.digest, fact.location.root, fact.location.path, entry.run_id)
    workspace.add(
        Work,
        work_row(
            id=str(uuid.uuid4()),
            namespace=entry.namespace,
            kind=WorkKind.CHECKPOINT_VERIFICATION,
            root=fact.location.root,
            request=json.dumps(request, separators=(",", ":")),
            content=entry.content,
            # It has spaces, which no client's key can have.
            key=f"verification {entry.run_id} {fact.digest}",
            owner=entry.owner,
            now=entry.recorded_at,
        ),
        new=True,
    )


def require_latest(session: Session, namespace: str, request: Mapping[str, Any]) -> None:
    """Conflict for a checkpoint that nobody asked for and whose run has a newer one at the same root: a worker that
    falls behind looks at what counts."""
    if request["asked"]:
        return
    statement = (
        select(col(Checkpoint.digest), col(Checkpoint.document))
        .where(col(Checkpoint.run_id) == request["run_id"], col(Checkpoint.namespace) == namespace)
        .order_by(col(Checkpoint.position).desc())
        .limit(1)
    )
    newest = session.connection().execute(statement).first()
    if newest is None or newest.digest == request["checkpoint"]:
        return
    location = json.loads(newest.document).get("location")
    if location is not None and location["root"] == request["root"]:
        raise Conflict(
            f"run {request['run_id']} saved the checkpoint {newest.digest} meanwhile, which is verified instead; "
            "ask for this one if it is wanted"
        )


def verified_bodies(session: Session, item: WorkItem, found: VerificationResult) -> list[dict[str, Any]]:
    """Bodies of the records, the weakest level first. Raises InvalidInput when the result is not about what was asked,
    Conflict when a checkpoint that was recorded too took the place of this one."""
    asked = json.loads(item.request)
    problems = [
        FieldProblem(f"/result/{name}", "must be that of the work that was claimed")
        for name in ("checkpoint", "root", "path")
        if getattr(found, name) != asked[name]
    ]
    if problems:
        raise InvalidInput(f"{problems[0].field} {problems[0].message}", problems=problems)
    if found.manifest is None and not asked["asked"]:
        raise Conflict(
            "the checkpoint is gone from its place, and nobody asked for it; nothing follows from that"
        )
    if found.manifest not in (None, found.checkpoint) and _is_checkpoint(
        session, item.namespace, found.manifest
    ):
        raise Conflict(
            f"at {found.path} below root {found.root} lies the checkpoint {found.manifest} by now: it was saved over "
            "this one, of which nothing is known; save each checkpoint to a place of its own"
        )
    return [
        {
            "checkpoint": found.checkpoint,
            "level": each.level,
            "outcome": each.outcome,
            "checked_at": instant_text(found.checked_at),
            "method": METHOD,
            "detail": each.detail,
        }
        for each in found.outcomes
    ]


def _is_checkpoint(session: Session, namespace: str, digest: str | None) -> bool:
    statement = select(col(Checkpoint.digest)).where(
        col(Checkpoint.digest) == digest, col(Checkpoint.namespace) == namespace
    )
    return session.connection().execute(statement.limit(1)).first() is not None
