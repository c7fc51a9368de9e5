"""The view of a run in a batch of records, and the row that it becomes. Pure over the workspace."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

import orjson

from models.fields import instant_text
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import tables
from models.lineage.manifest import reseal
from models.lineage.run_view import View, empty_view, ended_at, heartbeat_seconds, reported_state
from models.slo.timing import put_timing
from shipworthy.formats.times import parse_instant


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
        view = workspace.states[namespace, run_id]
        row = _run_row(namespace, view)
        workspace.put(tables.Run, row)
        put_timing(workspace, row, view)


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
        "document": orjson.dumps(view).decode(),
    }


def current_view(workspace: Workspace, entry: Entry) -> View:
    assert entry.run_id is not None
    return view_of(workspace, entry.namespace, entry.run_id) or empty_view(entry.run_id)


def put_view(workspace: Workspace, entry: Entry, before: View, view: View) -> None:
    view = reseal(workspace, entry, before, view)
    received = instant_text(entry.recorded_at)
    view["received_at"] = max(before["received_at"] or received, received)
    workspace.set_state((entry.namespace, view["run_id"]), view)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else parse_instant(text)
