"""The rows of what a run was made of and what it made. Pure over the workspace."""

from typing import cast

from models.kinds import facts
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import tables
from models.slo.timing import add_end


def add_product(workspace: Workspace, entry: Entry) -> None:
    """The rows of a checkpoint or artifact, and of an event that ends an attempt."""
    if entry.kind == "checkpoint.saved":
        _add_checkpoint(workspace, entry, cast(facts.CheckpointFact, entry.fact))
    elif entry.kind == "artifact":
        _add_artifact(workspace, entry, cast(facts.ArtifactFact, entry.fact))
    else:
        add_end(workspace, entry, new=of_new_run(workspace, entry))


def _add_checkpoint(workspace: Workspace, entry: Entry, fact: facts.CheckpointFact) -> None:
    add_link(workspace, entry, "out", "checkpoint", "checkpoint", fact.digest)
    workspace.flag("checkpoint", entry.namespace, fact.digest)
    workspace.add(
        tables.Checkpoint,
        {
            "namespace": entry.namespace,
            "run_id": entry.run_id,
            "digest": fact.digest,
            "step": fact.step,
            "trained_until": fact.trained_until,
            "level": fact.level,
            "position": entry.position,
            "document": document_of(entry, level=fact.level),
        },
        new=of_new_run(workspace, entry),
    )


def _add_artifact(workspace: Workspace, entry: Entry, fact: facts.ArtifactFact) -> None:
    add_link(workspace, entry, "out", "artifact", fact.role, fact.digest)
    workspace.add(
        tables.Artifact,
        {
            "namespace": entry.namespace,
            "run_id": entry.run_id,
            "digest": fact.digest,
            "role": fact.role,
            "position": entry.position,
            "document": document_of(entry, role=fact.role),
        },
        new=of_new_run(workspace, entry),
    )


def add_ingredient(workspace: Workspace, entry: Entry, kind: str, digest: str, encoded: bytes) -> None:
    workspace.add(
        tables.Ingredient,
        {
            "namespace": entry.namespace,
            "digest": digest,
            "kind": kind,
            "position": entry.position,
            "document": encoded.decode(),
        },
    )


def add_link(workspace: Workspace, entry: Entry, direction: str, kind: str, role: str, digest: str) -> None:
    workspace.add(
        tables.RunLink,
        {
            "namespace": entry.namespace,
            "run_id": entry.run_id,
            "direction": direction,
            "kind": kind,
            "role": role,
            "digest": digest,
            "position": entry.position,
        },
        new=of_new_run(workspace, entry),
    )


def of_new_run(workspace: Workspace, entry: Entry) -> bool:
    """Whether the database knows nothing of the run yet, and so none of its rows."""
    return workspace.is_absent(tables.Run, entry.namespace, entry.run_id)


def document_of(entry: Entry, **stated: str | bool) -> str:
    """What answers show of a fact: its body with the defaults that it relied on, its run, the record it stands in and
    how independent its maker was. Texts in `stated` are words of ours, which need no escaping."""
    more = {"run_id": entry.run_id, **stated} if entry.run_id is not None else stated
    members = [
        f'"{name}":{str(value).lower()}' if isinstance(value, bool) else f'"{name}":"{value}"'
        for name, value in more.items()
        if name not in entry.body
    ]
    members += [f'"record":"{entry.digest}"', f'"evidence_level":"{entry.level}"']
    whole = entry.canonical.whole.decode()
    return f"{whole[:-1]}{',' if len(whole) > 2 else ''}{','.join(members)}}}"
