"""The rows of a snapshot: under which names it is found, what is known of it, and what was known of it before."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import orjson

from models.kinds import facts
from models.kinds.runs import RunRegistered
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import tables
from models.lineage.made_of import snapshot_digest
from models.lineage.snapshot_fold import said_besides, said_first
from models.slo.timing import add_interval


def load_snapshots(workspace: Workspace, described: Iterable[Draft | Entry]) -> None:
    """What is known of the data that these registrations and snapshots describe."""
    wanted = {
        (each.namespace, digest)
        for each in described
        for fact, body in _described(each)
        if (digest := snapshot_digest(fact, body)) is not None
    }
    workspace.load(tables.DataSnapshot, "digest", sorted(wanted))


def _described(of: Draft | Entry) -> Iterable[tuple[facts.Snapshot, Mapping[str, Any]]]:
    if isinstance(of.fact, facts.Snapshot):
        yield of.fact, of.body
        return
    inputs = cast(RunRegistered, of.fact).inputs
    for given, sent in zip(inputs, of.body.get("inputs", ()), strict=True):
        if given.snapshot is not None:
            yield given.snapshot, sent["snapshot"]


def add_snapshot(workspace: Workspace, entry: Entry, fact: facts.Snapshot, body: Mapping[str, Any]) -> None:
    digest = snapshot_digest(fact, body)
    if digest is None:
        return
    add_interval(workspace, entry, fact, digest)
    workspace.add(
        tables.SnapshotName,
        {
            "namespace": entry.namespace,
            "dataset_namespace": fact.dataset.namespace,
            "dataset_name": fact.dataset.name,
            "digest": digest,
            "position": entry.position,
        },
    )
    known = workspace.get(tables.DataSnapshot, entry.namespace, digest)
    if known is None:
        first = said_first(body, digest, entry.digest)
        row = {"namespace": entry.namespace, "digest": digest, "position": entry.position}
        workspace.put(tables.DataSnapshot, _row(row, entry, first))
        return
    before = orjson.loads(known["document"])
    after = said_besides(before, body, entry.digest)
    if after is before:
        return
    if known["changed"] < entry.position:
        workspace.add(
            tables.SnapshotBefore,
            {
                "namespace": entry.namespace,
                "digest": digest,
                "position": known["changed"],
                "until": entry.position,
                "document": known["document"],
            },
            new=True,
        )
    workspace.put(tables.DataSnapshot, _row(known, entry, after))


def _row(row: Mapping[str, Any], entry: Entry, document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "dataset_name": document["dataset"]["name"],
        "grade": document["grade"],
        "changed": entry.position,
        "document": orjson.dumps(document).decode(),
    }
