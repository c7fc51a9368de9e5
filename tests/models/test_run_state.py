"""The state of a run at a moment, in Python and in SQL."""

from datetime import UTC, datetime, timedelta

import pytest

from models.bulk import insert_rows
from models.database import Database
from models.kinds.runs import RunState
from models.lineage.run_queries import RunFilter, list_runs
from models.lineage.run_state import PRESENT_STATES, present_state
from models.lineage.tables import Run, RunProgress
from tests.support.databases import DatabaseUrls
from tests.support.facts import run_id
from tests.support.templates import migrated

NOW = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("reported", "silent", "heartbeat_seconds", "expected"),
    [
        ("running", timedelta(seconds=600), 600, "running"),
        ("running", timedelta(seconds=600) + INSTANT, 600, "lost"),
        ("checkpointing", timedelta(days=2), 600, "lost"),
        ("resumed", timedelta(0), 1, "resumed"),
        ("running", timedelta(seconds=-5), 1, "running"),
        ("running", timedelta(0), None, "unknown"),
        ("queued", timedelta(days=400), None, "unknown"),
        ("queued", timedelta(days=400), 1, "queued"),
        ("preempted", timedelta(days=2), 600, "preempted"),
        ("completed", timedelta(days=400), 600, "completed"),
        ("failed", timedelta(days=400), None, "failed"),
        ("aborted", timedelta(days=400), 1, "aborted"),
    ],
)
def test_state_follows_the_end_then_the_silence(
    reported: str, silent: timedelta, heartbeat_seconds: int | None, expected: str
) -> None:
    assert present_state(reported, NOW - silent, heartbeat_seconds, NOW) == expected


def test_filter_by_state_agrees_with_the_state_shown(database_urls: DatabaseUrls) -> None:
    """Each run is found under its own state and under no other, also a microsecond from the limit."""
    silences = [
        timedelta(0),
        *(timedelta(seconds=60) + INSTANT * step for step in (-1, 0, 1)),
        timedelta(days=40),
    ]
    runs: list[dict[str, object]] = []
    progress: list[dict[str, object]] = []
    for state in RunState:
        for heartbeat in (None, 60, 30 * 86400):
            for silent in silences:
                for sign in (None, *silences):
                    runs.append(make_row(len(runs), str(state), NOW - silent, heartbeat))
                    if sign is not None:
                        progress.append(make_progress(len(runs) - 1, "rank-0", NOW - sign))
                        progress.append(make_progress(len(runs) - 1, "rank-1", NOW - timedelta(days=50)))
    database = filled(database_urls, runs, progress)
    seen: list[str] = []
    with database.read() as session:
        for present in PRESENT_STATES:
            found = list_runs(session, "team-a", RunFilter(state=present), NOW, None, len(runs))
            assert {run.state for run in found} == {present}
            seen += [run.run_id for run in found]
        everything = list_runs(session, "team-a", RunFilter(), NOW, None, len(runs) + 1)
    database.dispose()
    assert sorted(seen) == sorted(run.run_id for run in everything)
    assert len(seen) == len(runs)


def filled(urls: DatabaseUrls, runs: list[dict[str, object]], progress: list[dict[str, object]]) -> Database:
    database = migrated(urls)
    with database.connection() as connection:
        insert_rows(connection, Run, runs)
        insert_rows(connection, RunProgress, progress)
    return database


def make_row(
    number: int, state: str, last_event_at: datetime, heartbeat_seconds: int | None
) -> dict[str, object]:
    return {
        "namespace": "team-a",
        "run_id": run_id(number),
        "position": number,
        "job_namespace": "ci",
        "job_name": "train",
        "team": None,
        "owner": None,
        "state": state,
        "started_at": None,
        "ended_at": None,
        "last_event_at": last_event_at,
        "last_step": None,
        "heartbeat_seconds": heartbeat_seconds,
        "recipe_digest": None,
        "family_digest": None,
        "document": "{}",
    }


def make_progress(number: int, process: str, received_at: datetime) -> dict[str, object]:
    return {
        "namespace": "team-a",
        "run_id": run_id(number),
        "process": process,
        "step": 1,
        "phase": None,
        "received_at": received_at,
    }
