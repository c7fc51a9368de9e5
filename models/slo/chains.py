"""The attempts that make one piece of training: runs for the same data, each resumed from or a child of another."""

from collections import defaultdict
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, or_, select
from sqlmodel import col

from gates.slo.schedules import Interval
from models.bulk import as_asked
from models.columns import UTCDateTime, instant
from models.ledger.tables import Record
from models.lineage.run_state import OPEN_STATES
from models.lineage.tables import Run
from models.slo.ends import End, ends_of
from models.slo.evidence_tables import RunTiming
from models.slo.revoked import not_revoked

MAX_RUNS: Final = 50_000
"""Of one question; more attempts than that change no outcome."""
_MAX_LINKS: Final = 100
"""How often a chain is followed on; a thousand preemptions are a fault of their own."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run; `ends` in the order of time. `is_last`: no other run goes on from it."""

    run_id: str
    is_open: bool
    started_at: datetime | None
    record: str
    recorded_at: datetime
    ends: tuple[End, ...]
    is_last: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """All attempts for one data interval; `began_at` is when the first of them started."""

    interval: Interval
    attempts: tuple[Attempt, ...]

    @property
    def began_at(self) -> datetime | None:
        return min((each.started_at for each in self.attempts if each.started_at is not None), default=None)

    @property
    def run_ids(self) -> list[str]:
        return [each.run_id for each in self.attempts]


def named(namespace: str, name: str, wanted: str | None) -> bool:
    """Whether a job or data set is the one that a definition names: by its name, or by namespace/name."""
    return wanted is None or wanted in (name, f"{namespace}/{name}")


_WHERE_OVER: Final = (
    "SELECT run_id, interval_start, interval_end, continues FROM run_timing "
    "WHERE namespace = :namespace AND interval_end >= :first AND interval_start <= :last"
)
_OVER: Final = f"{_WHERE_OVER} LIMIT :most"
_OVER_OF_JOB: Final = (
    f"{_WHERE_OVER} AND (job_name = :job OR job_namespace || '/' || job_name = :job) LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class _Link:
    run_id: str
    interval: Interval | None
    continues: str | None


def chains_over(
    connection: Connection, namespace: str, job: str | None, intervals: Sequence[Interval]
) -> list[Chain]:
    """The chains that may cover one of these intervals: those whose own begins before the last one and ends after the
    first one does."""
    first = min(each.end for each in intervals)
    last = max(each.start for each in intervals)
    # Past SQLAlchemy's compiler: each SLO of which a window falls due asks it, and mostly nothing else.
    zoned = UTCDateTime().process_bind_param
    given: dict[str, Any] = {
        "namespace": namespace,
        "first": zoned(first, connection.dialect),
        "last": zoned(last, connection.dialect),
        "job": job,
        "most": MAX_RUNS,
    }
    query = as_asked(_OVER if job is None else _OVER_OF_JOB, connection.dialect.name)
    rows = connection.exec_driver_sql(query, given).all()
    roots = [
        _Link(run_id, _interval(instant(start), instant(end)), continues)
        for run_id, start, end, continues in rows
    ]
    return _chained(connection, namespace, job, roots)


def chains_of(connection: Connection, namespace: str, run_ids: Collection[str]) -> list[Interval]:
    """The data intervals of the chains that these runs belong to."""
    wanted, seen, found = set(run_ids), set[str](), set[tuple[datetime, datetime]]()
    for _ in range(_MAX_LINKS):
        if not wanted:
            break
        seen |= wanted
        links = _links(connection, namespace, None, col(RunTiming.run_id).in_(wanted))
        found |= {(each.interval.start, each.interval.end) for each in links if each.interval is not None}
        wanted = {each.continues for each in links if each.continues is not None} - seen
    return [Interval(*each) for each in sorted(found)]


def _links(
    connection: Connection, namespace: str, job: str | None, *conditions: ColumnElement[bool]
) -> list[_Link]:
    query = (
        select(
            col(RunTiming.run_id),
            col(RunTiming.interval_start),
            col(RunTiming.interval_end),
            col(RunTiming.continues),
            col(RunTiming.job_namespace),
            col(RunTiming.job_name),
        )
        .where(col(RunTiming.namespace) == namespace, *conditions)
        .limit(MAX_RUNS)
    )
    if job is not None:
        whole = col(RunTiming.job_namespace) + "/" + col(RunTiming.job_name)
        query = query.where(or_(col(RunTiming.job_name) == job, whole == job))
    return [
        _Link(row.run_id, _interval(row.interval_start, row.interval_end), row.continues)
        for row in connection.execute(query)
    ]


def _interval(start: datetime | None, end: datetime | None) -> Interval | None:
    return None if start is None or end is None else Interval(start, end)


def _chained(connection: Connection, namespace: str, job: str | None, roots: Sequence[_Link]) -> list[Chain]:
    """Followed on to what continues the roots, and back to what they continue. A run that names data of its own belongs
    to that, whatever it goes on from: a day's training that begins with the model of the day before is no attempt at
    that day's."""
    links = {each.run_id: each for each in roots if each.interval is not None}
    groups = {each.run_id: each.interval for each in links.values() if each.interval is not None}
    frontier = set(groups)
    for _ in range(_MAX_LINKS):
        if not frontier:
            break
        after = _links(connection, namespace, job, col(RunTiming.continues).in_(frontier))
        new = [each for each in after if each.interval is None and each.run_id not in groups]
        links |= {each.run_id: each for each in new}
        groups |= {each.run_id: groups[each.continues] for each in new if each.continues is not None}
        frontier = {each.run_id for each in new}
    frontier = set(links)
    for _ in range(_MAX_LINKS):
        goes_on = {each: links[each].continues for each in sorted(frontier)}
        wanted = {each for each in goes_on.values() if each is not None and each not in groups}
        if not wanted:
            break
        before = _unfinished(connection, namespace, wanted)
        links |= before
        for run_id, continues in goes_on.items():
            if continues in before and continues is not None:
                groups.setdefault(continues, groups[run_id])
        frontier = set(before)
    continued = {
        each.continues for each in links.values() if groups.get(each.continues or "") == groups[each.run_id]
    }
    attempts = _attempts(connection, namespace, job, groups, continued)
    by_interval: dict[tuple[datetime, datetime], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        interval = groups[attempt.run_id]
        by_interval[interval.start, interval.end].append(attempt)
    return [Chain(Interval(*bounds), tuple(each)) for bounds, each in by_interval.items()]


def _unfinished(connection: Connection, namespace: str, run_ids: Collection[str]) -> dict[str, _Link]:
    """Those of these runs that name no data of their own and did not complete: what completed was no attempt at
    something that came after it."""
    query = (
        select(col(Run.run_id), col(RunTiming.continues))
        .outerjoin(
            RunTiming,
            (col(RunTiming.run_id) == col(Run.run_id)) & (col(RunTiming.namespace) == col(Run.namespace)),
        )
        .where(
            col(Run.namespace) == namespace,
            col(Run.run_id).in_(list(run_ids)),
            col(Run.state) != "completed",
            col(RunTiming.interval_end).is_(None),
        )
    )
    return {row.run_id: _Link(row.run_id, None, row.continues) for row in connection.execute(query)}


def _attempts(
    connection: Connection,
    namespace: str,
    job: str | None,
    groups: Mapping[str, Interval],
    continued: Container[str | None],
) -> list[Attempt]:
    """Without those whose registration was taken back."""
    if not groups:
        return []
    ends = ends_of(connection, namespace, groups)
    found = []
    query = (
        select(
            col(Run.run_id),
            col(Run.job_namespace),
            col(Run.job_name),
            col(Run.state),
            col(Run.started_at),
            col(Record.digest),
            col(Record.recorded_at),
        )
        .join(Record, col(Record.position) == col(Run.position))
        .where(
            col(Run.namespace) == namespace,
            col(Run.run_id).in_(list(groups)),
            not_revoked(namespace, col(Record.digest)),
        )
        .order_by(col(Run.position))
    )
    for row in connection.execute(query):
        if named(row.job_namespace, row.job_name, job):
            found.append(
                Attempt(
                    run_id=row.run_id,
                    is_open=row.state in OPEN_STATES,
                    started_at=row.started_at,
                    record=row.digest,
                    recorded_at=row.recorded_at,
                    ends=tuple(ends.get(row.run_id, ())),
                    is_last=row.run_id not in continued,
                )
            )
    return found
