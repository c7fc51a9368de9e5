"""Whether the batch that is being written may change what stands about an artifact, where no query sees it yet."""

from typing import Final

from models.columns import Table
from models.contracts.tables import ContractCheck
from models.evaluations.tables import Evidence
from models.gates.tables import Gate, GateDecision, Review
from models.ledger.workspace import Workspace
from models.lineage.tables import CheckpointVerification, Revocation

_ANY: Final[tuple[type[Table], ...]] = (Gate, Revocation)
_FINDINGS: Final[tuple[type[Table], ...]] = (Evidence, ContractCheck, CheckpointVerification)
"""Those that passed take nothing back."""


def is_settling(workspace: Workspace, namespace: str, target: str, artifact: str) -> bool:
    """Too often rather than too seldom: whoever is told so asks again, after the commit."""
    if any(what == "key_revoked" for what, _, _ in workspace.flags):
        return True
    if any(row["namespace"] == namespace for table in _ANY for row in workspace.pending(table)):
        return True
    if any(
        row["namespace"] == namespace and row["outcome"] != "passed"
        for table in _FINDINGS
        for row in workspace.pending(table)
    ):
        return True
    return any(
        row["namespace"] == namespace and row["artifact"] == artifact and row["target"] == target
        for table in (GateDecision, Review)
        for row in workspace.pending(table)
    )
