"""A gate before `registration`: no version of its model is made without a pass that is in force.

Asked under the log lock, so that no revocation can come between the question and the version.
"""

from collections.abc import Iterable
from typing import Final, cast

from models.errors import GateClosed
from models.gates.in_force import standing, why
from models.gates.settling import is_settling
from models.gates.tables import Gate
from models.kinds.facts import ModelVersionFact
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace

REGISTRATION: Final = "registration"
_FLAG: Final = "gate before registration"
_GATED: Final = (
    f"SELECT model FROM gate WHERE namespace = :namespace AND model IN :keys AND target = '{REGISTRATION}'"
)


def load_registrations(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    workspace.load_flags(
        _FLAG, _GATED, [(draft.namespace, cast(ModelVersionFact, draft.fact).model) for draft in drafts]
    )


def check_registration(workspace: Workspace, entry: Entry) -> None:
    """Raises GateClosed."""
    fact = cast(ModelVersionFact, entry.fact)
    is_pending = any(
        (row["namespace"], row["model"], row["target"]) == (entry.namespace, fact.model, REGISTRATION)
        for row in workspace.pending(Gate)
    )
    if not is_pending and (_FLAG, entry.namespace, fact.model) not in workspace.flags:
        return
    if is_settling(workspace, entry.namespace, REGISTRATION, fact.artifact):
        raise GateClosed(
            f"a gate stands before the registration of model {fact.model}, and what it decides on changes at this "
            "moment; send the version again"
        )
    found = standing(
        workspace.connection, entry.namespace, fact.model, REGISTRATION, fact.artifact, entry.recorded_at
    )
    if not found.is_active:
        raise GateClosed(
            f"a gate stands before the registration of model {fact.model}, and this artifact has no pass in force: "
            f"{why(found)}"
        )
