"""What each record changes in the tables that queries read. Pure over the workspace: no clock, no queries."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

import orjson

from models.bulk import Row
from models.fields import instant_text
from models.keys.records import KeyRevoked
from models.kinds import evaluations, facts
from models.kinds.runs import RunRegistered
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import tables
from models.lineage.made_of import input_of, made_of, snapshot_digest
from models.lineage.manifest import reseal, seal
from models.lineage.merging import merge, merge_whole
from models.lineage.run_view import View, empty_view, ended_at, heartbeat_seconds, reported_state
from shipworthy.formats.times import parse_instant


def run_registered(workspace: Workspace, entry: Entry) -> None:
    fact = cast(RunRegistered, entry.fact)
    before = _current(workspace, entry)
    named = made_of(entry)
    for part, digest in named.parts.items():
        _add_ingredient(workspace, entry, part, digest, entry.canonical.members[part])
    elements = entry.canonical.elements
    for digest, encoded in zip(named.transformations, elements.get("transformations", ()), strict=True):
        _add_ingredient(workspace, entry, "transformation", digest, encoded)
    for given, sent in zip(fact.inputs, entry.body.get("inputs", ()), strict=True):
        listed = input_of(given, sent)
        if given.snapshot is not None:
            _add_snapshot(workspace, entry, given.snapshot, sent["snapshot"])
        if listed["digest"] is not None:
            _link(workspace, entry, "in", "data", given.role, listed["digest"])
    resumed = fact.resumed_from
    if resumed is not None:
        _link(workspace, entry, "in", "checkpoint", "resumed_from", resumed.checkpoint)
    for transformation in fact.transformations:
        if transformation.output is not None:
            _link(workspace, entry, "in", "data", "transformation", transformation.output)
    for each in entry.kept:
        _add_product(workspace, each)
    _put(workspace, entry, before, merge_whole(before, entry, named))


def of_run(workspace: Workspace, entry: Entry) -> None:
    """An event, a checkpoint or an artifact that comes alone."""
    before = _current(workspace, entry)
    _put(workspace, entry, before, merge(before, entry))
    _add_product(workspace, entry)


def snapshot(workspace: Workspace, entry: Entry) -> None:
    _add_snapshot(workspace, entry, cast(facts.Snapshot, entry.fact), entry.body)


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
            "checked_at": fact.checked_at,
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
        new=_of_new_run(workspace, entry),
    )
    before = _current(workspace, entry)
    _put(workspace, entry, before, seal(workspace, entry, fact, before))


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


def view_of(workspace: Workspace, namespace: str, run_id: str) -> View | None:
    """The run's view as it stands in this batch, None for an unknown run."""
    view = workspace.states.get((namespace, run_id))
    if view is None:
        row = workspace.get(tables.Run, namespace, run_id)
        if row is not None:
            view = orjson.loads(row["document"])
            workspace.states[namespace, run_id] = view
    return cast("View | None", view)


def write_views(workspace: Workspace) -> None:
    """Turns the views that changed into rows; once a batch, however many facts a run got."""
    for namespace, run_id in workspace.changed_states:
        workspace.put(tables.Run, _run_row(namespace, workspace.states[namespace, run_id]))


def _run_row(namespace: str, view: View) -> dict[str, Any]:
    identity: Mapping[str, Any] = view["identity"]
    received = view["received_at"]
    return {
        "namespace": namespace,
        "run_id": view["run_id"],
        "position": view["position"],
        "job_namespace": identity["job"]["namespace"],
        "job_name": identity["job"]["name"],
        "team": identity.get("team"),
        "owner": view["owner"],
        "state": reported_state(view),
        "started_at": _instant(view["started_at"]),
        "ended_at": _instant(ended_at(view)),
        # A clock that runs ahead must not keep a dead run alive.
        "last_event_at": _instant(min(view["last_event_at"] or received, received)),
        "heartbeat_seconds": heartbeat_seconds(identity.get("heartbeat")),
        "last_step": view["last_step"],
        "recipe_digest": view["recipe_digest"],
        "family_digest": view["family_digest"],
        "document": _json(view),
    }


def _current(workspace: Workspace, entry: Entry) -> View:
    assert entry.run_id is not None
    return view_of(workspace, entry.namespace, entry.run_id) or empty_view(entry.run_id)


def _of_new_run(workspace: Workspace, entry: Entry) -> bool:
    """Whether the database knows nothing of the run yet, and so none of its rows."""
    return workspace.is_absent(tables.Run, entry.namespace, entry.run_id)


def _put(workspace: Workspace, entry: Entry, before: View, view: View) -> None:
    view = reseal(workspace, entry, before, view)
    received = instant_text(entry.recorded_at)
    view["received_at"] = max(before["received_at"] or received, received)
    workspace.set_state((entry.namespace, view["run_id"]), view)


def _add_product(workspace: Workspace, entry: Entry) -> None:
    """The rows of a checkpoint or artifact; an event has none."""
    if entry.kind == "checkpoint.saved":
        _add_checkpoint(workspace, entry, cast(facts.CheckpointFact, entry.fact))
    elif entry.kind == "artifact":
        _add_artifact(workspace, entry, cast(facts.ArtifactFact, entry.fact))


def _add_checkpoint(workspace: Workspace, entry: Entry, fact: facts.CheckpointFact) -> None:
    _link(workspace, entry, "out", "checkpoint", "checkpoint", fact.digest)
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
        new=_of_new_run(workspace, entry),
    )


def _add_artifact(workspace: Workspace, entry: Entry, fact: facts.ArtifactFact) -> None:
    _link(workspace, entry, "out", "artifact", fact.role, fact.digest)
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
        new=_of_new_run(workspace, entry),
    )


def _add_ingredient(workspace: Workspace, entry: Entry, kind: str, digest: str, encoded: bytes) -> None:
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


def _add_snapshot(workspace: Workspace, entry: Entry, fact: facts.Snapshot, body: Mapping[str, Any]) -> None:
    digest = snapshot_digest(fact, body)
    if digest is None:
        return
    if fact.key_sketch is not None or fact.split is not None:
        known = workspace.get(tables.DataSnapshot, entry.namespace, digest)
        if known is not None:
            _complete_snapshot(workspace, known, entry, body)
            return
    workspace.add(
        tables.DataSnapshot,
        {
            "namespace": entry.namespace,
            "digest": digest,
            "dataset_namespace": fact.dataset.namespace,
            "dataset_name": fact.dataset.name,
            "grade": str(fact.grade),
            "position": entry.position,
            "document": _json({**body, "digest": digest, "record": entry.digest}),
        },
    )


def _complete_snapshot(workspace: Workspace, known: Row, entry: Entry, body: Mapping[str, Any]) -> None:
    """A sketch or split that comes later, once: what was said first stays."""
    document = orjson.loads(known["document"])
    added = {
        name: body[name]
        for name in ("key_sketch", "split")
        if body.get(name) is not None and document.get(name) is None
    }
    if added:
        document |= added | {"completed_by": entry.digest}
        workspace.put(tables.DataSnapshot, {**known, "document": _json(document)})


def _link(workspace: Workspace, entry: Entry, direction: str, kind: str, role: str, digest: str) -> None:
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
        new=_of_new_run(workspace, entry),
    )


def _attempt_of(fact: evaluations.EvaluationFact) -> str | None:
    """What came nested in a run's registration belongs to no attempt."""
    return fact.attempt if isinstance(fact, evaluations.EvaluationCompleted) else None


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


def _json(document: Mapping[str, Any]) -> str:
    return orjson.dumps(document).decode()


def _instant(text: str | None) -> datetime | None:
    return None if text is None else parse_instant(text)
