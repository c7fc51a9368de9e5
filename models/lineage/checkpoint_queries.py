"""Reading checkpoints: who saved one, who looked at it, and what follows for its level."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exists, func, not_, select
from sqlmodel import Session, col

from models.errors import NotFound
from models.kinds.facts import CheckpointLevel
from models.lineage.checkpoint_level import Verdict
from models.lineage.queries import Document
from models.lineage.tables import Checkpoint, CheckpointVerification, Revocation
from shipworthy.formats.times import parse_instant


@dataclass(frozen=True, slots=True)
class Saved:
    """One run's record of saving the checkpoint, and the verdict that its claim amounts to."""

    fact: Document
    claim: Verdict


CHECKPOINT_NOT_FOUND = (
    "no checkpoint with this digest in this namespace; "
    "list those of a run with GET /v1/runs/{run_id}/checkpoints"
)


def get_savers(session: Session, namespace: str, digest: str, limit: int) -> list[Saved]:
    """The runs that saved a checkpoint, the latest record first. Raises NotFound when there is none."""
    statement = (
        select(
            col(Checkpoint.position),
            col(Checkpoint.document),
            col(Checkpoint.level),
            col(Checkpoint.trained_until),
        )
        .where(col(Checkpoint.namespace) == namespace, col(Checkpoint.digest) == digest)
        .order_by(col(Checkpoint.position).desc())
        .limit(limit)
    )
    saved = [_saved(row) for row in session.connection().execute(statement)]
    if not saved:
        raise NotFound(CHECKPOINT_NOT_FOUND)
    return saved


def list_saved(session: Session, namespace: str, run_id: str, limit: int) -> list[Saved]:
    """What a run saved, the furthest step first."""
    statement = (
        select(
            col(Checkpoint.position),
            col(Checkpoint.document),
            col(Checkpoint.level),
            col(Checkpoint.trained_until),
        )
        .where(col(Checkpoint.namespace) == namespace, col(Checkpoint.run_id) == run_id)
        .order_by(col(Checkpoint.step).desc(), col(Checkpoint.position).desc())
        .limit(limit)
    )
    return [_saved(row) for row in session.connection().execute(statement)]


def _saved(row: Any) -> Saved:  # noqa: ANN401 - a row of the statement above
    document = json.loads(row.document)
    completed = document.get("save_completed_at") or document.get("save_started_at")
    # Without a time of saving the training-state time stands in: earlier, so that a later check overrules it.
    when = row.trained_until if completed is None else parse_instant(completed)
    claim = Verdict(CheckpointLevel(row.level), True, when, document["evidence_level"])
    return Saved(Document(row.position, row.document), claim)


def latest_verifications(session: Session, namespace: str, digest: str) -> list[Verdict]:
    """The latest verdict for each level, outcome and evidence level: all that the effective level depends on.
    What was revoked does not count.

    At most 30 rows (5 levels × 2 outcomes × 3 evidence levels), however often a checkpoint was checked.
    """
    return verifications_of(session, namespace, [digest]).get(digest, [])


def verifications_of(
    session: Session, namespace: str, digests: Collection[str]
) -> Mapping[str, list[Verdict]]:
    """The same for several checkpoints, by digest."""
    statement = (
        select(
            col(CheckpointVerification.checkpoint),
            col(CheckpointVerification.level),
            col(CheckpointVerification.outcome),
            func.max(col(CheckpointVerification.checked_at)),
            col(CheckpointVerification.evidence_level),
        )
        .where(
            col(CheckpointVerification.namespace) == namespace,
            col(CheckpointVerification.checkpoint).in_(list(digests)),
            not_(
                exists().where(
                    col(Revocation.namespace) == namespace,
                    col(Revocation.revoked) == col(CheckpointVerification.record),
                    col(Revocation.effect) == "revoked",
                )
            ),
        )
        .group_by(
            col(CheckpointVerification.checkpoint),
            col(CheckpointVerification.level),
            col(CheckpointVerification.outcome),
            col(CheckpointVerification.evidence_level),
        )
        .limit(30 * len(digests))
    )
    found: dict[str, list[Verdict]] = defaultdict(list)
    for checkpoint, level, outcome, checked_at, evidence in (
        session.connection().execute(statement) if digests else ()
    ):
        found[checkpoint].append(Verdict(CheckpointLevel(level), outcome == "passed", checked_at, evidence))
    return found


def list_verifications(
    session: Session, namespace: str, digest: str, after: int | None, limit: int
) -> list[Document]:
    """Verifications recorded before log position `after`, newest first."""
    statement = (
        select(col(CheckpointVerification.position), col(CheckpointVerification.document))
        .where(
            col(CheckpointVerification.namespace) == namespace,
            col(CheckpointVerification.checkpoint) == digest,
        )
        .order_by(col(CheckpointVerification.position).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(col(CheckpointVerification.position) < after)
    return [Document(*row) for row in session.connection().execute(statement)]
