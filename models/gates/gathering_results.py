"""Facts about measurements: the attempt, its statistics, how many attempts there were, and runs of the same recipe."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from sqlalchemy import Connection

from models.actor import EvidenceLevel, weakest
from models.bulk import select_among
from models.gates.asking import Asked, JsonObject, effects, read, time_text
from models.kinds.statistics import Statistics

MAX_EVALUATIONS: Final = 200
MAX_RELATED: Final = 100
"""Runs of one recipe or family that are looked at, the newest first."""
_ATTEMPT: Final = (
    "SELECT record, number, state, opened_at, evidence_level, candidate, dataset, evaluator, config, "
    "protocol_digest, repeats, incumbent FROM evaluation_attempt WHERE namespace = :namespace "
    "AND candidate = :artifact AND dataset = :dataset AND evaluator = :evaluator AND config = :config "
    "ORDER BY position DESC LIMIT 1"
)
_COUNTS: Final = (
    "SELECT coalesce(sum(CASE WHEN namespace = :namespace THEN attempts ELSE 0 END), 0) AS here, "
    "coalesce(sum(CASE WHEN namespace <> :namespace THEN attempts ELSE 0 END), 0) AS elsewhere "
    "FROM attempt_count WHERE dataset = :dataset"
)
_EXTENSIONS: Final = (
    "SELECT record, extra, owner, reason FROM attempt_extension WHERE namespace = :namespace "
    "AND dataset = :dataset ORDER BY position LIMIT 500"
)
_EVALUATIONS: Final = (
    "SELECT evaluation.record, evaluation.document, evaluation.evidence_level, record.recorded_at "
    "FROM evaluation JOIN record ON record.position = evaluation.position "
    "WHERE evaluation.namespace = :namespace AND evaluation.subject = :artifact "
    f"ORDER BY evaluation.position DESC LIMIT {MAX_EVALUATIONS}"
)
_CONFIGS: Final = (
    "SELECT record, config FROM evaluation_attempt WHERE namespace = :namespace AND record IN :keys"
)
# The one that was paired with the present incumbent before any other.
_STATISTICS: Final = (
    "SELECT record, evidence_level, inputs_level, recorded_at, document FROM statistic "
    "WHERE namespace = :namespace AND attempt = :attempt "
    "ORDER BY CASE WHEN coalesce(incumbent, '') = :incumbent THEN 0 ELSE 1 END, position DESC LIMIT 1"
)
_NOTHING_COMPARED: Final = {"status": "unknown", "method": "none", "training": [], "missing": []}
_RELATED: Final = (
    "SELECT run_id, recipe_digest, family_digest, document FROM ("
    "SELECT run_id, recipe_digest, family_digest, document, position FROM run "
    "WHERE namespace = :namespace AND recipe_digest = :recipe "
    "UNION SELECT run_id, recipe_digest, family_digest, document, position FROM run "
    "WHERE namespace = :namespace AND family_digest = :family"
    f") AS related ORDER BY position DESC LIMIT {2 * MAX_RELATED}"
)
_MODELS: Final = (
    "SELECT run_id, digest FROM artifact WHERE namespace = :namespace AND run_id IN :keys "
    "AND role = 'model' ORDER BY position"
)
_MEASURED: Final = (
    "SELECT candidate, record, attempt, dataset, protocol_digest, evidence_level, inputs_level, document FROM ("
    "SELECT statistic.*, row_number() OVER (PARTITION BY candidate ORDER BY position DESC) AS place FROM statistic "
    "WHERE namespace = :namespace AND candidate IN :keys AND dataset = :dataset AND protocol_digest = :protocol "
    "AND NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = :namespace AND said.effect = 'revoked' "
    "AND said.revoked IN (statistic.record, statistic.attempt)) "
    "AND NOT EXISTS (SELECT 1 FROM evaluation used JOIN revocation said ON said.revoked = used.record "
    "AND said.namespace = used.namespace AND said.effect = 'revoked' "
    "WHERE used.namespace = :namespace AND used.attempt = statistic.attempt)"
    ") AS latest WHERE place = 1"
)


def gather_attempt(connection: Connection, asked: Asked) -> JsonObject | None:
    """The latest attempt of the artifact on the policy's dataset and protocol, whatever became of it."""
    protocol = asked.protocol
    if protocol.dataset is None or protocol.evaluator is None or protocol.config is None:
        return None
    rows = read(
        connection,
        _ATTEMPT,
        asked.namespace,
        artifact=asked.artifact,
        dataset=protocol.dataset,
        evaluator=protocol.evaluator,
        config=protocol.config,
    )
    if not rows:
        return None
    row = rows[0]
    said = effects(connection, asked.namespace, [row.record])
    return {
        "id": row.record,
        "number": row.number,
        "state": row.state,
        "opened_at": time_text(connection, row.opened_at),
        "level": row.evidence_level,
        "candidate": row.candidate,
        "dataset": row.dataset,
        "evaluator": row.evaluator,
        "config": row.config,
        "protocol_digest": row.protocol_digest,
        "repeats": row.repeats,
        "incumbent": row.incumbent,
        "revoked": "revoked" in said.get(row.record, ()),
    }


def gather_attempts(connection: Connection, asked: Asked) -> JsonObject:
    """How often the dataset was used, here and by others, and what two persons allowed beyond the budget."""
    dataset = asked.protocol.dataset
    if dataset is None:
        return {"count": 0, "other_namespaces": 0, "extensions": []}
    (counted,) = read(connection, _COUNTS, asked.namespace, dataset=dataset)
    rows = read(connection, _EXTENSIONS, asked.namespace, dataset=dataset)
    said = effects(connection, asked.namespace, (row.record for row in rows)) if rows else {}
    grouped: dict[tuple[int, str], list[Any]] = defaultdict(list)
    for row in rows:
        if "revoked" not in said.get(row.record, ()):
            grouped[row.extra, row.reason].append(row)
    return {
        "count": int(counted.here),
        "other_namespaces": int(counted.elsewhere),
        "extensions": [
            {
                "records": [row.record for row in given],
                "extra": extra,
                "owners": sorted({row.owner for row in given}),
                "reason": reason,
            }
            for (extra, reason), given in grouped.items()
            if len({row.owner for row in given}) > 1
        ],
    }


def gather_evaluations(connection: Connection, asked: Asked) -> list[JsonObject]:
    """What was measured of the artifact, newest first, declared beforehand or not."""
    rows = read(connection, _EVALUATIONS, asked.namespace, artifact=asked.artifact)
    documents = [json.loads(row.document) for row in rows]
    attempts = {each["attempt"] for each in documents if each.get("attempt")}
    configs = dict(select_among(connection, _CONFIGS, asked.namespace, attempts)) if attempts else {}
    said = effects(connection, asked.namespace, (row.record for row in rows))
    return [
        {
            "record": row.record,
            "subject": document["subject"],
            "registered": document.get("attempt") is not None,
            "metrics": document["metrics"],
            "evaluator": document.get("evaluator"),
            "config": configs.get(document.get("attempt") or ""),
            "dataset": document.get("dataset"),
            "level": row.evidence_level,
            "received_at": time_text(connection, row.recorded_at),
            "revoked": "revoked" in said.get(row.record, ()),
        }
        for row, document in zip(rows, documents, strict=True)
    ]


def gather_statistics(
    connection: Connection, asked: Asked, attempt: JsonObject | None, incumbent: str | None
) -> JsonObject | None:
    """The body of what a worker measured again for this attempt; what it rests on being revoked revokes it."""
    if attempt is None:
        return None
    rows = read(connection, _STATISTICS, asked.namespace, attempt=attempt["id"], incumbent=incumbent or "")
    if not rows:
        return None
    row, body = rows[0], Statistics.model_validate_json(rows[0].document)
    rests_on = [row.record, attempt["id"], *body.evaluations, *body.incumbent_evaluations]
    said = effects(connection, asked.namespace, rests_on)
    stated = body.model_dump(mode="json", by_alias=True)
    return stated | {
        "disjointness": stated["disjointness"] or _NOTHING_COMPARED,
        "record": row.record,
        "level": _level(row),
        "received_at": time_text(connection, row.recorded_at),
        "revoked": any("revoked" in each for each in said.values()),
    }


def gather_related(
    connection: Connection, asked: Asked, run: JsonObject | None, protocol_digest: str | None
) -> tuple[list[JsonObject], list[JsonObject]]:
    """Measured runs of the same family, this one among them, and other runs of the same recipe."""
    dataset = asked.protocol.dataset
    if run is None or protocol_digest is None or dataset is None or run["family_digest"] is None:
        return [], []
    given = {"recipe": run["recipe_digest"] or "", "family": run["family_digest"]}
    rows = read(connection, _RELATED, asked.namespace, **given)
    views = {row.run_id: json.loads(row.document) for row in rows}
    said = effects(connection, asked.namespace, (view["record"] for view in views.values()))
    made = _models(connection, asked.namespace, views)
    measured = _measured(connection, asked.namespace, made.values(), dataset, protocol_digest)
    known = [
        (row, _related(views[row.run_id], made[row.run_id], measured[made[row.run_id]]))
        for row in rows
        if made.get(row.run_id) in measured and "revoked" not in said.get(views[row.run_id]["record"], ())
    ]
    family = [each for row, each in known if row.family_digest == run["family_digest"]]
    repeats = [
        each
        for row, each in known
        if row.recipe_digest is not None
        and row.recipe_digest == run["recipe_digest"]
        and row.run_id != run["run_id"]
    ]
    return family[:MAX_RELATED], repeats[:MAX_RELATED]


def _level(row: Any) -> str:  # noqa: ANN401 - a row of statistics
    """That of the worker, or of the weakest of what it worked on."""
    return str(weakest((EvidenceLevel(row.evidence_level), EvidenceLevel(row.inputs_level))))


def _models(connection: Connection, namespace: str, run_ids: Collection[str]) -> dict[str, str]:
    """The model of each run that made exactly one."""
    found: dict[str, set[str]] = defaultdict(set)
    for run_id, digest in select_among(connection, _MODELS, namespace, run_ids):
        found[run_id].add(digest)
    return {run_id: digests.pop() for run_id, digests in found.items() if len(digests) == 1}


def _measured(
    connection: Connection, namespace: str, artifacts: Iterable[str], dataset: str, protocol_digest: str
) -> dict[str, Any]:
    rows = select_among(
        connection, _MEASURED, namespace, sorted(set(artifacts)), dataset=dataset, protocol=protocol_digest
    )
    return {row.candidate: row for row in rows}


def _related(view: Mapping[str, Any], artifact: str, row: Any) -> JsonObject:  # noqa: ANN401 - a row of _MEASURED
    body = json.loads(row.document)
    return {
        "run_id": view["run_id"],
        "seeds_digest": view["ingredients"].get("seeds"),
        "artifact": artifact,
        "record": row.record,
        "rests_on": [row.attempt, *body["evaluations"]],
        "level": _level(row),
        "dataset": row.dataset,
        "protocol_digest": row.protocol_digest,
        "metrics": {name: measured["estimate"] for name, measured in body["metrics"].items()},
    }
