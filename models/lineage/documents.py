"""Stored JSON documents that lineage answers are put together from, in few queries whatever their number."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, bindparam, text

from models.bulk import select_among
from models.columns import UTCDateTime
from models.fields import instant_text
from models.lineage.history import view_as_of
from models.lineage.run_state import present_state
from models.lineage.run_view import View, ended_at, heartbeat_seconds, reported_state
from models.lineage.traversal import Direction
from shipworthy.formats.times import parse_instant

MAX_CHECKPOINTS: Final = 100
MAX_EVALUATIONS: Final = 200
NOW: Final = 2**62
"""A position beyond every log: "as of now"."""


@dataclass(frozen=True, slots=True)
class Question:
    """`as_of` is a log position: only records up to it count. `now` decides which runs are lost."""

    namespace: str
    depth: int
    direction: Direction
    as_of: int
    now: datetime
    prove: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """A model version's row."""

    registry: str
    model: str
    version: str
    artifact: str
    run_id: str
    record: str
    document: str


def position_at(connection: Connection, when: datetime) -> int:
    """The last log position that was received by then; -1 when nothing was."""
    query = text("SELECT size FROM tree_head WHERE committed_at <= :at ORDER BY id DESC LIMIT 1")
    found = connection.execute(query.bindparams(bindparam("at", type_=UTCDateTime())), {"at": when}).scalar()
    return -1 if found is None else int(found) - 1


def find_version(
    connection: Connection, question: Question, registry: str, model: str, version: str
) -> Version | None:
    row = connection.execute(
        text(
            "SELECT registry_name, model, version, artifact, run_id, record, document FROM model_version "
            "WHERE namespace = :namespace AND registry_name = :registry AND model = :model "
            "AND version = :version AND position <= :as_of"
        ),
        {
            "namespace": question.namespace,
            "registry": registry,
            "model": model,
            "version": version,
            "as_of": question.as_of,
        },
    ).first()
    return None if row is None else Version(*row)


def runs(connection: Connection, question: Question, hops: Mapping[str, int]) -> dict[str, tuple[View, str]]:
    """View and JSON text of each run by id, nearest first; runs unknown at that time are left out."""
    life = _signs_of_life(connection, question.namespace, hops)
    found: dict[str, tuple[View, str]] = {}
    if question.as_of < NOW:
        for run_id in hops:
            view = view_as_of(connection, question.namespace, run_id, question.as_of)
            if view is not None:
                found[run_id] = view, json.dumps(view, ensure_ascii=False, separators=(",", ":"))
    else:
        for run_id, document in select_among(
            connection,
            "SELECT run_id, document FROM run WHERE namespace = :namespace AND run_id IN :keys",
            question.namespace,
            hops,
        ):
            found[run_id] = json.loads(document), document
    ordered = sorted(found, key=lambda run_id: (hops[run_id], run_id))
    return {
        run_id: (found[run_id][0], _with_state(question, hops[run_id], *found[run_id], life.get(run_id)))
        for run_id in ordered
    }


def by_digest(
    connection: Connection, question: Question, table: str, digests: Collection[str]
) -> dict[str, str]:
    """JSON text of ingredients or snapshots by digest."""
    if not digests:
        return {}
    rows = select_among(
        connection,
        f"SELECT digest, position, document FROM {table} WHERE namespace = :namespace AND digest IN :keys",
        question.namespace,
        digests,
    )
    return {digest: document for digest, position, document in sorted(rows) if position <= question.as_of}


def artifacts(connection: Connection, question: Question, run_ids: Collection[str]) -> list[str]:
    rows = select_among(
        connection,
        "SELECT position, document FROM artifact WHERE namespace = :namespace AND run_id IN :keys",
        question.namespace,
        run_ids,
    )
    return [document for position, document in sorted(rows) if position <= question.as_of]


def checkpoints(connection: Connection, question: Question, run_id: str) -> list[str]:
    """The run's checkpoints, newest step first; one more than MAX_CHECKPOINTS tells that there are more."""
    return _texts(
        connection,
        "SELECT document FROM checkpoint WHERE namespace = :namespace AND run_id = :run_id "
        "AND position <= :as_of ORDER BY step DESC, digest LIMIT :limit",
        question,
        run_id=run_id,
        limit=MAX_CHECKPOINTS + 1,
    )


def evaluations(connection: Connection, question: Question, run_id: str, artifact: str | None) -> list[str]:
    """Evaluations by the run or of the artifact, newest first; one more than MAX_EVALUATIONS tells of more."""
    return _texts(
        connection,
        "SELECT document FROM ("
        "SELECT position, document FROM evaluation WHERE namespace = :namespace AND run_id = :run_id "
        "UNION SELECT position, document FROM evaluation WHERE namespace = :namespace AND subject = :artifact"
        ") AS found WHERE position <= :as_of ORDER BY position DESC LIMIT :limit",
        question,
        run_id=run_id,
        artifact=artifact or "",
        limit=MAX_EVALUATIONS + 1,
    )


def manifest(connection: Connection, question: Question, version: Version) -> dict[str, Any] | None:
    """Digest, revision and position of the sealed lineage as it stood at that time."""
    row = connection.execute(
        text(
            "SELECT digest, revision, position FROM lineage_manifest WHERE namespace = :namespace "
            "AND registry_name = :registry AND model = :model AND version = :version AND position <= :as_of "
            "ORDER BY revision DESC LIMIT 1"
        ),
        {
            "namespace": question.namespace,
            "registry": version.registry,
            "model": version.model,
            "version": version.version,
            "as_of": question.as_of,
        },
    ).first()
    return None if row is None else {"digest": row[0], "revision": row[1], "position": row[2]}


def revocations(connection: Connection, question: Question, subjects: Iterable[str]) -> list[str]:
    """What was said against records about any of these subjects ("run:…", "model:…", "digest:…")."""
    rows = select_among(
        connection,
        "SELECT said.position, said.document FROM revocation said JOIN record against "
        "ON against.digest = said.revoked AND against.namespace = said.namespace "
        "WHERE said.namespace = :namespace AND against.subject IN :keys",
        question.namespace,
        sorted(set(subjects)),
    )
    return [document for position, document in sorted(rows) if position <= question.as_of]


def _texts(connection: Connection, query: str, question: Question, **given: object) -> list[str]:
    bound = {"namespace": question.namespace, "as_of": question.as_of, **given}
    return list(connection.execute(text(query), bound).scalars())


def _signs_of_life(
    connection: Connection, namespace: str, run_ids: Collection[str]
) -> dict[str, tuple[datetime, int | None]]:
    """Latest receipt and highest step of the progress rows of each run."""
    rows = select_among(
        connection,
        "SELECT run_id, max(received_at), max(step) FROM run_progress "
        "WHERE namespace = :namespace AND run_id IN :keys GROUP BY run_id",
        namespace,
        run_ids,
    )
    kind, found = UTCDateTime(), {}
    for run_id, received, step in rows:
        instant = kind.process_result_value(received, connection.dialect)
        if instant is not None:
            found[run_id] = instant, step
    return found


def _with_state(
    question: Question, hop: int, view: View, document: str, life: tuple[datetime, int | None] | None
) -> str:
    """The run's document with its distance and its state at this moment in front."""
    signs = [parse_instant(min(view["last_event_at"] or view["received_at"], view["received_at"]))]
    if life is not None:
        signs.append(life[0])
    state = present_state(
        reported_state(view), max(signs), heartbeat_seconds(view["identity"].get("heartbeat")), question.now
    )
    steps = [step for step in (view["last_step"], life[1] if life else None) if step is not None]
    front = {"hop": hop, "state": state, "ended_at": ended_at(view), "known_step": max(steps, default=None)}
    front["last_sign_of_life_at"] = instant_text(max(signs))
    return json.dumps(front)[:-1] + "," + document[1:]
