"""Days of live runs, and in how many slices of each the latest verified checkpoint was young enough.

A window is one run on one local date. What it counts for are its slices, not itself.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final, TypeVar

from sqlalchemy import ColumnElement, Connection, func, or_, select
from sqlmodel import col

from gates.release.values import LEVELS, Level
from gates.slo.checkpoints import CheckpointFact, SliceCounts, Stretch, slices, stretches
from gates.slo.schedules import Interval
from gates.slo.zones import opening, zone
from models.kinds.facts import LEVEL_ORDER, CheckpointLevel
from models.ledger.tables import Record
from models.lineage.checkpoint_level import Verdict, effective_level
from models.lineage.run_state import LOST, OPEN_STATES, UNKNOWN, present_state
from models.lineage.tables import Checkpoint, CheckpointVerification, Run, RunProgress
from models.slo.chains import named
from models.slo.definitions import Published
from models.slo.revoked import not_revoked
from models.slo.stored import StoredWindow
from shipworthy.formats.times import parse_instant

_Judged = TypeVar("_Judged")

MAX_LIVE_RUNS: Final = 5_000
MAX_DAYS: Final = 400
"""Of one run; one that lives on after that is judged by its last days."""

_LAST_SECOND: Final = timedelta(seconds=1)
"""A day's last slice begins before it, and by it the day is told from the next one."""


@dataclass(frozen=True, slots=True)
class LiveRun:
    """`ended_at` None: it goes on. `silent`: times in which nobody knows whether it lived."""

    run_id: str
    started_at: datetime
    ended_at: datetime | None
    silent: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class RunDay:
    """One local date of a run, from when it was live."""

    id: str
    run_id: str
    day: str
    opens_at: datetime
    deadline: datetime
    deadline_local: str


def live_runs(
    connection: Connection, namespace: str, job: str | None, now: datetime, run_ids: Collection[str] | None
) -> list[LiveRun]:
    """Runs of the job that have started: those of these ids, or for None all that go on."""
    condition: ColumnElement[bool] = (
        col(Run.state).in_(OPEN_STATES) if run_ids is None else col(Run.run_id).in_(list(run_ids))
    )
    query = (
        select(
            col(Run.run_id),
            col(Run.job_namespace),
            col(Run.job_name),
            col(Run.state),
            col(Run.started_at),
            col(Run.ended_at),
            col(Run.last_event_at),
            col(Run.heartbeat_seconds),
            func.max(col(RunProgress.received_at)).label("seen_at"),
        )
        .outerjoin(
            RunProgress,
            (col(RunProgress.run_id) == col(Run.run_id)) & (col(RunProgress.namespace) == col(Run.namespace)),
        )
        .where(col(Run.namespace) == namespace, col(Run.started_at).is_not(None), condition)
        .group_by(col(Run.namespace), col(Run.run_id))
        .order_by(col(Run.position).desc())
        .limit(MAX_LIVE_RUNS)
    )
    found = []
    for row in connection.execute(query) if run_ids is None or run_ids else ():
        if row.started_at is None or not named(row.job_namespace, row.job_name, job):
            continue
        is_open = row.state in OPEN_STATES
        seen = max(row.last_event_at, row.seen_at) if row.seen_at is not None else row.last_event_at
        state = present_state(row.state, seen, row.heartbeat_seconds, now)
        silent = (Interval(seen, now + timedelta(days=1)),) if state in (LOST, UNKNOWN) else ()
        ended = None if is_open else row.ended_at or row.last_event_at
        if ended is not None and row.seen_at is not None:
            # Whoever gave a sign of life had not ended before, whatever its end says.
            ended = max(ended, row.seen_at)
        found.append(LiveRun(row.run_id, row.started_at, ended, silent))
    return found


def run_days(published: Published, run: LiveRun, now: datetime) -> Iterator[RunDay]:
    """The local dates on which a run was live up to now, from when its age was promised."""
    where = zone(published.definition.time_zone)
    start = max(run.started_at, published.since)
    end = min(now, run.ended_at or now)
    if start > end:
        return
    first, last = start.astimezone(where).date(), end.astimezone(where).date()
    day = max(first, last - timedelta(days=MAX_DAYS))
    while day <= last:
        following = day + timedelta(days=1)
        closes = opening(datetime.combine(following, time()), where)
        yield RunDay(
            id=f"{published.name}/{run.run_id}/{day.isoformat()}",
            run_id=run.run_id,
            day=day.isoformat(),
            opens_at=max(start, opening(datetime.combine(day, time()), where)),
            deadline=closes - _LAST_SECOND,
            deadline_local=(closes - _LAST_SECOND).astimezone(where).isoformat(timespec="seconds"),
        )
        day = following


def checkpoint_facts(
    connection: Connection, namespace: str, run_ids: Collection[str], least: Level
) -> Mapping[str, list[CheckpointFact]]:
    """By run: the levels that its checkpoints have, and since when. A level that was lost was never there. That a check
    passed counts from evidence of level `least` or better, that it failed from anybody, and up to checksummed the word
    of whoever saved it is enough."""
    query = (
        select(
            col(Checkpoint.run_id),
            col(Checkpoint.digest),
            col(Checkpoint.trained_until),
            col(Checkpoint.level),
            col(Checkpoint.document),
        )
        .join(Record, col(Record.position) == col(Checkpoint.position))
        .where(
            col(Checkpoint.run_id).in_(list(run_ids)),
            col(Checkpoint.namespace) == namespace,
            not_revoked(namespace, col(Record.digest)),
        )
    )
    saved = connection.execute(query).all() if run_ids else ()
    verdicts = _verdicts(connection, namespace, {row.digest for row in saved}, least)
    found: dict[str, list[CheckpointFact]] = defaultdict(list)
    for row in saved:
        document = json.loads(row.document)
        stated = document.get("save_completed_at") or document.get("save_started_at")
        claimed_at = row.trained_until if stated is None else parse_instant(stated)
        claim = Verdict(CheckpointLevel(row.level), True, claimed_at, document["evidence_level"])
        found[row.run_id] += _levels(row.trained_until, [claim, *verdicts.get(row.digest, ())])
    return found


def _verdicts(
    connection: Connection, namespace: str, digests: Collection[str], least: Level
) -> Mapping[str, Sequence[Verdict]]:
    enough = LEVELS[: LEVELS.index(least) + 1]
    table = CheckpointVerification
    query = select(
        col(table.checkpoint),
        col(table.level),
        col(table.outcome),
        col(table.checked_at),
        col(table.evidence_level),
    ).where(
        col(table.namespace) == namespace,
        col(table.checkpoint).in_(list(digests)),
        or_(col(table.outcome) != "passed", col(table.evidence_level).in_(enough)),
        not_revoked(namespace, col(table.record)),
    )
    found: dict[str, list[Verdict]] = defaultdict(list)
    for checkpoint, level, outcome, checked_at, evidence in connection.execute(query) if digests else ():
        found[checkpoint].append(Verdict(CheckpointLevel(level), outcome == "passed", checked_at, evidence))
    return found


def _levels(state_time: datetime, verdicts: Sequence[Verdict]) -> Iterator[CheckpointFact]:
    reached = effective_level(verdicts)
    if reached is None:
        return
    for level in LEVEL_ORDER[: LEVEL_ORDER.index(reached) + 1]:
        passed = [each.checked_at for each in verdicts if each.passed and each.level == level]
        if passed:
            yield CheckpointFact(state_time, level.value, min(passed))


@dataclass(frozen=True, slots=True)
class CountedDay:
    """`is_over`: the run has ended, and no further slice will come."""

    counts: SliceCounts
    is_over: bool


def slices_of(
    connection: Connection, published: Published, windows: Sequence[StoredWindow], now: datetime
) -> Mapping[str, CountedDay]:
    """By window: the slices that are over by now."""
    return {
        id: CountedDay(counts, run.ended_at is not None and run.ended_at <= now)
        for id, run, counts in _by_window(slices, connection, published, windows, now)
    }


def stretches_of(
    connection: Connection, published: Published, windows: Sequence[StoredWindow], now: datetime
) -> Mapping[str, list[Stretch]]:
    """By window: the slices that `slices_of` counts, one by one."""
    return {id: found for id, _, found in _by_window(stretches, connection, published, windows, now)}


def _by_window(
    judge: Callable[..., _Judged],
    connection: Connection,
    published: Published,
    windows: Sequence[StoredWindow],
    now: datetime,
) -> Iterator[tuple[str, LiveRun, _Judged]]:
    definition, namespace = published.definition, published.namespace
    required, max_age = definition.evidence.checkpoint_level, definition.limits.max_age
    assert required is not None
    assert max_age is not None
    run_ids = sorted({each.run_id for each in windows if each.run_id is not None})
    runs = {each.run_id: each for each in live_runs(connection, namespace, None, now, run_ids)}
    facts = checkpoint_facts(connection, namespace, run_ids, definition.evidence.level)
    for window in windows:
        run = runs.get(window.run_id or "")
        if run is None:
            continue
        judged = judge(
            run.started_at,
            run.ended_at,
            facts.get(run.run_id, ()),
            required,
            max_age,
            window.opens_at,
            window.deadline_at,
            as_of=now,
            unknown=run.silent,
        )
        yield window.id, run, judged
