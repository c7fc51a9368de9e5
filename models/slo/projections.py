"""What records about SLOs change in the tables that queries read. Pure over the workspace."""

from collections.abc import Mapping
from typing import Any, Final, cast

import orjson

from models.bulk import Row
from models.fields import instant_text
from models.kinds import slos as kinds
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.slo import tables
from models.slo.month_sums import MonthSums
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.times import format_instant

WITHDRAWN: Final = "withdrawn"
"""The status of a window that a later version of its definition no longer expects; it counts for nothing."""


def _encode(value: object) -> str:
    return orjson.dumps(value).decode()


def slo_published(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.SloPublished, entry.fact)
    before = workspace.get(tables.Slo, entry.namespace, fact.name)
    shared: dict[str, Any] = {
        "namespace": entry.namespace,
        "name": fact.name,
        "version": fact.version,
        "digest": fact.digest,
        "document_digest": fact.document_digest,
        "record": entry.digest,
        "position": entry.position,
    }
    current = {
        "team": fact.team,
        "objective": fact.objective,
        # What an earlier version wrote down ahead is replaced from here on.
        "expected_until": None if before is None else entry.recorded_at,
        "first_at": entry.recorded_at if before is None else before["first_at"],
    }
    workspace.put(tables.Slo, shared | current)
    shown = {name: value for name, value in entry.body.items() if name != "definition"}
    document = _encode(
        {
            **shown,
            "published_by": entry.owner,
            "record": entry.digest,
            "at": instant_text(entry.recorded_at),
        }
    )
    definition = canonicalize(entry.body["definition"]).decode()
    own = {"published_at": entry.recorded_at, "definition": definition, "document": document}
    workspace.add(tables.SloVersion, shared | own, new=True)


def windows_expected(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.WindowsExpected, entry.fact)
    current = workspace.get(tables.Slo, entry.namespace, fact.slo)
    if current is not None and fact.until is not None and current["version"] == fact.version:
        workspace.put(tables.Slo, {**current, "expected_until": fact.until})
    sums = MonthSums(entry.namespace)
    for id in fact.withdrawn:
        before = workspace.get(tables.SloWindow, entry.namespace, id)
        if before is not None:
            sums.move(workspace, before, {**before, "status": WITHDRAWN, "predicted": 0, "look_at": None})
    for window in fact.windows:
        before = workspace.get(tables.SloWindow, entry.namespace, window.id)
        if before is not None and before["status"] != WITHDRAWN:
            continue  # It is open, or has an outcome: what was promised for it was promised then.
        # Revisions count on, of a window that was foretold, withdrawn and is expected again.
        revision = 0 if before is None else before["revision"]
        sums.move(workspace, before, _expected_row(entry, fact, window, revision))
    sums.write(workspace)


def _expected_row(
    entry: Entry, fact: kinds.WindowsExpected, window: kinds.ExpectedWindow, revision: int
) -> Row:
    row: dict[str, Any] = {
        "namespace": entry.namespace,
        "id": window.id,
        "slo": fact.slo,
        "version": fact.version,
        "opens_at": window.opens_at,
        "deadline_at": window.deadline,
        "due_at": window.due,
        "deadline_local": window.deadline_local,
        "day": window.day,
        "interval_start": None if window.data_interval is None else window.data_interval.start,
        "interval_end": None if window.data_interval is None else window.data_interval.end,
        "holidays": window.holidays,
        "tzdata": window.tzdata,
        "run_id": window.run_id,
        "about": window.about,
        "backfilled": int(window.backfilled),
        "status": "pending",
        "reason": None,
        "predicted": 0,
        "revision": revision,
        "good": 0,
        "bad": 0,
        "unsure": 0,
        "look_at": window.due,
        "expected": entry.digest,
        "expected_position": entry.position,
        "record": entry.digest,
        "position": entry.position,
    }
    return row | {"document": _window_document(row, {})}


def window_settled(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.WindowsSettled, entry.fact)
    sums = MonthSums(entry.namespace)
    for settled, body in zip(fact.windows, entry.body["windows"], strict=True):
        before = workspace.get(tables.SloWindow, entry.namespace, settled.window)
        if before is not None:
            _settle(workspace, entry, sums, before, settled, body)
    sums.write(workspace)


def _settle(
    workspace: Workspace,
    entry: Entry,
    sums: MonthSums,
    before: Row,
    settled: kinds.WindowSettled,
    body: Mapping[str, Any],
) -> None:
    good, bad, unsure = _weights(settled)
    row: dict[str, Any] = {
        **before,
        "status": settled.status,
        "reason": settled.reason,
        "predicted": int(settled.predicted),
        "revision": settled.revision,
        "good": good,
        "bad": bad,
        "unsure": unsure,
        "look_at": settled.look_again,
        "record": entry.digest,
        "position": entry.position,
    }
    document = _window_document(row, body)
    sums.move(workspace, before, row | {"document": document})
    workspace.add(
        tables.SloWindowRevision,
        {
            "namespace": entry.namespace,
            "window_id": settled.window,
            "revision": settled.revision,
            "slo": settled.slo,
            "status": settled.status,
            "predicted": int(settled.predicted),
            "restated": int(settled.restatement),
            "good": good,
            "bad": bad,
            "unsure": unsure,
            "recorded_at": entry.recorded_at,
            "record": entry.digest,
            "position": entry.position,
            "document": document,
        },
        new=True,
    )


def slo_excluded(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.SloExcluded, entry.fact)
    workspace.add(
        tables.SloExclusion,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "slo": fact.slo,
            "starts_at": fact.from_,
            "ends_at": fact.to,
            "windows": None if fact.windows is None else _encode(fact.windows),
            "retroactive": int(fact.retroactive),
            "owner": fact.by,
            "recorded_at": entry.recorded_at,
            "position": entry.position,
            "document": _encode(
                {**entry.body, "record": entry.digest, "recorded_at": instant_text(entry.recorded_at)}
            ),
        },
        new=True,
    )


def _weights(fact: kinds.WindowSettled) -> tuple[int, int, int]:
    """What a window counts for: its slices, or itself."""
    if fact.status == "excluded":
        return 0, 0, 0
    if fact.slices is not None:
        return fact.slices.good, fact.slices.bad, fact.slices.unknown
    return (
        int(fact.status in ("met", "met_in_grace")),
        int(fact.status == "breached"),
        int(fact.status == "unknown"),
    )


def _window_document(row: Mapping[str, Any], settled: Mapping[str, Any]) -> str:
    """What reports show of a window (gates/slo/report.py); `settled` is the body of its last revision, empty before the
    first."""
    return _encode(
        {
            "id": row["id"],
            "opens_at": format_instant(row["opens_at"]),
            "deadline_utc": format_instant(row["deadline_at"]),
            "deadline_local": row["deadline_local"],
            "status": row["status"],
            "reason": row["reason"],
            "revision": row["revision"],
            "lateness_s": settled.get("lateness_seconds"),
            "evidence": settled.get("evidence", []),
            "run_ids": settled.get("run_ids", [row["run_id"]] if row["run_id"] else []),
            "cause": settled.get("cause"),
            "layer": settled.get("layer"),
            "predicted": bool(row["predicted"]),
            "restated": settled.get("restatement", False),
            "judged_at": settled.get("judged_at"),
            "backfilled": bool(row["backfilled"]),
            "version": row["version"],
            **({"slices": settled["slices"]} if settled.get("slices") is not None else {}),
            **({"measured": settled["measured"]} if settled.get("measured") else {}),
        }
    )
