"""Whether anything that a decision rests on changed between gathering its facts and the log's taking it.

Asked under the log lock, of the database and of what the same batch of writes put before the decision: what is
decided on is what stands in the log at that moment, however long gathering took.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from models.bulk import select_among, sql_table
from models.columns import Table
from models.contracts.tables import ContractCheck
from models.errors import DecisionMoved
from models.evaluations.tables import AttemptExtension, EvaluationAttempt, Evidence, Statistic
from models.gates.tables import BreakGlass, GateDecision, GateVersion, Review, Waiver
from models.ledger.workspace import Workspace
from models.lineage.tables import Artifact, CheckpointVerification, Evaluation, ModelVersion, Revocation

_ENDED_KEYS: Final = (
    "SELECT 1 FROM record WHERE namespace = :namespace AND idempotency_key IN :keys AND kind = 'key.revoked' "
    "AND position >= :size LIMIT 1"
)
_WATCHED: Final[Mapping[str, tuple[tuple[type[Table], str], ...]]] = {
    "inputs": ((Revocation, "revoked"),),
    "gate": ((GateVersion, "name"),),
    "dataset": ((EvaluationAttempt, "dataset"), (AttemptExtension, "dataset")),
    "artifact": (
        (Review, "artifact"),
        (Waiver, "artifact"),
        (BreakGlass, "artifact"),
        (GateDecision, "artifact"),
        (Evaluation, "subject"),
        (Statistic, "candidate"),
        (Artifact, "digest"),
        (ModelVersion, "artifact"),
    ),
    "subjects": ((Evidence, "subject"), (ContractCheck, "manifest"), (CheckpointVerification, "checkpoint")),
}
"""Where something new would have to be known, by what a decision rests on: table and column."""


@dataclass(frozen=True, slots=True)
class Resting:
    """What a decision, which will be the record `decision`, rests on, read when the log had `size` records. `keys` made
    the inputs."""

    decision: str
    namespace: str
    size: int
    inputs: Collection[str]
    keys: Collection[str]
    gate: str | None
    dataset: str | None
    artifact: str
    subjects: Collection[str]


def unmoved(resting: Resting) -> Callable[[Workspace], None]:
    """The check to make in the transaction that appends the decision. Raises DecisionMoved."""
    watched: dict[str, Collection[str]] = {
        "inputs": resting.inputs,
        "gate": [] if resting.gate is None else [resting.gate],
        "dataset": [] if resting.dataset is None else [resting.dataset],
        "artifact": [resting.artifact],
        "subjects": resting.subjects,
    }

    def check(workspace: Workspace) -> None:
        for what, values in watched.items():
            for table, column in _WATCHED[what] if values else ():
                if _has_new(workspace, resting, table, column, frozenset(values)):
                    raise DecisionMoved(
                        f"while this was decided, another {sql_table(table).name.replace('_', ' ')} about it was "
                        "recorded; nothing was decided, ask again"
                    )
        if _has_ended_key(workspace, resting):
            raise DecisionMoved(
                "while this was decided, a key was revoked that it rests on; nothing was decided, ask again"
            )

    return check


def _has_new(
    workspace: Workspace, resting: Resting, table: type[Table], column: str, values: frozenset[str]
) -> bool:
    if any(
        row["namespace"] == resting.namespace
        and row[column] in values
        and row["position"] >= resting.size
        and row.get("record") != resting.decision
        for row in workspace.pending(table)
    ):
        return True
    query = (
        f"SELECT 1 FROM {sql_table(table).name} WHERE namespace = :namespace AND {column} IN :keys "
        "AND position >= :size LIMIT 1"
    )
    return bool(select_among(workspace.connection, query, resting.namespace, values, size=resting.size))


def _has_ended_key(workspace: Workspace, resting: Resting) -> bool:
    if any(("key_revoked", "", key) in workspace.flags for key in resting.keys):
        return True
    ended = [f"key.revoked|{key}" for key in resting.keys]
    return bool(select_among(workspace.connection, _ENDED_KEYS, resting.namespace, ended, size=resting.size))
