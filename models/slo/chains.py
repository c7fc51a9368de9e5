"""The attempts that make one piece of training: runs for the same data, each resumed from or a child of another."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, or_, select
from sqlmodel import col

from gates.slo.schedules import Interval
from models.ledger.tables import Record
from models.lineage.run_state import OPEN_STATES
from models.lineage.tables import Run
from models.slo.evidence_tables import RunEnd, RunTiming
from models.slo.revoked import not_revoked

MAX_RUNS: Final = 50_000
"""Of one question; more attempts than that change no outcome."""
_MAX_LINKS: Final = 100
"""How often a chain is followed on; a thousand preemptions are a fault of their own."""


@dataclass(frozen=True, slots=True)
class End:
    """An end of an attempt as it was reported."""

    at: datetime
    completed: bool
    record: str
    recorded_at: datetime


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
    roots = _links(
        connection,
        namespace,
        job,
        col(RunTiming.interval_end) >= first,
        col(RunTiming.interval_start) <= last,
    )
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


def _chained(connection: Connection, namespace: str, job: str | None, roots: Iterable[_Link]) -> list[Chain]:
    """Followed on to what continues the roots, and back to what they continue."""
    groups: dict[str, Interval] = {each.run_id: each.interval for each in roots if each.interval is not None}
    if not groups:
        return []
    continued = {each.continues: each.run_id for each in roots if each.continues is not None}
    frontier = set(groups)
    for _ in range(_MAX_LINKS):
        if not frontier:
            break
        links = _links(connection, namespace, job, col(RunTiming.continues).in_(frontier))
        frontier = set()
        for link in links:
            if link.continues is None:
                continue
            continued[link.continues] = link.run_id
            # One that names data of its own belongs to that.
            if link.run_id not in groups and link.interval is None:
                groups[link.run_id] = groups[link.continues]
                frontier.add(link.run_id)
    for before, after in continued.items():
        if before not in groups and after in groups:
            groups[before] = groups[after]
    attempts = _attempts(connection, namespace, job, groups, continued)
    by_interval: dict[tuple[datetime, datetime], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        interval = groups[attempt.run_id]
        by_interval[interval.start, interval.end].append(attempt)
    return [Chain(Interval(*bounds), tuple(each)) for bounds, each in by_interval.items()]


def _attempts(
    connection: Connection,
    namespace: str,
    job: str | None,
    groups: Mapping[str, Interval],
    continued: Mapping[str, str],
) -> list[Attempt]:
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
        .where(col(Run.namespace) == namespace, col(Run.run_id).in_(list(groups)))
        .order_by(col(Run.position))
    )
    for row in connection.execute(query) if groups else ():
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


def ends_of(connection: Connection, namespace: str, run_ids: Collection[str]) -> Mapping[str, Sequence[End]]:
    """Reported ends by run, the one that counts last; without those that were taken back."""
    query = (
        select(
            col(RunEnd.run_id),
            col(RunEnd.ended_at),
            col(RunEnd.state),
            col(RunEnd.record),
            col(RunEnd.recorded_at),
        )
        .where(
            col(RunEnd.namespace) == namespace,
            col(RunEnd.run_id).in_(list(run_ids)),
            not_revoked(namespace, col(RunEnd.record)),
        )
        .order_by(col(RunEnd.run_id), col(RunEnd.attempt), col(RunEnd.ended_at), col(RunEnd.state))
    )
    found: dict[str, list[End]] = defaultdict(list)
    for row in connection.execute(query) if run_ids else ():
        found[row.run_id].append(End(row.ended_at, row.state == "completed", row.record, row.recorded_at))
    return found
