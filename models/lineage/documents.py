"""Stored JSON documents that lineage answers are put together from, in one statement whatever their number."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from models.fields import instant_text
from models.kinds.table_lineage import model_subject
from models.lineage.history import view_as_of
from models.lineage.question import NOW, Question
from models.lineage.run_state import present_state
from models.lineage.run_view import View, ended_at, heartbeat_seconds, reported_state
from models.lineage.statements import gather, rest_statement
from models.lineage.traversal import SignOfLife, Traversal
from shipworthy.formats.times import parse_instant

MAX_CHECKPOINTS: Final = 100
MAX_EVALUATIONS: Final = 200
MAX_DECISIONS: Final = 100


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run's view, and the JSON text that answers show of it."""

    view: View
    text: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """Which lineage manifest of a model version stood at that time."""

    digest: str
    revision: int
    position: int


@dataclass(frozen=True, slots=True)
class Rest:
    """JSON texts by digest or in the order of the answer; of checkpoints and evaluations one more than
    MAX_CHECKPOINTS and MAX_EVALUATIONS tells that there are more."""

    note: str
    size: int
    ingredients: Mapping[str, str]
    snapshots: Mapping[str, str]
    checkpoints: list[str]
    evaluations: list[str]
    revocations: list[str]
    decisions: list[str]
    """About the artifact of the version, newest first."""
    manifest: Sealed | None
    is_checked: bool
    """Whether there are contract checks of the data."""


def shown_runs(connection: Connection, question: Question, found: Traversal) -> dict[str, ShownRun]:
    """Each run by id, nearest first; runs unknown at that time are left out. `as_of` costs a statement a run."""
    shown: dict[str, ShownRun] = {}
    for run_id in sorted(found.hops, key=lambda run_id: (found.hops[run_id], run_id)):
        if question.as_of < NOW:
            known = view_as_of(connection, question.namespace, run_id, question.as_of)
            if known is None:
                continue
            view, document = known, orjson.dumps(known).decode()
        elif run_id in found.documents:
            document = found.documents[run_id]
            view = orjson.loads(document)
        else:
            continue
        front = _front(question, found.hops[run_id], view, found.signs_of_life.get(run_id))
        shown[run_id] = ShownRun(view, f"{orjson.dumps(front).decode()[:-1]},{document[1:]}")
    return shown


def read_rest(
    connection: Connection,
    question: Question,
    found: Traversal,
    ingredients: Collection[str],
    data: Collection[str],
    checked: Collection[str],
) -> Rest:
    """What the walk's runs rest on and what was said about them. `ingredients` and `data` are digests of documents,
    `checked` those whose contract checks count."""
    given: dict[str, object] = {}
    if found.version is not None:
        name = found.version.name
        given = {"registry": name.registry, "model": name.model, "version": name.version}
        given["artifact"] = found.version.artifact
    rows = gather(
        connection,
        rest_statement(of_version=found.version is not None),
        namespace=question.namespace,
        as_of=question.as_of,
        run=found.start,
        ingredients=list(ingredients),
        data=list(data),
        checked=list(checked),
        subjects=_subjects(found),
        checkpoints=MAX_CHECKPOINTS + 1,
        evaluations=MAX_EVALUATIONS + 1,
        decisions=MAX_DECISIONS + 1,
        **given,
    )
    _, note, size, *_ = rows["head"][0]
    sealed = [Sealed(digest, revision, position) for _, digest, revision, position, _ in rows["manifest"]]
    return Rest(
        note=note,
        size=size,
        ingredients=_by_name(rows["ingredient"]),
        snapshots=_by_name(rows["snapshot"]),
        checkpoints=_ordered(rows["checkpoint"], lambda row: (-row[2], row[1])),
        # By the run and of the artifact: the same one may be both.
        evaluations=_ordered(set(rows["evaluation"]), lambda row: (-row[3], row[1])),
        revocations=_ordered(rows["revocation"], lambda row: (row[3], row[1])),
        decisions=_ordered(rows["decision"], lambda row: -row[3]),
        manifest=sealed[0] if sealed else None,
        is_checked=bool(rows["checked"]),
    )


def _subjects(found: Traversal) -> list[str]:
    """Under what the records behind this answer are filed: "run:…", "model:…", "digest:…"."""
    subjects = {f"run:{run_id}" for run_id in found.hops}
    subjects |= {f"digest:{link.digest}" for link in found.links if link.direction == "out"}
    if found.version is not None:
        name = found.version.name
        subjects.add(model_subject(name.registry, name.model, name.version))
    return sorted(subjects)


def _by_name(rows: Collection[Any]) -> dict[str, str]:
    return {name: document for _, name, _, _, document in sorted(rows)}


def _ordered(rows: Collection[Any], key: Callable[[Any], Any]) -> list[str]:
    return [row[4] for row in sorted(rows, key=key)]


def _front(question: Question, hop: int, view: View, life: SignOfLife | None) -> dict[str, Any]:
    """A run's distance and its state at this moment, which answers show before the rest of its document."""
    signs = [parse_instant(min(view["last_event_at"] or view["received_at"], view["received_at"]))]
    if life is not None:
        signs.append(life.received_at)
    state = present_state(
        reported_state(view), max(signs), heartbeat_seconds(view["identity"].get("heartbeat")), question.now
    )
    steps = [step for step in (view["last_step"], life.step if life else None) if step is not None]
    return {
        "hop": hop,
        "state": state,
        "ended_at": ended_at(view),
        "known_step": max(steps, default=None),
        "last_sign_of_life_at": instant_text(max(signs)),
    }
