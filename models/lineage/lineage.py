"""One answer that says what a run or a model version is made of, or what was made from it.

Documents stored as JSON text are passed through as they are: the answer is put together from text, not parsed and
written again.
"""

import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

import orjson
from sqlalchemy import Connection

from models.contracts.lineage import MAX_CHECKS, DataCheck, check_warnings, checks_of_data
from models.database import Database
from models.errors import NotFound, RunNotFound
from models.ledger.tree import prove_inclusion
from models.lineage.completeness import completeness, weakest_grade
from models.lineage.documents import (
    MAX_CHECKPOINTS,
    MAX_DECISIONS,
    MAX_EVALUATIONS,
    Rest,
    ShownRun,
    read_rest,
    shown_runs,
)
from models.lineage.question import NOW, Question, VersionName
from models.lineage.traversal import Traversal, traverse

SCHEMA: Final = "shipworthy.lineage/1"
# Without the id, so that another tenant's answers like one that nobody has.
VERSION_NOT_FOUND: Final = (
    "no such model version in this namespace at that time; list them with GET /v1/models"
)
RUN_NOT_FOUND: Final = "no run with this id in this namespace at that time; list them with GET /v1/runs"


def lineage_of(database: Database, question: Question, start: str | VersionName) -> bytes:
    """JSON bytes about a run with this id or about a model version, as of one state of the database.

    NotFound when the version, RunNotFound when the run was not registered at `as_of`. One statement a level of the
    walk and one for the rest; contract checks, `as_of` and proofs take more.
    """
    # BEGIN and COMMIT would be half of the ways to the database. Without them the statements saw one state when the
    # log was as long at the last as at the first: nothing else changes what they read.
    with database.one_statement() as connection:
        answer = _lineage(connection, question, start)
    if answer is None:
        with database.reading() as connection:
            answer = lineage_on(connection, question, start)
    return answer


def lineage_on(connection: Connection, question: Question, start: str | VersionName) -> bytes:
    """The same over a connection that reads one state of the database."""
    answer = _lineage(connection, question, start)
    assert answer is not None, "the log grew within a transaction that reads one state"
    return answer


def _lineage(connection: Connection, question: Question, start: str | VersionName) -> bytes | None:
    """None when a record was committed in between."""
    found = traverse(connection, question, start, time.monotonic)
    if found is None:
        raise NotFound(VERSION_NOT_FOUND)
    runs = shown_runs(connection, question, found)
    if found.start not in runs:
        raise RunNotFound(RUN_NOT_FOUND)
    roles = _roles(found, runs)
    data = {link.digest for link in found.links if link.kind == "data"}
    rest = read_rest(connection, question, found, _ingredients(runs), data, roles.keys())
    if rest.size != found.size:
        return None
    # Neither checks nor the log's hashes change: up to this size they are as they were.
    as_of = min(question.as_of, rest.size - 1)
    checks = checks_of_data(connection, question.namespace, roles.keys(), as_of) if rest.is_checked else []
    return _answer(
        _asked(question, found, as_of, rest)
        | _judged(found, runs[found.start], rest, checks[:MAX_CHECKS], roles)
        | _found(question, found, runs, rest)
        | {
            "contract_checks": _list(check.text for check in checks[:MAX_CHECKS]),
            "more_contract_checks": _json(len(checks) > MAX_CHECKS),
            "unresolved": _json(_unresolved(found, data - set(rest.snapshots))),
            "proof": _json(_proof(connection, question, found, runs, rest, checks[:MAX_CHECKS])),
        }
    )


def _asked(question: Question, found: Traversal, as_of: int, rest: Rest) -> dict[str, str]:
    return {
        "schema": _json(SCHEMA),
        "direction": _json(question.direction),
        "depth": _json(question.depth),
        "as_of": _json({"position": as_of}),
        "model_version": found.version.document if found.version else "null",
        "manifest": _json(rest.manifest),
        "run_id": _json(found.start),
    }


def _judged(
    found: Traversal,
    run: ShownRun,
    rest: Rest,
    checks: list[DataCheck],
    roles: Mapping[str, Collection[str]],
) -> dict[str, str]:
    """What is missing or weak of the run that was asked about."""
    known = {
        digest: orjson.loads(rest.ingredients[digest])
        for digest in run.view["ingredients"].values()
        if digest in rest.ingredients
    }
    entries = completeness(run.view, known, found.version.artifact if found.version else None)
    return {
        "completeness": _json(entries + check_warnings(checks, roles)),
        "weakest_grade": _json(weakest_grade(run.view)),
    }


def _found(question: Question, found: Traversal, runs: Mapping[str, ShownRun], rest: Rest) -> dict[str, str]:
    return {
        "runs": _list(run.text for run in runs.values()),
        "snapshots": _list(rest.snapshots.values()),
        "ingredients": "{" + ",".join(f'"{at}":{value}' for at, value in rest.ingredients.items()) + "}",
        "artifacts": _list(document for _, document in sorted(found.artifacts)),
        "checkpoints": _list(rest.checkpoints[:MAX_CHECKPOINTS]),
        "more_checkpoints": _json(len(rest.checkpoints) > MAX_CHECKPOINTS),
        "evaluations": _list(rest.evaluations[:MAX_EVALUATIONS]),
        "more_evaluations": _json(len(rest.evaluations) > MAX_EVALUATIONS),
        "decisions": _list(rest.decisions[:MAX_DECISIONS]),
        "more_decisions": _json(len(rest.decisions) > MAX_DECISIONS),
        "edges": _json(found.links),
        "revocations": _list(rest.revocations),
        "partial": _json(found.partial),
        "next": _json([_next(question, run) for run in found.open_runs]),
    }


def _ingredients(runs: Mapping[str, ShownRun]) -> set[str]:
    return {
        digest
        for run in runs.values()
        for digest in (*run.view["ingredients"].values(), *run.view["transformations"])
    }


def _roles(found: Traversal, runs: Mapping[str, ShownRun]) -> dict[str, set[str]]:
    """Under which roles data and outputs of transformations were read, by digest."""
    roles: dict[str, set[str]] = {}
    for link in found.links:
        if link.kind == "data":
            roles.setdefault(link.digest, set()).add(link.role)
    for run in runs.values():
        for digest in run.view["transformations"]:
            roles.setdefault(digest, set()).add("transformation")
    return roles


def _unresolved(found: Traversal, unknown: set[str]) -> list[str]:
    """Digests that runs read and nothing recorded here describes: neither a snapshot nor a run's output."""
    made = {link.digest for link in found.links if link.direction == "out"}
    return sorted(unknown - made)


def _next(question: Question, run_id: str) -> str:
    """Where the lineage goes on from a run that was not expanded."""
    as_of = "" if question.as_of >= NOW else f"&as_of={question.as_of}"
    return f"/v1/runs/{quote(run_id)}/lineage?direction={question.direction}&depth={question.depth}{as_of}"


def _proof(
    connection: Connection,
    question: Question,
    found: Traversal,
    runs: Mapping[str, ShownRun],
    rest: Rest,
    checks: list[DataCheck],
) -> dict[str, Any]:
    """Where the records behind the answer stand in the log; with `prove` also how to check it offline."""
    records = [(run.view["record"], "run.registered", run.view["position"]) for run in runs.values()]
    records += [(check.record, "contract.checked", check.position) for check in checks]
    if found.version is not None:
        records.append((found.version.record, "model_version", found.version.position))
    listed: list[dict[str, Any]] = [
        {"record": digest, "kind": kind, "position": position} for digest, kind, position in sorted(records)
    ]
    if question.prove:
        for entry in listed:
            entry["path"] = [each.hex() for each in prove_inclusion(connection, entry["position"], rest.size)]
    return {"checkpoint": rest.note, "records": listed}


def _answer(members: Mapping[str, str]) -> bytes:
    return ("{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}").encode()


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _list(texts: Iterable[str]) -> str:
    return "[" + ",".join(texts) + "]"
