"""What is to be said of windows by now: the bodies of the revisions that their evidence makes."""

from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection

from gates.slo.checkpoints import SliceCounts
from gates.slo.definition import OnMissing
from gates.slo.exclusions import Exclusion, excluding
from gates.slo.heartbeats import HeartbeatCoverage, coverage
from gates.slo.revisions import settle
from gates.slo.windows import BreachReason, WindowOutcome, judge
from models.fields import instant_text
from models.slo.definitions import Published
from models.slo.evidence import gather
from models.slo.freshness import CountedDay, slices_of
from models.slo.left_out import exclusions_for
from models.slo.measured import Found
from models.slo.sources import Life, lives_of
from models.slo.stored import StoredWindow

MAX_NAMED: Final = 100
"""Records and runs that an outcome names."""
Body = dict[str, Any]
_NOTHING: Final = Found([])


def judge_windows(
    connection: Connection,
    published: Published,
    windows: Sequence[StoredWindow],
    kept: Container[str],
    recorded: Sequence[Exclusion],
    now: datetime,
) -> list[Body]:
    """Bodies of `window.settled` records, one for each window whose outcome is another than before. All windows are of
    this version of this SLO; `kept` are digests of reports whose bytes are there, `recorded` what approvers
    left out of the SLO."""
    if published.definition.objective == "freshness":
        counted = slices_of(connection, published, windows, now)
        return list(_by_slices(published, windows, counted, recorded, now))
    found = gather(connection, published, windows, kept, now)
    lives = _lives(connection, published, windows)
    return list(_by_evidence(published, windows, found, lives, recorded, now))


def _lives(
    connection: Connection, published: Published, windows: Sequence[StoredWindow]
) -> Sequence[Life] | None:
    """None when the definition names no source."""
    source = published.definition.source
    if source is None:
        return None
    start, end = min(each.opens_at for each in windows), max(each.due_at for each in windows)
    return lives_of(connection, published.namespace, [source], start, end).get(source, [])


def proven(window: StoredWindow, lives: Sequence[Life] | None) -> HeartbeatCoverage | None:
    """How much of the window its source was proven alive."""
    if lives is None:
        return None
    heartbeats = [beat for life in lives if life.began_at <= window.due_at for beat in life.heartbeats]
    return coverage(heartbeats, window.opens_at, window.due_at)


def _by_evidence(
    published: Published,
    windows: Sequence[StoredWindow],
    found: Mapping[str, Found],
    lives: Sequence[Life] | None,
    recorded: Sequence[Exclusion],
    now: datetime,
) -> Iterator[Body]:
    definition, left_out = published.definition, list(recorded)
    for window in windows:
        known = found.get(window.id, _NOTHING)
        expected = window.window
        exclusions = exclusions_for(published, left_out, window)
        shown = None if now < window.due_at else proven(window, lives)
        settled = settle(window.settled, expected, definition, known.items, shown, exclusions, now)
        if settled is not None:
            yield _body(published, window, settled.outcome, settled.settled_at, settled.restatement, known)
        elif window.status == "pending":
            outcome = judge(expected, definition, known.items, shown, exclusions, now)
            if outcome.status == "pending" and outcome.predicted != bool(window.predicted):
                yield _body(published, window, outcome, now, False, known)


def _body(
    published: Published,
    window: StoredWindow,
    outcome: WindowOutcome,
    judged_at: datetime,
    restatement: bool,
    known: Found,
) -> Body:
    missed = outcome.status in ("breached", "unknown") or outcome.predicted
    look_again = None
    if outcome.status == "unknown":
        look_again = instant_text(window.due_at + published.definition.settle)
    elif outcome.status == "pending":
        look_again = instant_text(window.due_at)
    body: Body = {
        "slo": window.slo,
        "version": window.version,
        "window": window.id,
        "revision": window.revision + 1,
        "status": outcome.status,
        "reason": outcome.reason,
        "lateness_seconds": outcome.lateness_s,
        "cause": outcome.cause,
        "layer": published.definition.layer if missed else None,
        "predicted": outcome.predicted,
        "restatement": restatement,
        "evidence": list(outcome.evidence[:MAX_NAMED]),
        "run_ids": list(outcome.run_ids[:MAX_NAMED]),
        "look_again": look_again,
        "judged_at": _text(judged_at),
    }
    return body | ({"measured": dict(known.measured)} if known.measured else {})


@lru_cache(maxsize=1_000)
def _text(when: datetime) -> str:
    return instant_text(when)


def _by_slices(
    published: Published,
    windows: Sequence[StoredWindow],
    counted: Mapping[str, CountedDay],
    recorded: Sequence[Exclusion],
    now: datetime,
) -> Iterator[Body]:
    definition = published.definition
    for window in windows:
        day = counted.get(window.id)
        if day is None or (now < window.deadline_at and not day.is_over):
            continue
        excluded = excluding(exclusions_for(published, list(recorded), window), window.window, now)
        settles = window.deadline_at + definition.settle
        counts, outcome = _of_slices(window, day.counts, definition.on_missing, now >= settles, excluded)
        weights = (0, 0, 0) if excluded else (counts.good, counts.bad, counts.unknown)
        if (window.status, window.good, window.bad, window.unsure) == (outcome.status, *weights):
            continue
        restated = window.revision > 0 and now >= settles and outcome.reason != "unresolved"
        body = _body(published, window, outcome, now, restated, _NOTHING)
        yield body | {"slices": {"good": counts.good, "bad": counts.bad, "unknown": counts.unknown}}


def _of_slices(
    window: StoredWindow,
    counts: SliceCounts,
    on_missing: OnMissing,
    is_settled: bool,
    excluded: Exclusion | None,
) -> tuple[SliceCounts, WindowOutcome]:
    """The slices as they count, and what they make of the window."""
    runs = (window.run_id,) if window.run_id else ()
    resolved = counts
    if on_missing == "exclude":
        resolved = SliceCounts(counts.good, counts.bad, 0)
    elif on_missing == "breach" or is_settled:
        resolved = SliceCounts(counts.good, counts.bad + counts.unknown, 0)
    if excluded is not None:
        return resolved, WindowOutcome("excluded", cause=f"exclusion:{excluded.id}", run_ids=runs)
    cause = None
    if window.revision and window.status != "pending":
        cause = "level_lost" if resolved.good < window.good else "late_evidence"
    if resolved.bad:
        reason: BreachReason = "late" if counts.bad else "unresolved"
        return resolved, WindowOutcome("breached", reason, cause=cause or "checkpoint_too_old", run_ids=runs)
    if resolved.unknown:
        return resolved, WindowOutcome("unknown", cause=cause or "run_silent", run_ids=runs)
    return resolved, WindowOutcome("met", cause=cause, run_ids=runs)
