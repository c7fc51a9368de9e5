"""What has an identity of its own keeps its content: a checkpoint or artifact of a run, a version of a model.

The identity is such a record's key. An idempotency key of the client's takes its place, so that only this look at
what was recorded before keeps one version from being bound twice.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from models.columns import Table
from models.errors import Conflict, FieldProblem, ModelVersionTaken
from models.fields import Value
from models.kinds import facts
from models.kinds.evaluations import EvaluationAttempted, EvaluationCompleted
from models.kinds.registry import KINDS
from models.kinds.runs import KEPT
from models.kinds.table_lineage import model_subject
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import tables

_LISTS: Final = {kind: name for name, kind in KEPT.items()}
_ADDED_BY_PROJECTION: Final = frozenset({"record", "evidence_level"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Where to look. `query` finds which `mark`s were seen before, in one statement for a whole batch; the row itself
    is read only for those. `of_run`: a run that is new can't have had one."""

    what: str
    query: str
    mark: Callable[[Any], str]
    table: type[Table]
    key: Callable[[str, Any, str | None], tuple[str | None, ...]]
    of_run: bool


IDENTITIES: Final[Mapping[str, Identity]] = {
    "checkpoint.saved": Identity(
        "checkpoint",
        "SELECT digest FROM checkpoint WHERE namespace = :namespace AND digest IN :keys",
        lambda fact: str(fact.digest),
        tables.Checkpoint,
        lambda namespace, fact, run_id: (run_id, namespace, fact.digest),
        of_run=True,
    ),
    "artifact": Identity(
        "artifact",
        "SELECT digest FROM artifact WHERE namespace = :namespace AND digest IN :keys",
        lambda fact: str(fact.digest),
        tables.Artifact,
        lambda namespace, fact, run_id: (run_id, namespace, fact.digest, fact.role),
        of_run=True,
    ),
    "model_version": Identity(
        "model_version",
        "SELECT subject FROM record WHERE namespace = :namespace AND subject IN :keys AND kind = 'model_version'",
        lambda fact: model_subject(fact.registry, fact.model, fact.version),
        tables.ModelVersion,
        lambda namespace, fact, run_id: (namespace, fact.registry, fact.model, fact.version),
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
    if isinstance(fact, EvaluationAttempted):
        return Conflict(
            "an attempt with this candidate, data set, evaluator, config and `retry` was opened before with another "
            "model, incumbent, task, threshold, repeats or timeout; it stands, and a further one has the next `retry`"
        )
    if isinstance(fact, EvaluationCompleted) and fact.attempt is not None:
        return Conflict(
            f"repeat {fact.repeat} of this attempt has another result already; a result never changes, measure again "
            "in an attempt with the next `retry`"
        )
    return Conflict(f"this {kind} was recorded before with other content; records never change")


def load_identities(workspace: Workspace, kind: str, wanted: Iterable[tuple[str, str | None, Value]]) -> None:
    """Marks what was seen before of facts of one kind, each with namespace and run; the runs are asked for already."""
    identity = IDENTITIES[kind]
    wanted = list(wanted)

    def load(among: Iterable[tuple[str, str | None, Value]]) -> None:
        marks = [(namespace, identity.mark(fact)) for namespace, _, fact in among]
        workspace.load_flags(identity.what, identity.query, marks)

    if not identity.of_run:
        load(wanted)
        return
    workspace.afterwards(
        lambda: load(each for each in wanted if workspace.get(tables.Run, each[0], each[1]) is not None)
    )


def check_unlike(entries: Sequence[Entry]) -> None:
    """Raises Conflict when two facts of one post have the same identity and other content."""
    first: dict[tuple[object, ...], Entry] = {}
    numbers: Counter[str] = Counter()
    for entry in entries:
        identity = IDENTITIES[entry.kind]
        number = numbers[entry.kind]
        numbers[entry.kind] += 1
        known = first.setdefault(
            (entry.kind, *identity.key(entry.namespace, entry.fact, entry.run_id)), entry
        )
        if known is not entry and known.fact != entry.fact:
            field = f"/{_LISTS[entry.kind]}/{number}"
            message = f"says other content of {identity.mark(entry.fact)} than one before it in this post"
            raise Conflict(
                f"{field} {message}; a {identity.what} has one content, send it once",
                problems=[FieldProblem(field, message)],
            )


def flag_identity(workspace: Workspace, entry: Entry) -> None:
    """Marks as seen what no one can have recorded before: its run is new."""
    identity = IDENTITIES[entry.kind]
    workspace.flag(identity.what, entry.namespace, identity.mark(entry.fact))


def check_unchanged(workspace: Workspace, entry: Entry) -> None:
    """Raises Conflict or ModelVersionTaken when the identity has other content; the same content may come again."""
    identity = IDENTITIES[entry.kind]
    if (identity.what, entry.namespace, identity.mark(entry.fact)) in workspace.flags:
        row = workspace.get(identity.table, *identity.key(entry.namespace, entry.fact, entry.run_id))
        if row is not None and _recorded(entry.kind, row["document"]) != _with_run(entry):
            raise changed_content(entry.kind, entry.fact)
    flag_identity(workspace, entry)


def _recorded(kind: str, document: str) -> Value:
    """What was recorded, as a fact: a default that is stated is no other content than one that is left out."""
    body = {name: value for name, value in json.loads(document).items() if name not in _ADDED_BY_PROJECTION}
    return KINDS[kind].body.model_validate_json(json.dumps(body))


def _with_run(entry: Entry) -> Value:
    return KINDS[entry.kind].body.model_validate({**entry.body, "run_id": entry.run_id})
