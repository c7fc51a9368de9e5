"""Everything that led to a window's outcome, as one answer."""

import json
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection
from sqlmodel import Session

from gates.slo.exclusions import excluding
from models.fields import instant_text
from models.ledger.record_queries import records_named
from models.slo.definitions import Published, slo_at
from models.slo.judging import proven
from models.slo.left_out import exclusions_for, recorded_exclusions
from models.slo.listed import revisions_of
from models.slo.near import near_runs
from models.slo.sources import lives_of
from models.slo.stored import StoredWindow, get_window

MAX_REVISIONS: Final = 500
"""A window that was judged more often shows its first ones."""


def explained(session: Session, namespace: str, slo: str, id: str, now: datetime) -> dict[str, Any]:
    """Raises NotFound. A dozen statements at most, whatever the window's history."""
    connection = session.connection()
    window = get_window(connection, namespace, slo, id)
    published = slo_at(connection, namespace, slo, window.version)
    revisions = revisions_of(connection, namespace, window.id, MAX_REVISIONS)
    shown = dict(window.shown)
    named = {record for each in revisions for record in json.loads(each.document)["evidence"]}
    records = records_named(connection, namespace, sorted(named | {window.expected}))
    return {
        **shown,
        "slo": {
            "name": slo,
            "version": published.version,
            "objective": published.definition.objective,
            "record": published.record,
        },
        "data_interval": _interval(window),
        "calendar": {"holidays": window.holidays, "tzdata": window.tzdata},
        "expected": {
            "record": window.expected,
            "recorded_at": instant_text(records[window.expected].recorded_at),
        },
        "due": instant_text(window.due_at),
        "revisions": [
            {
                "record": each.record,
                "recorded_at": instant_text(each.recorded_at),
                **{
                    name: value
                    for name, value in json.loads(each.document).items()
                    if name not in _OF_THE_WINDOW
                },
            }
            for each in revisions
        ],
        "evidence_records": [
            {
                "record": line.digest,
                "kind": line.kind,
                "level": line.level,
                "recorded_at": instant_text(line.recorded_at),
            }
            for record, line in records.items()
            if record in named
        ],
        "runs_near": near_runs(connection, published, window),
        "source": _source(connection, published, window),
        "exclusion": _exclusion(connection, published, window, now),
        "waits_for": _waits_for(published, window),
    }


_OF_THE_WINDOW: Final = frozenset(
    {"id", "opens_at", "deadline_utc", "deadline_local", "backfilled", "version"}
)


def _interval(window: StoredWindow) -> dict[str, str] | None:
    if window.interval_start is None or window.interval_end is None:
        return None
    return {"start": instant_text(window.interval_start), "end": instant_text(window.interval_end)}


def _source(connection: Connection, published: Published, window: StoredWindow) -> dict[str, Any] | None:
    name = published.definition.source
    if name is None:
        return None
    lives = lives_of(connection, published.namespace, [name], window.opens_at, window.due_at).get(name, [])
    shown = proven(window, lives)
    assert shown is not None
    gaps = [{"from": instant_text(gap.start), "to": instant_text(gap.end)} for gap in shown.gaps]
    return {
        "name": name,
        "coverage": float(shown.share),
        "proves_life": shown.proves_life,
        "last_seen": instant_text(shown.last_seen),
        "gaps": gaps,
    }


def _exclusion(
    connection: Connection, published: Published, window: StoredWindow, now: datetime
) -> dict[str, Any] | None:
    recorded = recorded_exclusions(connection, published.namespace, published.name)
    found = excluding(exclusions_for(published, recorded, window), window.window, now)
    if found is None:
        return None
    return {
        "id": found.id,
        "reason": found.reason,
        "approver": found.approver,
        "recorded_at": instant_text(found.recorded_at),
        "retroactive": found.retroactive,
        "planned": found.planned,
    }


def _waits_for(published: Published, window: StoredWindow) -> str | None:
    """What may still change the outcome without anybody's doing."""
    if window.look_at is None:
        return None
    if window.status == "pending":
        return f"evidence until {window.due_at:%Y-%m-%d %H:%M} UTC, when it is judged"
    return f"evidence until {window.look_at:%Y-%m-%d %H:%M} UTC, from when on it counts as missed"
