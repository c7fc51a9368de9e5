"""What records about contracts change in the tables that queries read. Pure over the workspace."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from models.contracts import tables
from models.kinds import contracts as kinds
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import JsonValue, canonicalize

_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def contract_published(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.ContractPublished, entry.fact)
    shared: dict[str, Any] = {
        "namespace": entry.namespace,
        "name": fact.name,
        "version": fact.version,
        "digest": fact.digest,
        "suite_digest": fact.suite_digest,
        "baseline": fact.baseline,
        "position": entry.position,
    }
    workspace.put(tables.Contract, shared | {"objects": _canonical(entry.body["objects"])})
    workspace.add(
        tables.ContractVersion, shared | {"record": entry.digest, "document": _document(entry)}, new=True
    )


def baseline_published(workspace: Workspace, entry: Entry) -> None:
    """The same baseline twice, measured for two persons: the first record stays the one that is shown."""
    fact = cast(kinds.BaselinePublished, entry.fact)
    workspace.flag("baseline", entry.namespace, fact.digest)
    workspace.add(
        tables.Baseline,
        {
            "namespace": entry.namespace,
            "digest": fact.digest,
            "manifest": fact.baseline.data.manifest,
            "owner": fact.requested_by,
            "record": entry.digest,
            "position": entry.position,
            "document": _document(
                entry,
                without="baseline",
                data=entry.body["baseline"]["data"],
                engine=entry.body["baseline"]["engine"],
                columns=[column.name for column in fact.baseline.columns],
            ),
            "content": _canonical(entry.body["baseline"]),
        },
    )


def baseline_approved(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.BaselineApproved, entry.fact)
    workspace.add(
        tables.BaselineApproval,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "baseline": fact.baseline,
            "owner": entry.owner,
            "position": entry.position,
            "document": _document(entry, approved_by=entry.owner),
        },
        new=True,
    )


def contract_checked(workspace: Workspace, entry: Entry) -> None:
    fact = cast(kinds.ContractChecked, entry.fact)
    workspace.add(
        tables.ContractCheck,
        {
            "namespace": entry.namespace,
            "record": entry.digest,
            "contract": fact.contract.name,
            "version": fact.contract.version,
            "object": fact.object,
            "manifest": fact.data.manifest,
            "transformation": fact.transformation,
            "parameters": sha256_digest(canonicalize(entry.body.get("parameters", {}))),
            "as_of": fact.as_of,
            "run_id": fact.run_id,
            "outcome": str(fact.outcome),
            "evidence_level": entry.level,
            "position": entry.position,
            "document": _document(entry, without="checks"),
        },
        new=True,
    )


def _canonical(value: JsonValue) -> str:
    """The same text live and when it is made again, whatever order the value was sent in."""
    return canonicalize(value).decode()


def _document(entry: Entry, *, without: str | None = None, **added: object) -> str:
    """What answers show: the body, the record it stands in and how independent its maker was."""
    body: Mapping[str, Any] = {name: value for name, value in entry.body.items() if name != without}
    return _encode({**body, **added, "record": entry.digest, "evidence_level": entry.level})
