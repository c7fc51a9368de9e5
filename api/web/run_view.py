"""A run as a page shows it: can it be trusted, and what happened? Pure over what is stored of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api.web import links
from api.web.run_words import ENDED, RUN_STATES, SAFE_LEVELS, level_in_words
from api.web.templating import instant
from api.web.verdicts import Verdict
from api.web.words import Word, duration_in_words, marked, plural
from models.lineage.checkpoint_level import Verdict as LevelVerdict
from models.lineage.checkpoint_level import effective_level
from models.lineage.checkpoint_queries import Saved
from models.lineage.marks import Mark
from models.lineage.run_events import RunEvent
from models.lineage.run_queries import RunDetail, RunSummary
from shipworthy.formats.times import parse_instant

_NONE: Final = Word("none", "None", "open")
_TONES: Final = ("bad", "broken")
_STOPPED: Final = frozenset({"failed", "aborted", "lost", "preempted"})


@dataclass(frozen=True, slots=True)
class RunRow:
    word: Word
    run_id: str
    job: str
    team: str | None
    started: datetime | None
    took: str
    note: str
    href: str


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """`level` in words is what holds now; `is_safe`: somebody looked at its bytes."""

    step: int
    digest: str
    level: str
    is_safe: bool
    trained_until: datetime
    href: str


@dataclass(frozen=True, slots=True)
class AttemptRow:
    number: int
    word: Word
    started: datetime | None
    ended: datetime | None
    took: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """`blob` holds what did not fit into the event."""

    what: str
    detail: str
    when: datetime
    record: str
    blob: str | None


def run_row(run: RunSummary, effect: str | None) -> RunRow:
    """`effect` is what a revocation says of it."""
    return RunRow(
        word=RUN_STATES[run.state] if effect is None else marked(effect),
        run_id=run.run_id,
        job=f"{run.job_namespace}/{run.job_name}",
        team=run.team,
        started=run.started_at,
        took=_took(run.started_at, run.ended_at),
        note=f"at step {run.lost_at_step:,}" if run.lost_at_step is not None else "",
        href=links.run(run.run_id),
    )


def list_verdict(rows: Sequence[RunRow], *, is_filtered: bool) -> Verdict:
    bad = [row for row in rows if row.word.tone in ("bad", "broken")]
    if not rows:
        sentence = "No run fits these filters." if is_filtered else "No run was recorded yet."
        return Verdict(_NONE, sentence, "Show all." if is_filtered else "Record one with the command below.")
    listed = f"{plural(len(rows), 'run')} listed, the last registered first"
    if not bad:
        return Verdict(
            _NONE, f"{listed}.", "Open one, or look one up by id, commit or digest in the search box."
        )
    worst = min(bad, key=lambda row: _TONES.index(row.word.tone))
    sentence = f"{listed}: {len(bad):,} did not go well."
    return Verdict(worst.word, sentence, "Open one to see from which step it can go on.")


def run_verdict(run: RunDetail, marks: Sequence[Mark], checkpoints: Sequence[CheckpointRow]) -> Verdict:
    """Can it be trusted, and from where can it go on?"""
    summary = run.summary
    own = [mark for mark in marks if mark.kind == "run.registered"]
    if own:
        sentence = f"This run was {own[0].effect}: nothing that rests on it is evidence."
        return Verdict(marked(own[0].effect), sentence, own[0].reason)
    step = "" if summary.lost_at_step is None else f" at step {summary.lost_at_step:,}"
    sentence = {
        "completed": "This run completed.",
        "failed": "This run failed.",
        "aborted": "This run was aborted.",
        "lost": f"This run is lost{step}: last heard of {instant(summary.last_sign_of_life_at)}.",
        "unknown": "Whether this run lives is not known: it promised no sign of life.",
        "queued": "This run waits to start.",
        "preempted": "This run was preempted and waits to go on.",
    }.get(summary.state, f"This run is {RUN_STATES[summary.state].text.lower()}.")
    if marks:
        return Verdict(
            marked(marks[0].effect), sentence, f"A record of it was {marks[0].effect}: {marks[0].reason}"
        )
    return Verdict(RUN_STATES[summary.state], sentence, _next(summary, checkpoints))


def _next(summary: RunSummary, checkpoints: Sequence[CheckpointRow]) -> str:
    if summary.state == "completed":
        return "Nothing to do: what it made and what it was made of is below."
    safe = next((row for row in checkpoints if row.is_safe), None)
    if safe is not None:
        go_on = "It can go on from" if summary.state in _STOPPED else "Its last safe checkpoint is that of"
        return f"{go_on} step {safe.step:,} ({safe.level})."
    if checkpoints:
        return (
            f"Nobody has looked at the bytes of its checkpoints; the last one is of step {checkpoints[0].step:,}. "
            "Have it verified before anything goes on from it."
        )
    if summary.state in _STOPPED:
        return "It has no checkpoint: it starts from the beginning."
    return "It has no checkpoint yet: what it has done is lost if it stops."


def checkpoint_rows(
    saved: Sequence[Saved], verdicts: Mapping[str, Sequence[LevelVerdict]]
) -> list[CheckpointRow]:
    rows = []
    for each in saved:
        fact = json.loads(each.fact.document)
        level = effective_level([each.claim, *verdicts.get(fact["digest"], ())])
        rows.append(
            CheckpointRow(
                step=fact["step"],
                digest=fact["digest"],
                level=level_in_words(level),
                is_safe=level in SAFE_LEVELS,
                trained_until=parse_instant(fact["trained_until"]),
                href=links.checkpoint(fact["digest"]),
            )
        )
    return rows


def attempt_rows(view: Mapping[str, Any]) -> list[AttemptRow]:
    """The latest first."""
    rows = []
    for number in sorted(map(int, view["attempts"]), reverse=True):
        attempt = view["attempts"][str(number)]
        state = attempt["terminal"][0][1] if attempt["terminal"] else attempt["state"] or "running"
        started, ended = _time(attempt["started_at"]), _time(attempt["ended_at"])
        rows.append(AttemptRow(number, RUN_STATES[state], started, ended, _took(started, ended)))
    return rows


def event_row(event: RunEvent) -> EventRow:
    body = event.body
    match body["type"]:
        case "state":
            what = RUN_STATES[body["state"]].text
        case "attempt.started":
            what = "Attempt started"
        case kind:
            what = kind.replace(".", " ").replace("_", " ").capitalize()
    parts = [str(body[name]) for name in ("phase", "reason", "text") if isinstance(body.get(name), str)]
    parts += [f"step {body['step']:,}"] if body.get("step") is not None else []
    parts += [f"attempt {body['attempt']}"] if body.get("attempt", 1) > 1 else []
    return EventRow(what, ", ".join(parts), event.at, event.record, body.get("blob"))


def facts_of(run: RunDetail, view: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is said of the run itself."""
    summary, identity = run.summary, view["identity"]
    facts = [("Job", f"{summary.job_namespace}/{summary.job_name}")]
    facts += [("Team", summary.team)] if summary.team else []
    facts += [
        (name.replace("_", " ").capitalize(), str(identity[name]))
        for name in ("pipeline", "experiment", "priority", "initiated_by")
        if isinstance(identity.get(name), str | int)
    ]
    if summary.started_at is not None:
        facts.append(("Started", instant(summary.started_at)))
    at_step = "" if view.get("last_step") is None else f", at step {view['last_step']:,}"
    if summary.ended_at is not None:
        facts.append(
            (
                "Ended",
                f"{instant(summary.ended_at)}, after {_took(summary.started_at, summary.ended_at)}{at_step}",
            )
        )
    elif summary.state not in ENDED:
        facts.append(("Last heard of", instant(summary.last_sign_of_life_at)))
    facts += [
        (f"Last progress of {row.process}", _progress(row.step, row.phase, row.received_at))
        for row in run.progress[:8]
    ]
    if identity.get("data_interval"):
        interval = identity["data_interval"]
        facts.append(("Data interval", f"{interval['start']} to {interval['end']}"))
    facts += [(f"Tag {name}", str(value)) for name, value in view["tags"].items()]
    if view["conflicts"]:
        facts.append(("Stated differently", ", ".join(view["conflicts"])))
    return facts


def _progress(step: int | None, phase: str | None, received: datetime) -> str:
    parts = [f"step {step:,}" if step is not None else "", phase or "", instant(received)]
    return ", ".join(filter(None, parts))


def _took(started: datetime | None, ended: datetime | None) -> str:
    if started is None or ended is None:
        return ""
    return duration_in_words(max((ended - started).total_seconds(), 0))


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_instant(text)
