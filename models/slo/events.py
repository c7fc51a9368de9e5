"""Windows that events make: a model's registration, a run's end, a resumption. They are judged at once.

The event is written down as expected when it is seen, so that it has a place in the ledger of outcomes like any other.
It had happened when it was received, whatever its time says: no clock that runs ahead puts a failure off.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select
from sqlmodel import col

from gates.slo.definition import Objective
from gates.slo.zones import zone
from models.kinds.runs import RunEventFact, RunRegistered
from models.ledger.reading import entries_about
from models.lineage.run_state import OPEN_STATES
from models.lineage.tables import Run
from models.slo.chains import named
from models.slo.definitions import Published
from models.slo.ends import ends_of
from models.slo.touched import Touched
from shipworthy.formats.digests import sha256_digest

OF_EVENTS: Final[frozenset[Objective]] = frozenset({"ratio", "resume-loss"})
_EVERYTHING: Final = 2**62
_LONGEST_NAME: Final = 500
"""With the name of an SLO it stays below the 640 characters of a window's id."""


@dataclass(frozen=True, slots=True)
class Event:
    """`about` is the record that tells of it; the same event has the same id whenever it is seen."""

    id: str
    at: datetime
    about: str
    run_id: str | None = None


def events_in(connection: Connection, published: Published, touched: Sequence[Touched]) -> list[Event]:
    """The events of an SLO among these records of its namespace, each once, from when on it counts them."""
    found: Iterable[Event]
    match published.definition.evidence.event:
        case "model.registered":
            found = _registrations(published, touched)
        case "run.completed":
            found = _ends(connection, published, touched)
        case "run.resumed":
            found = _resumptions(connection, published, touched)
        case _:
            found = []
    return list({each.id: each for each in found if each.at >= published.since}.values())


def local(published: Published, at: datetime) -> datetime:
    """The instant where the promise was made."""
    return at.astimezone(zone(published.definition.time_zone))


def _registrations(published: Published, touched: Iterable[Touched]) -> Iterable[Event]:
    wanted = published.definition.evidence.model
    for each in touched:
        if each.kind != "model_version":
            continue
        registry, model, version = each.subject.removeprefix("model:").split("|")
        if wanted in (None, model):
            yield Event(_id_of_version(published, registry, model, version), each.recorded_at, each.digest)


def _id_of_version(published: Published, registry: str, model: str, version: str) -> str:
    """Readable, and of no other version: names of registries may hold a slash as well. One that is too long for an id
    is named by its digest."""
    named = f"{registry.replace('/', '%2F')}/{model}/{version}"
    if len(named) > _LONGEST_NAME:
        named = sha256_digest(named.encode())
    return f"{published.name}/{named}"


def _ends(connection: Connection, published: Published, touched: Sequence[Touched]) -> Iterable[Event]:
    """Runs that have come to an end; a run that goes on after one has not."""
    rows = _runs(connection, published, touched)
    ends = ends_of(connection, published.namespace, list(rows))
    for run_id, state in rows.items():
        if state not in OPEN_STATES and ends.get(run_id):
            last = ends[run_id][-1]
            at = min(last.at, last.recorded_at)
            yield Event(f"{published.name}/{run_id}", at, last.record, run_id)


def _resumptions(connection: Connection, published: Published, touched: Sequence[Touched]) -> Iterable[Event]:
    for run_id in _runs(connection, published, touched):
        for entry in entries_about(connection, published.namespace, f"run:{run_id}", _EVERYTHING):
            events: Sequence[RunEventFact] = ()
            if isinstance(entry.fact, RunRegistered):
                events = entry.fact.events
                resumed = entry.fact.resumed_from
                if resumed is not None and resumed.run_id != run_id:
                    at = min(entry.fact.started_at or entry.recorded_at, entry.recorded_at)
                    yield Event(f"{published.name}/{run_id}/resumed", at, entry.digest, run_id)
            elif isinstance(entry.fact, RunEventFact):
                events = [entry.fact]
            for event in events:
                if event.type == "attempt.started" and event.attempt > 1:
                    id = f"{published.name}/{run_id}/{event.attempt}"
                    yield Event(id, min(event.at, entry.recorded_at), entry.digest, run_id)


def _runs(connection: Connection, published: Published, touched: Iterable[Touched]) -> dict[str, str]:
    """The states of the runs of the SLO's job that these records are about."""
    wanted = {each.run_id for each in touched if each.run_id and each.kind in ("run.registered", "run.event")}
    query = select(col(Run.run_id), col(Run.job_namespace), col(Run.job_name), col(Run.state)).where(
        col(Run.namespace) == published.namespace, col(Run.run_id).in_(wanted)
    )
    return {
        row.run_id: row.state
        for row in (connection.execute(query) if wanted else ())
        if named(row.job_namespace, row.job_name, published.definition.evidence.job)
    }
