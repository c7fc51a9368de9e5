"""What each record changes in the tables that queries read. Pure over the workspace: no clock, no queries."""

from typing import cast

from models.keys.records import KeyRevoked
from models.kinds import evaluations, facts
from models.kinds.runs import RunRegistered
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import tables
from models.lineage.made_of import input_of, made_of
from models.lineage.manifest import seal
from models.lineage.merging import merge, merge_whole
from models.lineage.product_rows import (
    add_ingredient,
    add_link,
    add_product,
    document_of,
    of_new_run,
)
from models.lineage.run_rows import current_view, put_view
from models.lineage.snapshot_rows import add_snapshot
from models.slo.timing import add_report


def run_registered(workspace: Workspace, entry: Entry) -> None:
    fact = cast(RunRegistered, entry.fact)
    before = current_view(workspace, entry)
    named = made_of(entry)
    for part, digest in named.parts.items():
        add_ingredient(workspace, entry, part, digest, entry.canonical.members[part])
    elements = entry.canonical.elements
    for digest, encoded in zip(named.transformations, elements.get("transformations", ()), strict=True):
        add_ingredient(workspace, entry, "transformation", digest, encoded)
    for given, sent in zip(fact.inputs, entry.body.get("inputs", ()), strict=True):
        listed = input_of(given, sent)
        if given.snapshot is not None:
            add_snapshot(workspace, entry, given.snapshot, sent["snapshot"])
        if listed["digest"] is not None:
            add_link(workspace, entry, "in", "data", given.role, listed["digest"])
    resumed = fact.resumed_from
    if resumed is not None:
        add_link(workspace, entry, "in", "checkpoint", "resumed_from", resumed.checkpoint)
    for transformation in fact.transformations:
        if transformation.output is not None:
            add_link(workspace, entry, "in", "data", "transformation", transformation.output)
    for each in entry.kept:
        add_product(workspace, each)
    put_view(workspace, entry, before, merge_whole(before, entry, named))


def of_run(workspace: Workspace, entry: Entry) -> None:
    """An event, a checkpoint or an artifact that comes alone."""
    before = current_view(workspace, entry)
    put_view(workspace, entry, before, merge(before, entry))
    add_product(workspace, entry)


def snapshot(workspace: Workspace, entry: Entry) -> None:
    add_snapshot(workspace, entry, cast(facts.Snapshot, entry.fact), entry.body)


def checkpoint_verified(workspace: Workspace, entry: Entry) -> None:
    fact = cast(facts.CheckpointVerified, entry.fact)
    workspace.add(
        tables.CheckpointVerification,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "checkpoint": fact.checkpoint,
            "level": str(fact.level),
            "outcome": fact.outcome,
            # A clock that runs ahead must not outweigh what is looked at later.
            "checked_at": min(fact.checked_at, entry.recorded_at),
            "evidence_level": entry.level,
            "position": entry.position,
            "document": document_of(entry),
        },
        new=True,
    )


def evaluation_completed(workspace: Workspace, entry: Entry) -> None:
    fact = cast(evaluations.EvaluationFact, entry.fact)
    workspace.add(
        tables.Evaluation,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "digest": entry.content,
            "subject": fact.subject,
            "run_id": entry.run_id,
            "dataset": fact.dataset,
            "attempt": _attempt_of(fact),
            "repeat": fact.repeat,
            "evidence_level": entry.level,
            "position": entry.position,
            "recorded_at": entry.recorded_at,
            "document": document_of(entry, registered=_attempt_of(fact) is not None),
        },
        new=True,
    )
    add_report(workspace, entry, fact)


def model_version(workspace: Workspace, entry: Entry) -> None:
    fact = cast(facts.ModelVersionFact, entry.fact)
    workspace.add(
        tables.ModelVersion,
        {
            "namespace": entry.namespace,
            "registry_name": fact.registry,
            "model": fact.model,
            "version": fact.version,
            "artifact": fact.artifact,
            "run_id": entry.run_id,
            "record": entry.digest,
            "position": entry.position,
            "document": document_of(entry, registry=fact.registry),
        },
        new=of_new_run(workspace, entry),
    )
    # Said about the run, and no sign of life of it.
    sealed = seal(workspace, entry, fact, current_view(workspace, entry))
    workspace.set_state((entry.namespace, sealed["run_id"]), sealed)


def revocation(workspace: Workspace, entry: Entry) -> None:
    fact = cast(facts.Revocation, entry.fact)
    workspace.add(
        tables.Revocation,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "revoked": fact.record,
            "effect": fact.effect,
            "position": entry.position,
            "document": document_of(entry),
        },
        new=True,
    )


def key_revoked(workspace: Workspace, entry: Entry) -> None:
    """No table of ours: the key's own row changes with the commit, and a decision of the same batch must see it."""
    workspace.flag("key_revoked", "", cast(KeyRevoked, entry.fact).key_id)


def nothing(workspace: Workspace, entry: Entry) -> None:
    """Kinds that have no projection: the record itself is what is asked for."""


def _attempt_of(fact: evaluations.EvaluationFact) -> str | None:
    """What came nested in a run's registration belongs to no attempt."""
    return fact.attempt if isinstance(fact, evaluations.EvaluationCompleted) else None
