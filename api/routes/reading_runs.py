"""Runs: the list with its filters, one run with all that is known of it, and the pages of its facts."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, TypeVar, cast

from fastapi import Path, Query, Request
from fastapi.responses import Response
from sqlmodel import Session

from api.dependencies import CurrentActor
from api.pages import (
    DEFAULT_LIMIT,
    PAGE,
    After,
    Key,
    Limit,
    Scope,
    decode_cursor,
    decode_position,
    dump,
    extended,
    json_response,
    page,
)
from api.reading_route import reading_router
from api.schemas.reading import MAX_MARKS, marks_json, run_detail, run_summary
from api.services import services_of
from models.actor import Actor
from models.fields import Digest, Instant, Label, Line, instant_text
from models.ledger.record_queries import RecordLine, list_records
from models.lineage.marks import marks_at, marks_of_run
from models.lineage.queries import KEYS, Fact, FactOfRun, list_facts_of_run
from models.lineage.run_queries import RunFilter, get_run, list_runs, require_run
from models.lineage.run_state import PRESENT_STATES
from models.lineage.tables import Artifact, Checkpoint, Evaluation
from models.patterns import RUN_ID_PATTERN

router = reading_router("runs")

RunIdPath = Annotated[str, Path(pattern=RUN_ID_PATTERN, description="UUIDv7, lower case")]
PresentState = cast(type[StrEnum], StrEnum("PresentState", {name.upper(): name for name in PRESENT_STATES}))


@router.get(
    "/v1/runs", response_class=Response, responses=PAGE, summary="List runs, the last registered first"
)
def get_runs(
    request: Request,
    actor: CurrentActor,
    job_namespace: Label | None = None,
    job: Annotated[Line | None, Query(description="name of the job")] = None,
    team: Label | None = None,
    owner: Annotated[Label | None, Query(description="pseudonym of a key's owning person")] = None,
    state: Annotated[PresentState | None, Query(description="state at the moment")] = None,  # type: ignore[valid-type]
    recipe_digest: Digest | None = None,
    family_digest: Digest | None = None,
    started_after: Annotated[Instant | None, Query(description="started at this time or later")] = None,
    started_before: Annotated[Instant | None, Query(description="started before this time")] = None,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    filters = RunFilter(
        job_namespace=job_namespace,
        job=job,
        team=team,
        owner=owner,
        state=None if state is None else str(state),
        recipe_digest=recipe_digest,
        family_digest=family_digest,
        started_after=started_after,
        started_before=started_before,
    )
    given = {name: getattr(filters, name) for name in RunFilter.__slots__}
    scope: Scope = ["runs", actor.namespace, {name: _scope_value(value) for name, value in given.items()}]
    position = decode_position(scope, after)
    now = datetime.now(UTC)
    with services_of(request).database.read() as session:
        rows = list_runs(session, actor.namespace, filters, now, position, limit + 1)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope,
        rows,
        limit,
        lambda row: (row.position,),
        lambda row: dump(run_summary(row) | {"marks": marks_json(marks.get(row.position, ()))}),
    )


@router.get("/v1/runs/{run_id}", response_class=Response, summary="One run with its ingredients")
def get_one_run(run_id: RunIdPath, request: Request, actor: CurrentActor) -> Response:
    """The fold over its facts, its state at the moment, progress, the documents it names, and marks."""
    with services_of(request).database.read() as session:
        detail = get_run(session, actor.namespace, run_id, datetime.now(UTC))
        marks = marks_of_run(session, actor.namespace, run_id, MAX_MARKS + 1)
    return json_response(run_detail(detail, marks))


@router.get(
    "/v1/runs/{run_id}/checkpoints", response_class=Response, responses=PAGE, summary="Its checkpoints"
)
def get_checkpoints_of_run(
    run_id: RunIdPath,
    request: Request,
    actor: CurrentActor,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    return _facts(Checkpoint, run_id, request, actor, limit, after)


@router.get("/v1/runs/{run_id}/artifacts", response_class=Response, responses=PAGE, summary="Its products")
def get_artifacts_of_run(
    run_id: RunIdPath,
    request: Request,
    actor: CurrentActor,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    return _facts(Artifact, run_id, request, actor, limit, after)


@router.get(
    "/v1/runs/{run_id}/evaluations", response_class=Response, responses=PAGE, summary="Its evaluations"
)
def get_evaluations_of_run(
    run_id: RunIdPath,
    request: Request,
    actor: CurrentActor,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    return _facts(Evaluation, run_id, request, actor, limit, after)


@router.get("/v1/runs/{run_id}/records", response_class=Response, responses=PAGE, summary="Its records")
def get_records_of_run(
    run_id: RunIdPath,
    request: Request,
    actor: CurrentActor,
    limit: Limit = DEFAULT_LIMIT,
    after: After = None,
) -> Response:
    """Digest, kind and place of every record about the run; GET /v1/records/{digest} gives its bytes."""

    def read(session: Session, key: Key | None) -> list[RecordLine]:
        position = None if key is None else int(key[0])
        return list_records(session, actor.namespace, f"run:{run_id}", position, limit + 1)

    def render(row: RecordLine, marks: list[dict[str, Any]]) -> str:
        return dump(
            {
                "record": row.digest,
                "kind": row.kind,
                "position": row.position,
                "recorded_at": instant_text(row.recorded_at),
                "evidence_level": row.level,
                "marks": marks,
            }
        )

    cursor = Cursor("record", (int,), after, limit)
    return _of_run(run_id, request, actor, cursor, read, lambda row: (row.position,), render)


def _facts(
    table: FactOfRun,
    run_id: str,
    request: Request,
    actor: Actor,
    limit: int,
    after: str | None,
) -> Response:
    def read(session: Session, key: Key | None) -> list[Fact]:
        return list_facts_of_run(session, table, actor.namespace, run_id, key, limit + 1)

    def render(row: Fact, marks: list[dict[str, Any]]) -> str:
        return extended(row.document, {"position": row.position, "marks": marks})

    cursor = Cursor(table.__name__, tuple(kind for _, kind in KEYS[table]), after, limit)
    return _of_run(run_id, request, actor, cursor, read, lambda row: row.key, render)


_Line = TypeVar("_Line", RecordLine, Fact)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Which list is paged, the types of its key, and what the caller sent."""

    name: str
    kinds: tuple[type[int] | type[str], ...]
    after: str | None
    limit: int


def _of_run(
    run_id: str,
    request: Request,
    actor: Actor,
    cursor: Cursor,
    read: Callable[[Session, Key | None], list[_Line]],
    key: Callable[[_Line], Key],
    render: Callable[[_Line, list[dict[str, Any]]], str],
) -> Response:
    """A page of what belongs to a run: three statements. Raises RunNotFound."""
    scope = [cursor.name, actor.namespace, run_id]
    after = decode_cursor(scope, cursor.after, *cursor.kinds)
    with services_of(request).database.read() as session:
        require_run(session, actor.namespace, run_id)
        rows = read(session, after)
        marks = marks_at(session, actor.namespace, [row.position for row in rows])
    return page(
        scope,
        rows,
        cursor.limit,
        key,
        lambda row: render(row, marks_json(marks.get(row.position, ()))),
    )


def _scope_value(value: str | datetime | None) -> str | None:
    return instant_text(value) if isinstance(value, datetime) else value
