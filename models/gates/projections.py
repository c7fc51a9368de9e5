"""What records about gates change in the tables that queries read. Pure over the workspace."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from models.columns import Table
from models.fields import instant_text
from models.gates import tables
from models.kinds import gates as kinds
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from shipworthy.formats.jcs import canonicalize

_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def gate_published(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.GatePublished, entry.fact)
    shared: dict[str, Any] = {
        "namespace": entry.namespace,
        "name": fact.name,
        "version": fact.version,
        "digest": fact.digest,
        "document_digest": fact.document_digest,
        "owner": entry.owner,
        "record": entry.digest,
        "position": entry.position,
    }
    workspace.put(tables.Gate, shared | {"model": fact.applies_to.model, "target": fact.applies_to.to})
    document = _document(entry, published_by=entry.owner)
    workspace.add(tables.GateVersion, shared | {"document": document}, new=True)


def decision_made(workspace: Workspace, entry: Entry) -> None:
    predicate = cast(kinds.DecisionMade, entry.fact).statement.predicate
    signed = canonicalize(entry.body["statement"]["predicate"]).decode()
    workspace.add(
        tables.GateDecision,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "type": predicate.type,
            "mode": predicate.mode,
            "verdict": predicate.verdict,
            "model": predicate.model,
            "version": predicate.version,
            "target": predicate.to,
            "artifact": predicate.artifact.digest,
            "gate": None if predicate.gate is None else predicate.gate.name,
            "gate_version": None if predicate.gate is None else predicate.gate.version,
            "valid_until": predicate.valid_until,
            "position": entry.position,
            "summary": _summary(entry, predicate),
            "document": f'{{"decision":"{entry.digest}",{signed[1:]}',
        },
        new=True,
    )
    for read in predicate.inputs:
        workspace.add(
            tables.DecisionInput,
            {
                "decision": entry.digest,
                "namespace": entry.namespace,
                "record": read.record,
                "key_id": read.key,
                "position": entry.position,
            },
            new=True,
        )


def _summary(entry: Entry, predicate: kinds.Predicate) -> str:
    gate = predicate.gate
    return _encode(
        {
            "decision": entry.digest,
            "type": predicate.type,
            "mode": predicate.mode,
            "verdict": predicate.verdict,
            "sentence": predicate.sentence,
            "model": predicate.model,
            "version": predicate.version,
            "to": predicate.to,
            "artifact": predicate.artifact.digest,
            "gate": None if gate is None else {"name": gate.name, "version": gate.version},
            "evaluated_at": instant_text(predicate.evaluated_at),
            "valid_until": instant_text(predicate.valid_until),
            "position": entry.position,
        }
    )


def reviewed(workspace: Workspace, entry: Entry) -> None:
    """All three actions; the kind is `review.` and the action."""
    fact = cast(kinds.Review, entry.fact)
    action = entry.kind.removeprefix("review.")
    own = {"action": action, "decision": fact.decision, "owner": fact.by}
    _add_bound(workspace, entry, tables.Review, fact, own, action=action)


def waived(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.Waiver, entry.fact)
    _add_bound(workspace, entry, tables.Waiver, fact, {"criterion": fact.criterion, "owner": fact.by})


def break_glass_asked(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.BreakGlassAsked, entry.fact)
    workspace.add(
        tables.BreakGlass,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "model": fact.model,
            "version": fact.version,
            "artifact": fact.artifact,
            "target": fact.to,
            "owner": fact.by,
            "expires_at": fact.expires_at,
            "position": entry.position,
            "document": _document(entry),
        },
        new=True,
    )


def _add_bound(
    workspace: Workspace,
    entry: Entry,
    table: type[Table],
    fact: kinds.Review | kinds.Waiver,
    own: Mapping[str, Any],
    **shown: str,
) -> None:
    row = {
        "namespace": entry.namespace,
        "record": entry.digest,
        "gate": fact.gate,
        "policy_version": fact.policy_version,
        "model": fact.model,
        "artifact": fact.artifact,
        "target": fact.to,
        "at": entry.recorded_at,
        "expires_at": fact.expires_at,
        "position": entry.position,
        "document": _document(entry, **shown),
    }
    workspace.add(table, {**row, **own}, new=True)


def _document(entry: Entry, **added: object) -> str:
    """What answers show: the body, the record it stands in and when the log took it."""
    return _encode({**entry.body, **added, "record": entry.digest, "at": instant_text(entry.recorded_at)})
