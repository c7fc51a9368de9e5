"""What binding windows needs to know of runs, snapshots and reports, kept narrow beside their documents."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from models.kinds.evaluations import EvaluationFact
from models.kinds.facts import Snapshot
from models.kinds.runs import TERMINAL_STATES, RunEventFact
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.slo import evidence_tables as tables
from shipworthy.formats.times import parse_instant


def put_timing(workspace: Workspace, run: Mapping[str, Any], view: Mapping[str, Any]) -> None:
    """A row for a run that says for which data it ran, when it was queued or what it continues; `run` is its row."""
    identity = view["identity"]
    interval, resumed = identity.get("data_interval"), identity.get("resumed_from") or {}
    continues = resumed.get("run_id") or identity.get("parent_run_id")
    queued_at = view["queued_at"]
    if interval is None and continues is None and queued_at is None:
        return
    shared = ("run_id", "namespace", "job_namespace", "job_name", "team", "state", "started_at", "ended_at")
    workspace.put(
        tables.RunTiming,
        {name: run[name] for name in shared}
        | {
            "priority": identity.get("priority"),
            "queued_at": _instant(queued_at),
            "interval_start": None if interval is None else _instant(interval["start"]),
            "interval_end": None if interval is None else _instant(interval["end"]),
            "continues": continues,
            "position": run["position"],
        },
    )


def add_end(workspace: Workspace, entry: Entry, *, new: bool) -> None:
    """A row for an event that ends an attempt; others have none. `new`: nothing of the run is in the database yet."""
    event = cast(RunEventFact, entry.fact)
    if event.type != "state" or event.state not in TERMINAL_STATES:
        return
    workspace.add(
        tables.RunEnd,
        {
            "run_id": entry.run_id,
            "namespace": entry.namespace,
            "attempt": event.attempt,
            "ended_at": event.at,
            "state": str(event.state),
            "record": entry.digest,
            "recorded_at": entry.recorded_at,
            "position": entry.position,
        },
        new=new,
    )


def add_interval(workspace: Workspace, entry: Entry, snapshot: Snapshot, digest: str) -> None:
    if snapshot.extraction is None:
        return
    workspace.add(
        tables.SnapshotInterval,
        {
            "namespace": entry.namespace,
            "digest": digest,
            "dataset_namespace": snapshot.dataset.namespace,
            "dataset_name": snapshot.dataset.name,
            "interval_start": snapshot.extraction.start,
            "interval_end": snapshot.extraction.end,
            "position": entry.position,
        },
    )


def add_report(workspace: Workspace, entry: Entry, evaluation: EvaluationFact) -> None:
    report = evaluation.report
    if report is None or report.retain_until is None:
        return
    workspace.add(
        tables.EvaluationReport,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "digest": report.digest,
            "retain_until": report.retain_until,
            "recorded_at": entry.recorded_at,
            "position": entry.position,
        },
        new=True,
    )


def _instant(text: str | None) -> datetime | None:
    return None if text is None else parse_instant(text)
