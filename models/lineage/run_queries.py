"""Reading runs: lists by keyset on the log position, newest first, and one run with what is known of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    and_,
    cast,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
    text,
)
from sqlalchemy.orm import Mapped
from sqlmodel import Session, col

from models.columns import UTCDateTime
from models.errors import RunNotFound
from models.lineage.made_of import PARTS
from models.lineage.run_state import LOST, OPEN_STATES, UNKNOWN, WAITING_STATES, present_state
from models.lineage.tables import Ingredient, Run, RunProgress

RUN_NOT_FOUND = "no run with this id in this namespace; list them with GET /v1/runs"
# As the index of open runs says it, to the letter: SQLite takes an index only for the condition that it was made with.
_OPEN: Final = text("run.state NOT IN ('completed', 'failed', 'aborted')")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """None means any. The start lies in [started_after, started_before); `state` is that at the moment."""

    job_namespace: str | None = None
    job: str | None = None
    team: str | None = None
    owner: str | None = None
    state: str | None = None
    recipe_digest: str | None = None
    family_digest: str | None = None
    started_after: datetime | None = None
    started_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`state` is the state at the moment it was read; `lost_at_step` is the largest step that is known."""

    run_id: str
    position: int
    job_namespace: str
    job_name: str
    team: str | None
    owner: str | None
    state: str
    reported_state: str
    started_at: datetime | None
    ended_at: datetime | None
    last_sign_of_life_at: datetime
    lost_at_step: int | None
    recipe_digest: str | None
    family_digest: str | None


@dataclass(frozen=True, slots=True)
class ProgressRow:
    process: str
    step: int | None
    phase: str | None
    received_at: datetime


@dataclass(frozen=True, slots=True)
class RunDetail:
    """`document` is the run's view as JSON text, `ingredients` the documents that it names, by digest."""

    summary: RunSummary
    document: str
    progress: list[ProgressRow]
    ingredients: Mapping[str, str]


def list_runs(
    session: Session, namespace: str, filters: RunFilter, now: datetime, after: int | None, limit: int
) -> list[RunSummary]:
    """Runs registered before log position `after`, newest first; one statement."""
    statement = _summaries(namespace).order_by(col(Run.position).desc()).limit(limit)
    if after is not None:
        statement = statement.where(col(Run.position) < after)
    statement = statement.where(*_conditions(session, filters, now))
    return [_summary(row, now) for row in session.connection().execute(statement)]


def require_run(session: Session, namespace: str, run_id: str) -> None:
    """Raises RunNotFound."""
    statement = select(col(Run.run_id)).where(col(Run.namespace) == namespace, col(Run.run_id) == run_id)
    if session.connection().execute(statement).first() is None:
        raise RunNotFound(RUN_NOT_FOUND)


def get_run(session: Session, namespace: str, run_id: str, now: datetime) -> RunDetail:
    """Raises RunNotFound. Three statements, however many facts the run has."""
    statement = _summaries(namespace).add_columns(col(Run.document)).where(col(Run.run_id) == run_id)
    row = session.connection().execute(statement).first()
    if row is None:
        raise RunNotFound(RUN_NOT_FOUND)
    view = json.loads(row.document)
    digests = [view["ingredients"][part] for part in PARTS if part in view["ingredients"]]
    return RunDetail(
        _summary(row, now),
        row.document,
        _progress(session, namespace, run_id),
        _ingredients(session, namespace, [*digests, *view["transformations"]]),
    )


def _progress(session: Session, namespace: str, run_id: str) -> list[ProgressRow]:
    """One row a process; the number of processes is the client's and small."""
    statement = (
        select(
            col(RunProgress.process),
            col(RunProgress.step),
            col(RunProgress.phase),
            col(RunProgress.received_at),
        )
        .where(col(RunProgress.namespace) == namespace, col(RunProgress.run_id) == run_id)
        .order_by(col(RunProgress.process))
    )
    return [ProgressRow(*row) for row in session.connection().execute(statement)]


def _ingredients(session: Session, namespace: str, digests: list[str]) -> Mapping[str, str]:
    statement = select(col(Ingredient.digest), col(Ingredient.document)).where(
        col(Ingredient.namespace) == namespace, col(Ingredient.digest).in_(digests)
    )
    return {row.digest: row.document for row in session.connection().execute(statement)}


def _summaries(namespace: str) -> Select[*tuple[Any, ...]]:
    of_run = and_(
        col(RunProgress.namespace) == col(Run.namespace), col(RunProgress.run_id) == col(Run.run_id)
    )
    return select(
        col(Run.run_id),
        col(Run.position),
        col(Run.job_namespace),
        col(Run.job_name),
        col(Run.team),
        col(Run.owner),
        col(Run.state),
        col(Run.started_at),
        col(Run.ended_at),
        col(Run.last_event_at),
        col(Run.heartbeat_seconds),
        col(Run.recipe_digest),
        col(Run.family_digest),
        select(func.max(col(RunProgress.received_at))).where(of_run).scalar_subquery().label("received_at"),
        select(func.max(col(RunProgress.step))).where(of_run).scalar_subquery().label("progress_step"),
        col(Run.last_step),
    ).where(col(Run.namespace) == namespace)


def _summary(row: Any, now: datetime) -> RunSummary:  # noqa: ANN401 - a row of `_summaries`
    signs = [when for when in (row.last_event_at, row.received_at) if when is not None]
    state = present_state(row.state, max(signs), row.heartbeat_seconds, now)
    steps = [step for step in (row.progress_step, row.last_step) if step is not None]
    return RunSummary(
        run_id=row.run_id,
        position=row.position,
        job_namespace=row.job_namespace,
        job_name=row.job_name,
        team=row.team,
        owner=row.owner,
        state=state,
        reported_state=row.state,
        started_at=row.started_at,
        ended_at=row.ended_at,
        last_sign_of_life_at=max(signs),
        lost_at_step=max(steps, default=None) if state == LOST else None,
        recipe_digest=row.recipe_digest,
        family_digest=row.family_digest,
    )


def _conditions(session: Session, filters: RunFilter, now: datetime) -> list[ColumnElement[bool]]:
    equal: list[tuple[Any, str | None]] = [
        (col(Run.job_namespace), filters.job_namespace),
        (col(Run.job_name), filters.job),
        (col(Run.team), filters.team),
        (col(Run.owner), filters.owner),
        (col(Run.recipe_digest), filters.recipe_digest),
        (col(Run.family_digest), filters.family_digest),
    ]
    conditions: list[ColumnElement[bool]] = [column == value for column, value in equal if value is not None]
    if filters.started_after is not None:
        conditions.append(col(Run.started_at) >= filters.started_after)
    if filters.started_before is not None:
        conditions.append(col(Run.started_at) < filters.started_before)
    if filters.state is not None:
        conditions.append(_in_state(session, filters.state, now))
    return conditions


def _in_state(session: Session, state: str, now: datetime) -> ColumnElement[bool]:
    """`present_state` in SQL."""
    promised = col(Run.heartbeat_seconds).is_not(None)
    is_open = _OPEN
    if state == UNKNOWN:
        return and_(is_open, not_(promised))
    if state in WAITING_STATES:
        return and_(is_open, col(Run.state) == state, promised)
    if state not in OPEN_STATES and state != LOST:
        return col(Run.state) == state
    is_sqlite = session.connection().dialect.name == "sqlite"
    lives = or_(
        _outlasts(col(Run.last_event_at), is_sqlite, now),
        exists().where(
            col(RunProgress.namespace) == col(Run.namespace),
            col(RunProgress.run_id) == col(Run.run_id),
            _outlasts(col(RunProgress.received_at), is_sqlite, now),
        ),
    )
    if state == LOST:
        return and_(is_open, col(Run.state).not_in(WAITING_STATES), promised, not_(lives))
    return and_(is_open, col(Run.state) == state, promised, lives)


def _outlasts(sign: Mapped[datetime], is_sqlite: bool, now: datetime) -> ColumnElement[bool]:
    """Whether a sign of life plus the heartbeat limit reaches `now`, exact to the microsecond on both."""
    if not is_sqlite:
        limit = func.make_interval(0, 0, 0, 0, 0, 0, col(Run.heartbeat_seconds))
        return sign >= literal(now, UTCDateTime) - limit
    # SQLite's time functions round to milliseconds: they move whole seconds, the fraction is added as text.
    shift = cast(col(Run.heartbeat_seconds), String).concat(" seconds")
    whole = func.strftime("%Y-%m-%d %H:%M:%S", func.substr(sign, 1, 19, type_=String), shift, type_=String)
    return whole.concat(func.substr(sign, 20, type_=String)) >= literal(now, UTCDateTime)
