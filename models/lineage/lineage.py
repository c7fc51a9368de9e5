"""One answer that says what a run or a model version is made of, or what was made from it.

Documents stored as JSON text are passed through as they are: the answer is put together from text, not parsed and
written again.
"""

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection

from models.bulk import select_among
from models.contracts.lineage import MAX_CHECKS, check_warnings, checks_of_data
from models.errors import NotFound, RunNotFound
from models.kinds.registry import model_subject
from models.ledger.head import Head, read_head
from models.ledger.tree import prove_inclusion
from models.lineage import documents
from models.lineage.completeness import completeness, weakest_grade
from models.lineage.documents import MAX_CHECKPOINTS, MAX_EVALUATIONS, NOW, Question, Version
from models.lineage.run_view import View
from models.lineage.traversal import Traversal, traverse

SCHEMA: Final = "shipworthy.lineage/1"
# Without the id, so that another tenant's answers like one that nobody has.
VERSION_NOT_FOUND: Final = (
    "no such model version in this namespace at that time; list them with GET /v1/models"
)
RUN_NOT_FOUND: Final = "no run with this id in this namespace at that time; list them with GET /v1/runs"


def lineage_of_version(
    connection: Connection, question: Question, registry: str, model: str, version: str
) -> bytes:
    """JSON bytes; NotFound when the version was not registered at `as_of`."""
    found = documents.find_version(connection, question, registry, model, version)
    if found is None:
        raise NotFound(VERSION_NOT_FOUND)
    return _answer(connection, question, found.run_id, found)


def lineage_of_run(connection: Connection, question: Question, run_id: str) -> bytes:
    """The same without a model version; RunNotFound when the run was not registered at `as_of`."""
    return _answer(connection, question, run_id, None)


def _answer(connection: Connection, question: Question, run_id: str, version: Version | None) -> bytes:
    head = read_head(connection)
    if head is None:
        raise RunNotFound("the log is empty; nothing was recorded yet")
    found = traverse(
        connection,
        question.namespace,
        run_id,
        depth=question.depth,
        direction=question.direction,
        as_of=question.as_of,
        clock=time.monotonic,
    )
    runs = documents.runs(connection, question, found.hops)
    if run_id not in runs:
        raise RunNotFound(RUN_NOT_FOUND)
    view = runs[run_id][0]
    ingredients = documents.by_digest(connection, question, "ingredient", _ingredients(runs))
    data = {link.digest for link in found.links if link.kind == "data"}
    snapshots = documents.by_digest(connection, question, "snapshot", data)
    checkpoints = documents.checkpoints(connection, question, run_id)
    evaluations = documents.evaluations(connection, question, run_id, version.artifact if version else None)
    roles = _roles(found, runs)
    checks = checks_of_data(connection, question.namespace, roles.keys(), question.as_of)
    records = [record for run, _ in runs.values() if (record := run["record"]) is not None]
    records += [check.record for check in checks[:MAX_CHECKS]]
    if version is not None:
        records.append(version.record)
    known = {
        digest: json.loads(ingredients[digest])
        for digest in view["ingredients"].values()
        if digest in ingredients
    }
    members = {
        "schema": json.dumps(SCHEMA),
        "direction": json.dumps(question.direction),
        "depth": json.dumps(question.depth),
        "as_of": json.dumps({"position": min(question.as_of, head.size - 1)}),
        "model_version": version.document if version else "null",
        "manifest": json.dumps(documents.manifest(connection, question, version) if version else None),
        "run_id": json.dumps(run_id),
        "completeness": json.dumps(
            completeness(view, known, version.artifact if version else None)
            + check_warnings(checks[:MAX_CHECKS], roles),
            ensure_ascii=False,
        ),
        "weakest_grade": json.dumps(weakest_grade(view)),
        "runs": _list(document for _, document in runs.values()),
        "snapshots": _list(snapshots.values()),
        "contract_checks": _list(check.text for check in checks[:MAX_CHECKS]),
        "more_contract_checks": json.dumps(len(checks) > MAX_CHECKS),
        "ingredients": "{" + ",".join(f"{json.dumps(at)}:{value}" for at, value in ingredients.items()) + "}",
        "artifacts": _list(documents.artifacts(connection, question, runs)),
        "checkpoints": _list(checkpoints[:MAX_CHECKPOINTS]),
        "more_checkpoints": json.dumps(len(checkpoints) > MAX_CHECKPOINTS),
        "evaluations": _list(evaluations[:MAX_EVALUATIONS]),
        "more_evaluations": json.dumps(len(evaluations) > MAX_EVALUATIONS),
        "edges": json.dumps(_edges(found)),
        "unresolved": json.dumps(_unresolved(found, data - set(snapshots))),
        "revocations": _list(documents.revocations(connection, question, _subjects(found, version))),
        "partial": json.dumps(found.partial),
        "next": json.dumps([_next(question, run) for run in found.open_runs]),
        "proof": json.dumps(_proof(connection, question, head, records)),
    }
    return ("{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}").encode()


def _ingredients(runs: Mapping[str, tuple[View, str]]) -> set[str]:
    return {
        digest
        for view, _ in runs.values()
        for digest in (*view["ingredients"].values(), *view["transformations"])
    }


def _roles(found: Traversal, runs: Mapping[str, tuple[View, str]]) -> dict[str, set[str]]:
    """Under which roles data and outputs of transformations were read, by digest."""
    roles: dict[str, set[str]] = {}
    for link in found.links:
        if link.kind == "data":
            roles.setdefault(link.digest, set()).add(link.role)
    for view, _ in runs.values():
        for digest in view["transformations"]:
            roles.setdefault(digest, set()).add("transformation")
    return roles


def _subjects(found: Traversal, version: Version | None) -> list[str]:
    """Under what the records behind this answer are filed."""
    subjects = [f"run:{run_id}" for run_id in found.hops]
    subjects += [f"digest:{link.digest}" for link in found.links if link.direction == "out"]
    if version is not None:
        subjects.append(model_subject(version.registry, version.model, version.version))
    return subjects


def _edges(found: Traversal) -> list[dict[str, str]]:
    return [
        {
            "run_id": link.run_id,
            "direction": link.direction,
            "kind": link.kind,
            "role": link.role,
            "digest": link.digest,
        }
        for link in found.links
    ]


def _unresolved(found: Traversal, unknown: set[str]) -> list[str]:
    """Digests that runs read and nothing recorded here describes: neither a snapshot nor a run's output."""
    made = {link.digest for link in found.links if link.direction == "out"}
    return sorted(unknown - made)


def _next(question: Question, run_id: str) -> str:
    """Where the lineage goes on from a run that was not expanded."""
    as_of = "" if question.as_of >= NOW else f"&as_of={question.as_of}"
    return f"/v1/runs/{quote(run_id)}/lineage?direction={question.direction}&depth={question.depth}{as_of}"


def _proof(connection: Connection, question: Question, head: Head, records: list[str]) -> dict[str, Any]:
    """Where the records behind the answer stand in the log; with `prove` also how to check it offline."""
    rows = select_among(
        connection,
        "SELECT digest, kind, position FROM record WHERE namespace = :namespace AND digest IN :keys",
        question.namespace,
        records,
    )
    listed: list[dict[str, Any]] = [
        {"record": digest, "kind": kind, "position": position} for digest, kind, position in sorted(rows)
    ]
    if question.prove:
        for entry in listed:
            entry["path"] = [each.hex() for each in prove_inclusion(connection, entry["position"], head.size)]
    return {"checkpoint": head.note, "records": listed}


def _list(texts: Iterable[str]) -> str:
    return "[" + ",".join(texts) + "]"
