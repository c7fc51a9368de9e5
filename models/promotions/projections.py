"""What records about promotions change in the tables that queries read. Pure over the workspace."""

import json
from datetime import timedelta
from typing import Any, Final, cast

from models.bulk import Row
from models.fields import instant_text
from models.kinds import promotions as kinds
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.promotions.tables import (
    PromotionEvent,
    PromotionGrant,
    Reconciliation,
    ReleasedVersion,
    ReleaseTarget,
)

DEMOTION_TIME: Final = timedelta(minutes=15)
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SHOWN: Final[dict[str, Any]] = dict.fromkeys(
    (
        "action",
        "registry",
        "model",
        "version",
        "target",
        "artifact",
        "incumbent",
        "decision",
        "grant",
        "registry_user",
        "source",
        "registry_run_id",
        "reason",
        "how",
        "by",
        "code",
        "sentence",
    )
)
"""What an item of the lists has at least."""
_NOTHING_HELD: Final[dict[str, Any]] = dict.fromkeys(("how", "version", "artifact", "decision"))
_NOTHING: Final[dict[str, Any]] = {
    **_NOTHING_HELD,
    **dict.fromkeys(("record", "since", "before_version", "before_artifact")),
    **dict.fromkeys(("open_grant", "open_until", "demotion", "demotion_until")),
}


def granted(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.PromotionGranted, entry.fact)
    row = _named(entry, fact) | {
        "record": entry.digest,
        "expires_at": fact.expires_at,
        "settled_by": None,
        "position": entry.position,
        "document": _encode({**entry.body, "record": entry.digest}),
    }
    workspace.put(PromotionGrant, row)
    if fact.action != "register":
        place = target_row(workspace, entry.namespace, fact)
        workspace.put(ReleaseTarget, {**place, "open_grant": entry.digest, "open_until": fact.expires_at})


def promoted(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.Promotion, entry.fact)
    if fact.grant is not None:
        _settle(workspace, entry, fact.grant)
    if fact.action == "register":
        _add_event(workspace, entry, "registered", moved=False)
        return
    held: dict[str, Any] = {
        "how": "promotion",
        "version": fact.version,
        "artifact": fact.artifact,
        "decision": fact.decision,
    }
    if fact.action == "demote":
        held = _NOTHING_HELD
    # Whoever allowed a demotion meant what was there until now.
    held = held | {"demotion": None, "demotion_until": None}
    before = fact.incumbent
    _hold(
        workspace,
        entry,
        fact,
        held,
        None if before is None else before.version,
        None if before is None else before.artifact,
    )
    if fact.action != "demote":
        _add_released(workspace, entry, fact, fact.registry_run_id, fact.source)
    _add_event(workspace, entry, "demoted" if fact.action == "demote" else "promoted", moved=True)


def failed(workspace: Workspace, entry: Entry) -> None:
    _settle(workspace, entry, cast(kinds.PromotionFailed, entry.fact).grant)
    _add_event(workspace, entry, "failed", moved=False)


def refused(workspace: Workspace, entry: Entry) -> None:
    _add_event(workspace, entry, "refused", moved=False)


def observed(workspace: Workspace, entry: Entry) -> None:
    """An import tells what was there before us: it takes no promotion's place."""
    fact = cast(kinds.PromotionObserved, entry.fact)
    place = target_row(workspace, entry.namespace, fact)
    moves = fact.how == "reconcile" or place["how"] != "promotion"
    if moves:
        held = _NOTHING_HELD | (
            {}
            if fact.version is None
            else {"how": "observed", "version": fact.version, "artifact": fact.artifact}
        )
        _hold(workspace, entry, fact, held, place["version"], place["artifact"])
    if fact.version is not None:
        _add_released(workspace, entry, fact, fact.registry_run_id, fact.source)
    _add_event(workspace, entry, "observed", moved=moves)


def demotion_allowed(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.DemotionAllowed, entry.fact)
    place = target_row(workspace, entry.namespace, fact)
    until = entry.recorded_at + DEMOTION_TIME
    workspace.put(ReleaseTarget, {**place, "demotion": entry.digest, "demotion_until": until})
    _add_event(workspace, entry, "demotion_allowed", moved=False)


def reconciled(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.RegistryReconciled, entry.fact)
    row = {
        "namespace": entry.namespace,
        "record": entry.digest,
        "registry_name": fact.registry,
        "report": fact.report,
        "at": entry.recorded_at,
        "position": entry.position,
        "document": _encode({**entry.body, "record": entry.digest, "at": instant_text(entry.recorded_at)}),
    }
    workspace.add(Reconciliation, row, new=True)


def find_target(workspace: Workspace, namespace: str, registry: str, model: str, target: str) -> Row | None:
    """The target's row as it stands in this batch."""
    return workspace.get(ReleaseTarget, namespace, registry, model, target)


def target_row(workspace: Workspace, namespace: str, named: kinds.Named) -> Row:
    """The same; where there is none, one that holds nothing."""
    found = find_target(workspace, namespace, named.registry, named.model, named.target)
    if found is not None:
        return found
    return {
        "namespace": namespace,
        "registry_name": named.registry,
        "model": named.model,
        "target": named.target,
        **_NOTHING,
    }


def _hold(
    workspace: Workspace,
    entry: Entry,
    named: kinds.Named,
    held: Row,
    before_version: str | None,
    before_artifact: str | None,
) -> None:
    place = target_row(workspace, entry.namespace, named)
    if before_version is not None and before_artifact is None and before_version == place["version"]:
        before_artifact = place["artifact"]
    changed = {
        **held,
        "record": entry.digest,
        "since": entry.recorded_at,
        "before_version": before_version,
        "before_artifact": before_artifact,
    }
    workspace.put(ReleaseTarget, {**place, **changed})


def _settle(workspace: Workspace, entry: Entry, grant: str) -> None:
    row = workspace.get(PromotionGrant, entry.namespace, grant)
    if row is None:
        return
    workspace.put(PromotionGrant, {**row, "settled_by": entry.digest})
    place = find_target(workspace, entry.namespace, row["registry_name"], row["model"], row["target"])
    if place is not None and place["open_grant"] == grant:
        workspace.put(ReleaseTarget, {**place, "open_grant": None, "open_until": None})


def _add_released(
    workspace: Workspace,
    entry: Entry,
    fact: kinds.Promotion | kinds.PromotionObserved,
    run_id: str | None,
    source: str | None,
) -> None:
    key = (entry.namespace, fact.registry, fact.model, fact.version, fact.artifact or "")
    known = workspace.get(ReleasedVersion, *key)
    before: Row = known or {"targets": "[]", "run_id": None, "source": None}
    told = {
        "run_id": run_id or before["run_id"],
        "source": source or before["source"],
        "targets": _encode(sorted({*json.loads(before["targets"]), fact.target})),
    }
    if known is not None and all(known[name] == value for name, value in told.items()):
        return  # What guards were told of it stays as it is, and their list with it.
    names = ("namespace", "registry_name", "model", "version", "artifact")
    workspace.put(ReleasedVersion, dict(zip(names, key, strict=True)) | told | {"position": entry.position})


def _add_event(workspace: Workspace, entry: Entry, state: str, *, moved: bool) -> None:
    body = {name: value for name, value in entry.body.items() if name != "hour"}
    document = {
        "state": state,
        **_SHOWN,
        **body,
        "record": entry.digest,
        "at": instant_text(entry.recorded_at),
    }
    row = _named(entry, cast(kinds.Named, entry.fact)) | {
        "record": entry.digest,
        "state": state,
        "version": body.get("version"),
        "artifact": body.get("artifact"),
        "moved": int(moved),
        "at": entry.recorded_at,
        "position": entry.position,
        "document": _encode(document),
    }
    workspace.add(PromotionEvent, row, new=True)


def _named(entry: Entry, named: kinds.Named) -> dict[str, Any]:
    return {
        "namespace": entry.namespace,
        "registry_name": named.registry,
        "model": named.model,
        "target": named.target,
    }
