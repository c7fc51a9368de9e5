"""What an artifact was trained on: the data of the runs behind it, as far as anybody recorded it.

The walk goes from the artifact to the runs that made it, from those to their checkpoints, base models and whatever else
of what they read was made by a run, and stops at data. What can't be traced is listed by the digest at which the trace
ends: nothing is known of it, and so nothing is disjoint from it.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import select_among

MAX_RUNS: Final = 200
MAX_DIGESTS: Final = 500
NOT_LEARNT_FROM: Final = frozenset({"test", "evaluation", "tokenizer"})
"""Roles of inputs that teach a model nothing about examples. Validation data is no such role: it chooses the model."""

_MAKERS: Final = (
    "SELECT digest, run_id FROM run_link WHERE namespace = :namespace AND digest IN :keys "
    "AND direction = 'out'"
)
_RUNS: Final = "SELECT document FROM run WHERE namespace = :namespace AND run_id IN :keys"
_EXPORTS: Final = "SELECT run_id, document FROM artifact WHERE namespace = :namespace AND digest IN :keys"
_SNAPSHOTS: Final = "SELECT digest, document FROM snapshot WHERE namespace = :namespace AND digest IN :keys"


def training_data(connection: Connection, namespace: str, artifact: str) -> list[str]:
    """Digests of data, and those at which the trace ends, in the order of their text; never empty."""
    found: set[str] = set()
    seen_runs: set[str] = set()
    seen = {artifact}
    level = {artifact}
    while level:
        if len(seen_runs) > MAX_RUNS or len(seen) > MAX_DIGESTS:
            return sorted({*found, artifact})
        makers = _makers(connection, namespace, level)
        found |= level - set(makers)
        runs = {run for each in makers.values() for run in each} - seen_runs
        seen_runs |= runs
        exported = _exported_from(connection, namespace, makers)
        read: set[str] = set()
        for (document,) in select_among(connection, _RUNS, namespace, runs):
            run = json.loads(document)
            learnt = _learnt_from(run) | exported.get(run["run_id"], set())
            if not learnt or None in learnt:
                # A run that does not say what it learnt from, or not which bytes: here the artifact's trace ends.
                found.add(artifact)
            read |= {digest for digest in learnt if digest is not None}
        read -= seen
        seen |= read
        data = set(snapshot_documents(connection, namespace, read))
        found |= data
        level = read - data
    return sorted(found or {artifact})


def snapshot_documents(connection: Connection, namespace: str, digests: Collection[str]) -> dict[str, Any]:
    """What was recorded of snapshots, by digest; those that nobody recorded are left out."""
    if not digests:
        return {}
    rows = select_among(connection, _SNAPSHOTS, namespace, digests)
    return {digest: json.loads(document) for digest, document in rows}


def _makers(connection: Connection, namespace: str, digests: Collection[str]) -> dict[str, set[str]]:
    """The runs that wrote each digest; a digest that none wrote is left out."""
    makers: dict[str, set[str]] = {}
    for digest, run in select_among(connection, _MAKERS, namespace, digests):
        makers.setdefault(digest, set()).add(run)
    return makers


def _exported_from(
    connection: Connection, namespace: str, digests: Collection[str]
) -> dict[str, set[str | None]]:
    """For runs that made one of these artifacts from another run's checkpoint: that checkpoint."""
    made = [
        (run, json.loads(document).get("checkpoint"))
        for run, document in select_among(connection, _EXPORTS, namespace, digests)
    ]
    saved_by = _makers(
        connection, namespace, {checkpoint for _, checkpoint in made if checkpoint is not None}
    )
    exported: dict[str, set[str | None]] = {}
    for run, checkpoint in made:
        if checkpoint is not None and saved_by.get(checkpoint, set()) != {run}:
            exported.setdefault(run, set()).add(checkpoint)
    return exported


def _learnt_from(run: Mapping[str, Any]) -> set[str | None]:
    """Digests of what a run learnt from, None for what has none."""
    learnt = {given["digest"] for given in run["inputs"] if given["role"] not in NOT_LEARNT_FROM}
    resumed = run["identity"].get("resumed_from")
    return learnt if resumed is None else learnt | {resumed["checkpoint"]}
