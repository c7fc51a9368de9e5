"""What has an identity of its own keeps its content: a checkpoint or artifact of a run, a version of a model.

The identity is such a record's key. An idempotency key of the client's takes its place, so that only this look at
what was recorded before keeps one version from being bound twice.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from models.columns import Table
from models.errors import Conflict, ModelVersionTaken
from models.fields import Value
from models.kinds import facts
from models.kinds.registry import KINDS, model_subject
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import tables

_ADDED_BY_PROJECTION: Final = frozenset({"record", "evidence_level"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Where to look. `query` finds which `mark`s were seen before, in one statement for a whole batch; the row itself
    is read only for those. `of_run`: a run that is new can't have had one."""

    what: str
    query: str
    mark: Callable[[Any], str]
    table: type[Table]
    key: Callable[[Any, str | None], tuple[str | None, ...]]
    of_run: bool


IDENTITIES: Final[Mapping[str, Identity]] = {
    "checkpoint.saved": Identity(
        "checkpoint",
        "SELECT digest FROM checkpoint WHERE namespace = :namespace AND digest IN :keys",
        lambda fact: str(fact.digest),
        tables.Checkpoint,
        lambda fact, run_id: (run_id, fact.digest),
        of_run=True,
    ),
    "artifact": Identity(
        "artifact",
        "SELECT digest FROM artifact WHERE namespace = :namespace AND digest IN :keys",
        lambda fact: str(fact.digest),
        tables.Artifact,
        lambda fact, run_id: (run_id, fact.digest, fact.role),
        of_run=True,
    ),
    "model_version": Identity(
        "model_version",
        "SELECT subject FROM record WHERE namespace = :namespace AND subject IN :keys AND kind = 'model_version'",
        lambda fact: model_subject(fact.registry, fact.model, fact.version),
        tables.ModelVersion,
        lambda fact, run_id: (fact.registry, fact.model, fact.version),
        of_run=False,
    ),
}


def changed_content(kind: str, fact: Value) -> Conflict:
    """The refusal of a record whose identity was recorded before with other content."""
    if isinstance(fact, facts.ModelVersionFact):
        return ModelVersionTaken(
            f"version {fact.version} of model {fact.model} in registry {fact.registry} was recorded before with "
            "another artifact, run or tags; a version never changes, register the next one"
        )
    return Conflict(f"this {kind} was recorded before with other content; records never change")


def load_identities(workspace: Workspace, kind: str, drafts: Iterable[Draft]) -> None:
    """Marks what was seen before of drafts of one kind, whose runs are loaded already."""
    identity = IDENTITIES[kind]
    wanted = [
        (draft.namespace, identity.mark(draft.fact))
        for draft in drafts
        if not identity.of_run or workspace.get(tables.Run, draft.namespace, draft.run_id) is not None
    ]
    workspace.load_flags(identity.what, identity.query, wanted)


def check_unchanged(workspace: Workspace, entry: Entry) -> None:
    """Raises Conflict or ModelVersionTaken when the identity has other content; the same content may come again."""
    identity = IDENTITIES[entry.kind]
    mark = identity.mark(entry.fact)
    if (identity.what, entry.namespace, mark) in workspace.flags:
        row = workspace.get(identity.table, entry.namespace, *identity.key(entry.fact, entry.run_id))
        if row is not None and _content(entry.kind, json.loads(row["document"])) != _content(
            entry.kind, entry.body
        ):
            raise changed_content(entry.kind, entry.fact)
    workspace.flag(identity.what, entry.namespace, mark)


def _content(kind: str, document: Mapping[str, Any]) -> Value:
    """What the body says: a default that is stated is no other content than one that is left out."""
    body = {name: value for name, value in document.items() if name not in _ADDED_BY_PROJECTION}
    return KINDS[kind].body.model_validate_json(json.dumps(body))
