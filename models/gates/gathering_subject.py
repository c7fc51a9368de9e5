"""Facts about what is decided on: the artifact, the runs that made it, what they read, and what it would replace."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import select_among
from models.errors import FieldProblem, InvalidInput, NotFound
from models.gates.asking import Asked, JsonObject, effects, read, time_text
from models.lineage.manifest import made_of_document
from models.lineage.run_view import View
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

MAX_MAKERS: Final = 50
"""Runs that made one artifact; more of them change nothing but who its trainers are."""
VERSION_NOT_FOUND: Final = "no such model version in this namespace; list them with GET /v1/models"
_MADE: Final = (
    "SELECT run_id, document FROM artifact WHERE namespace = :namespace AND digest = :artifact "
    f"ORDER BY position, run_id LIMIT {MAX_MAKERS}"
)
_VERSION: Final = (
    "SELECT artifact, run_id FROM model_version WHERE namespace = :namespace AND registry_name = :registry "
    "AND model = :model AND version = :version"
)
_NAMED: Final = (
    "SELECT version, run_id FROM model_version WHERE namespace = :namespace AND artifact = :artifact "
    "AND model = :model AND registry_name = :registry ORDER BY position DESC LIMIT 1"
)
_SEALED: Final = (
    "SELECT digest, revision FROM lineage_manifest WHERE namespace = :namespace AND registry_name = :registry "
    "AND model = :model AND version = :version ORDER BY revision DESC LIMIT 1"
)
_RUNS: Final = (
    "SELECT run_id, owner, state, document FROM run WHERE namespace = :namespace AND run_id IN :keys"
)
_INGREDIENTS: Final = (
    "SELECT digest, document FROM ingredient WHERE namespace = :namespace AND digest IN :keys"
)
_SNAPSHOTS: Final = (
    "SELECT snapshot.digest, snapshot.document, record.recorded_at FROM snapshot "
    "JOIN record ON record.position = snapshot.position "
    "WHERE snapshot.namespace = :namespace AND snapshot.digest IN :keys"
)
_VERIFIED: Final = (
    "SELECT outcome, level, checked_at, expires_at, record FROM ("
    "SELECT outcome, evidence_level AS level, checked_at, NULL AS expires_at, record, position "
    "FROM checkpoint_verification "
    "WHERE namespace = :namespace AND checkpoint = :artifact "
    "UNION ALL SELECT outcome, evidence_level, produced_at, expires_at, record, position FROM evidence "
    "WHERE namespace = :namespace AND subject = :artifact AND kind = 'artifact-checksum'"
    ") AS looked WHERE NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = :namespace "
    "AND said.revoked = looked.record AND said.effect = 'revoked') ORDER BY position DESC LIMIT 1"
)
_HELD: Final = (
    "SELECT how, artifact, record, before_artifact FROM release_target WHERE namespace = :namespace "
    "AND registry_name = :registry AND model = :model AND target = :target"
)
_BEFORE: Final = (
    "SELECT artifact, record FROM gate_decision WHERE namespace = :namespace AND model = :model "
    "AND target = :target AND mode = 'enforce' AND verdict IN ('passed', 'break_glass') AND artifact <> :artifact "
    "AND NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = :namespace "
    "AND said.revoked = gate_decision.record AND said.effect = 'revoked') ORDER BY position DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class SubjectFacts:
    """`artifact`, `training_run`, `incumbent` and `dataset` stand in the facts as they are. `trainers` are the persons
    behind any run that made the artifact. `made_of` is the document that `training_run.made_of` is the digest of: what
    the run is made of at this moment, as lineage manifests name it."""

    artifact: JsonObject
    training_run: JsonObject | None
    incumbent: JsonObject
    dataset: JsonObject | None
    trainers: tuple[str, ...]
    made_of: bytes | None


def gather_subject(connection: Connection, asked: Asked) -> SubjectFacts:
    """Raises NotFound for a version that is not there, InvalidInput for one that is bound to another artifact."""
    made = read(connection, _MADE, asked.namespace, artifact=asked.artifact)
    version, version_run = _version(connection, asked)
    run_ids = list(dict.fromkeys([*([version_run] if version_run else []), *(row.run_id for row in made)]))
    runs = {row.run_id: row for row in select_among(connection, _RUNS, asked.namespace, run_ids)}
    views = {run_id: json.loads(row.document) for run_id, row in runs.items()}
    documents = [json.loads(row.document) for row in made]
    records = {each["record"] for each in (*documents, *views.values())}
    taken_back = {
        record for record, said in effects(connection, asked.namespace, records).items() if "revoked" in said
    }
    documents = [each for each in documents if each["record"] not in taken_back]
    runs = {run_id: row for run_id, row in runs.items() if views[run_id]["record"] not in taken_back}
    chosen = next((run_id for run_id in run_ids if run_id in runs), None)
    wanted = asked.protocol.dataset
    data = [] if chosen is None else [each["digest"] for each in views[chosen]["inputs"] if each["digest"]]
    snapshots = _snapshots(connection, asked.namespace, [*data, *([wanted] if wanted else [])])
    persons = [
        person for run_id in run_ids if run_id in runs for person in _persons(runs[run_id], views[run_id])
    ]
    made_of = None if chosen is None else made_of_document(views[chosen])
    return SubjectFacts(
        artifact=_artifact(connection, asked, documents),
        training_run=None
        if chosen is None
        else _training_run(connection, asked, runs[chosen], views[chosen], version, snapshots),
        incumbent=_incumbent(connection, asked),
        dataset=None if wanted is None else snapshots.get(wanted),
        trainers=tuple(dict.fromkeys(persons)),
        made_of=made_of,
    )


def trainers_of(connection: Connection, namespace: str, artifact: str) -> tuple[str, ...]:
    """The persons behind any run that made the artifact; none when nobody is known."""
    made = read(connection, _MADE, namespace, artifact=artifact)
    rows = select_among(connection, _RUNS, namespace, sorted({row.run_id for row in made}))
    persons = [person for row in rows for person in _persons(row, json.loads(row.document))]
    return tuple(dict.fromkeys(persons))


def _version(connection: Connection, asked: Asked) -> tuple[str | None, str | None]:
    """Name and run of the version that was asked about, else of the newest one that is bound to this artifact."""
    given = {"registry": asked.registry, "model": asked.model}
    if asked.version is None:
        named = read(connection, _NAMED, asked.namespace, artifact=asked.artifact, **given)
        return (named[0].version, named[0].run_id) if named else (None, None)
    bound = read(connection, _VERSION, asked.namespace, version=asked.version, **given)
    if not bound:
        raise NotFound(VERSION_NOT_FOUND)
    if bound[0].artifact != asked.artifact:
        message = f"is bound to {bound[0].artifact}; decide about that artifact, or leave the version out"
        raise InvalidInput(f"/version {message}", problems=[FieldProblem("/version", message)])
    return asked.version, bound[0].run_id


def _artifact(connection: Connection, asked: Asked, documents: list[JsonObject]) -> JsonObject:
    looked = read(connection, _VERIFIED, asked.namespace, artifact=asked.artifact)
    return {
        "digest": asked.artifact,
        "size_bytes": _agreed(documents, "size_bytes"),
        "serialization": _agreed(documents, "serialization"),
        "checkpoint": _agreed(documents, "checkpoint"),
        "records": list(dict.fromkeys(each["record"] for each in documents)),
        "checksum": None
        if not looked
        else {
            "outcome": "passed" if looked[0].outcome == "passed" else "failed",
            "level": looked[0].level,
            "at": time_text(connection, looked[0].checked_at),
            "expires_at": time_text(connection, looked[0].expires_at),
            "record": looked[0].record,
        },
    }


def _agreed(documents: list[JsonObject], name: str) -> Any:  # noqa: ANN401 - a JSON scalar
    """What everybody who said something said; two answers are none."""
    said = {each[name] for each in documents if each.get(name) is not None}
    return said.pop() if len(said) == 1 else None


def _training_run(
    connection: Connection,
    asked: Asked,
    row: Any,  # noqa: ANN401 - a row of _RUNS
    view: View,
    version: str | None,
    snapshots: Mapping[str, JsonObject],
) -> JsonObject:
    named = {part: view["ingredients"].get(part) for part in ("code", "environment")}
    found = dict(
        select_among(connection, _INGREDIENTS, asked.namespace, [each for each in named.values() if each])
    )
    code, environment = (json.loads(found.get(named[part], "null")) for part in ("code", "environment"))
    sealed = (
        []
        if version is None
        else read(
            connection, _SEALED, asked.namespace, registry=asked.registry, model=asked.model, version=version
        )
    )
    persons = _persons(row, view)
    return {
        "run_id": row.run_id,
        "record": view["record"],
        "owner": persons[0] if persons else None,
        "state": row.state,
        "lineage_manifest": {"digest": sealed[0].digest, "revision": sealed[0].revision} if sealed else None,
        "made_of": sha256_digest(made_of_document(view)),
        "recipe_digest": view["recipe_digest"],
        "family_digest": view["family_digest"],
        "seeds_digest": view["ingredients"].get("seeds"),
        "git": None if code is None else {"commit": code.get("commit"), "dirty": code.get("dirty")},
        "image": None if environment is None else (environment.get("image") or {}).get("digest"),
        "snapshots": [_read_snapshot(each, view["record"], snapshots) for each in view["inputs"]],
    }


def _persons(row: Any, view: Mapping[str, Any]) -> list[str]:  # noqa: ANN401 - a row of _RUNS
    """Who started a run and whose key recorded it: either is a trainer."""
    return [person for person in (view["identity"].get("initiated_by"), row.owner) if person is not None]


def _read_snapshot(given: Mapping[str, Any], record: str, snapshots: Mapping[str, JsonObject]) -> JsonObject:
    known = snapshots.get(given["digest"] or "", {})
    return {
        "role": given["role"],
        # Data that nothing identifies has a digest of its own that no record names: nothing covers or excuses it.
        "digest": given["digest"] or sha256_digest(canonicalize({"unidentified": dict(given)})),
        "grade": given["grade"] or known.get("grade") or "none",
        "record": known.get("record", record),
        "revoked": known.get("revoked", False),
        "contested": known.get("contested", False),
    }


def _snapshots(connection: Connection, namespace: str, digests: list[str]) -> dict[str, JsonObject]:
    rows = select_among(connection, _SNAPSHOTS, namespace, sorted(set(digests)))
    documents = {row.digest: (json.loads(row.document), row.recorded_at) for row in rows}
    said = effects(connection, namespace, (document["record"] for document, _ in documents.values()))
    return {
        digest: {
            "digest": digest,
            "dataset": f"{document['dataset']['namespace']}/{document['dataset']['name']}",
            "grade": document["grade"],
            "row_count": document.get("row_count"),
            "record": document["record"],
            "received_at": time_text(connection, received),
            "revoked": "revoked" in said.get(document["record"], ()),
            "contested": "contested" in said.get(document["record"], ()),
        }
        for digest, (document, received) in documents.items()
    }


def _incumbent(connection: Connection, asked: Asked) -> JsonObject:
    """What the target holds by what was promoted, or seen there; else the last artifact that a decision let through.
    Of what it holds itself the incumbent is what it replaced."""
    target = asked.protocol.incumbent or asked.target
    held = read(connection, _HELD, asked.namespace, registry=asked.registry, model=asked.model, target=target)
    for row in held:
        artifact = row.before_artifact if row.artifact == asked.artifact else row.artifact
        if artifact not in (None, asked.artifact):
            return {"artifact": artifact, "how": row.how or "promotion", "record": row.record}
    before = read(
        connection, _BEFORE, asked.namespace, model=asked.model, target=target, artifact=asked.artifact
    )
    if not before:
        return {"artifact": None, "how": "none", "record": None}
    return {"artifact": before[0].artifact, "how": "decision", "record": before[0].record}
