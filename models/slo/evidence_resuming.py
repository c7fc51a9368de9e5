"""What was lost when a job went on after a preemption: steps since the checkpoint, and whether the data went on there.

How far the job had come is known from its events, its checkpoints and its last signs of life; how long a step takes
from two of them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select
from sqlmodel import col

from gates.slo.resuming import Progress, ResumeLoss, Resumption, resume_loss, step_seconds
from gates.slo.windows import EvidenceItem
from models.kinds.facts import CheckpointPart
from models.kinds.runs import RunEventFact, RunRegistered
from models.ledger.reading import entries_about
from models.lineage.tables import Checkpoint, RunProgress
from models.slo.definitions import Published
from models.slo.measured import Found
from models.slo.stored import StoredWindow

_EVERYTHING = 2**62


@dataclass(frozen=True, slots=True)
class _Saved:
    digest: str
    step: int
    trained_until: datetime
    contains: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of one run: the events with a step, its registration and its checkpoints."""

    events: Sequence[RunEventFact]
    registration: RunRegistered | None
    saved: Sequence[_Saved]
    alive: Sequence[Progress]

    def before(self, when: datetime | None) -> list[Progress]:
        """Signs of progress before an instant."""
        seen = [Progress(each.at, each.step) for each in self.events if each.step is not None]
        seen += [Progress(each.trained_until, each.step) for each in self.saved]
        return [each for each in (*seen, *self.alive) if when is None or each.at < when]


def resumptions(
    connection: Connection, published: Published, windows: Sequence[StoredWindow]
) -> Mapping[str, Found]:
    """Each window is one resumption of a run: from another run, or by a further attempt of its own."""
    limit = published.definition.limits.max_loss
    assert limit is not None
    seen: dict[str, _Seen] = {}

    def known(run_id: str) -> _Seen:
        if run_id not in seen:
            seen[run_id] = _seen(connection, published.namespace, run_id)
        return seen[run_id]

    found = {}
    for window in windows:
        if window.run_id is None:
            continue
        run = known(window.run_id)
        attempt = window.id.rpartition("/")[2]
        if attempt.isdigit():
            resumption = _own(run, int(attempt), window.deadline_at)
        else:
            registered = run.registration
            resumed = None if registered is None else registered.resumed_from
            if resumed is None:
                continue
            before = run if resumed.run_id is None else known(resumed.run_id)
            # By the clock of the program itself, as all that it did before.
            at = run.registration.started_at if run.registration is not None else None
            resumption = _from_other(before, resumed.checkpoint, at or window.deadline_at)
        found[window.id] = _found(window, resume_loss(resumption, limit))
    return found


def _found(window: StoredWindow, loss: ResumeLoss) -> Found:
    measured: dict[str, int | float | str | bool | None] = {"sentence": loss.sentence}
    measured |= {
        name: value
        for name, value in (("steps_lost", loss.steps), ("seconds_lost", loss.seconds))
        if value is not None
    }
    if loss.good is None:
        return Found([], measured)
    item = EvidenceItem(
        at=window.deadline_at,
        recorded_at=window.deadline_at,
        good=loss.good,
        record=window.about or window.expected,
        final=not loss.good,
        run_id=window.run_id,
        measured=loss.seconds,
    )
    return Found([item], measured)


def _own(run: _Seen, attempt: int, seen_at: datetime) -> Resumption:
    """A further attempt of the same run: it says at which step it goes on, or goes on from the last checkpoint. Nothing
    goes on from behind the last checkpoint that there is, whatever it says."""
    started = [each for each in run.events if each.attempt == attempt and each.type == "attempt.started"]
    # By the clock of the program itself, as all that it did before.
    at = min((each.at for each in started), default=seen_at)
    before = run.before(at)
    step = next((each.step for each in started if each.step is not None), None)
    saved = [each for each in run.saved if each.trained_until < at and (step is None or each.step <= step)]
    checkpoint = max(saved, key=lambda each: (each.step, each.digest), default=None)
    resumed = step or 0
    if checkpoint is not None:
        resumed = checkpoint.step if step is None else min(step, checkpoint.step)
    return Resumption(_furthest(before, run), resumed, step_seconds(before), _position(checkpoint))


def _from_other(before: _Seen, checkpoint: str, at: datetime) -> Resumption:
    progress = before.before(at)
    found = next((each for each in before.saved if each.digest == checkpoint), None)
    return Resumption(
        _furthest(progress, before),
        0 if found is None else found.step,
        step_seconds(progress),
        _position(found),
    )


def _furthest(progress: Sequence[Progress], run: _Seen) -> int | None:
    """None when nothing but checkpoints is known: what was done after the last of them is what may be lost."""
    saved = {(each.trained_until, each.step) for each in run.saved}
    if all((each.at, each.step) in saved for each in progress):
        return None
    return max(each.step for each in progress)


def _position(checkpoint: _Saved | None) -> bool | None:
    if checkpoint is None or not checkpoint.contains:
        return None
    return CheckpointPart.DATA_POSITION in checkpoint.contains


def _seen(connection: Connection, namespace: str, run_id: str) -> _Seen:
    events: list[RunEventFact] = []
    registration: RunRegistered | None = None
    for entry in entries_about(connection, namespace, f"run:{run_id}", _EVERYTHING):
        if isinstance(entry.fact, RunRegistered):
            if registration is None or registration.resumed_from is None:
                registration = entry.fact
            events += entry.fact.events
        elif isinstance(entry.fact, RunEventFact):
            events.append(entry.fact)
    query = select(
        col(Checkpoint.digest), col(Checkpoint.step), col(Checkpoint.trained_until), col(Checkpoint.document)
    ).where(col(Checkpoint.namespace) == namespace, col(Checkpoint.run_id) == run_id)
    saved = [
        _Saved(row.digest, row.step, row.trained_until, json.loads(row.document).get("contains") or ())
        for row in connection.execute(query)
    ]
    return _Seen(events, registration, saved, list(_alive(connection, namespace, run_id)))


def _alive(connection: Connection, namespace: str, run_id: str) -> Iterable[Progress]:
    query = select(col(RunProgress.received_at), col(RunProgress.step)).where(
        col(RunProgress.namespace) == namespace, col(RunProgress.run_id) == run_id
    )
    for received_at, step in connection.execute(query):
        if step is not None:
            yield Progress(received_at, step)
