"""Which runs a run rests on, or feeds: layered breadth-first over the links between runs and digests.

One level is run → snapshot, checkpoint or artifact → run, and one statement, which brings what is stored of its runs
along; upstream, where it is little, also the next level. A visited set and limits on levels, runs and time bound the
work by the answer, never by the table.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection

from models.lineage.question import Direction, Question, Version, VersionName
from models.lineage.statements import gather, level_statement

MAX_RUNS: Final = 500
AHEAD: Final = 16
"""So many links to the level after the one that is asked about are followed in the same statement."""
MAX_LINKS: Final = 10_000
MAX_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Link:
    """A run that reads ("in") or wrote ("out") a digest under a role."""

    run_id: str
    direction: str
    kind: str
    role: str
    digest: str


@dataclass(frozen=True, slots=True)
class SignOfLife:
    """The latest receipt and the highest step of a run's progress."""

    received_at: datetime
    step: int | None


@dataclass(slots=True)
class Traversal:
    """Runs by their distance from the start, the links seen, and where it stopped.

    `open_runs` were reached but not expanded; `partial` says that a limit other than the asked depth cut it.
    `documents` are the runs' views as JSON text, `artifacts` (position, JSON text) of what they wrote. `size` is that
    of the log when the first of it was read.
    """

    start: str
    version: Version | None = None
    hops: dict[str, int] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    open_runs: list[str] = field(default_factory=list)
    partial: bool = False
    documents: dict[str, str] = field(default_factory=dict)
    artifacts: list[tuple[int, str]] = field(default_factory=list)
    signs_of_life: dict[str, SignOfLife] = field(default_factory=dict)
    size: int | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """What one statement brought, and of which runs: of those asked about and, when `ahead`, of some more."""

    rows: dict[str, list[Any]]
    ahead: bool

    def covers(self, runs: list[str]) -> bool:
        return self.ahead and {run for _, run, *_ in self.rows["run"]}.issuperset(runs)


@dataclass(frozen=True, slots=True)
class _Level:
    """Links of its runs, and the runs on the other side of them with the digests that lead there; `cut` when there are
    more of those."""

    links: list[Link]
    reached: dict[str, set[str]]
    cut: bool


def traverse(
    connection: Connection, question: Question, start: str | VersionName, clock: Callable[[], float]
) -> Traversal | None:
    """From a run, or from the run behind a model version; None for a version that was not there at that time. Only
    links recorded at positions up to `as_of` exist. `clock` gives seconds."""
    deadline = clock() + MAX_SECONDS
    if isinstance(start, str):
        found = Traversal(start)
        read = _read(connection, question, MAX_LINKS, {"runs": [start]})
    else:
        given = {"registry": start.registry, "model": start.model, "version": start.version}
        read = _read(connection, question, MAX_LINKS, given, of_version=True)
        if not read.rows["version"]:
            return None
        version = _version(start, read.rows["version"][0])
        found = Traversal(version.run_id, version)
    found.size = next((position for *_, position, _ in read.rows["head"]), None)
    found.hops[found.start] = 0
    runs = [found.start]
    level = _keep(found, read, runs)
    for hop in range(question.depth + 1):
        if len(found.links) >= MAX_LINKS or clock() > deadline:
            found.partial, found.open_runs = True, runs
            break
        found.partial |= level.cut
        following = sorted(run for run in level.reached if run not in found.hops)
        if not following:
            break
        if hop == question.depth:
            found.open_runs = _with_new_neighbours(level, following, runs)
            break
        room = MAX_RUNS - len(found.hops)
        if room < len(following):
            found.partial, found.open_runs = True, following[room:]
            following = following[:room]
        found.hops.update(dict.fromkeys(following, hop + 1))
        if not read.covers(following):
            read = _read(connection, question, MAX_LINKS - len(found.links), {"runs": following})
        runs, level = following, _keep(found, read, following)
        if found.open_runs:
            break
    return found


def _with_new_neighbours(level: _Level, following: list[str], runs: list[str]) -> list[str]:
    """Runs of the last level that lead further: asking for their lineage goes on from here."""
    digests = {digest for run in following for digest in level.reached[run]}
    expanded = set(runs)
    return sorted({link.run_id for link in level.links if link.digest in digests and link.run_id in expanded})


def _read(
    connection: Connection, question: Question, most: int, start: dict[str, Any], *, of_version: bool = False
) -> _Read:
    """The rows of a level with at most `most` of its links, and where it is likely to pay those of the next."""
    # Few runs rest on many, but many may rest on one.
    ahead = question.direction is Direction.UPSTREAM and question.depth > 0
    given = {
        "namespace": question.namespace,
        "as_of": question.as_of,
        "most": most,
        "near": MAX_LINKS,
        **start,
    }
    if ahead:
        statement = level_statement(question.direction, of_version=of_version, ahead=True)
        rows = gather(connection, statement, ahead=AHEAD, **given)
        # At a limit nobody knows whose rows were left out.
        if len(rows["link"]) < most and len(rows["near"]) < MAX_LINKS:
            return _Read(rows, ahead=True)
    statement = level_statement(question.direction, of_version=of_version, ahead=False)
    return _Read(gather(connection, statement, **given), ahead=False)


def _keep(found: Traversal, read: _Read, runs: list[str]) -> _Level:
    """Adds what was read of these runs to what was found."""
    wanted = set(runs)
    rows = {
        what: [row for row in read.rows[what] if row[1] in wanted]
        for what in ("run", "artifact", "life", "link")
    }
    found.documents.update((run, document) for _, run, *_, document in rows["run"])
    found.artifacts += [(position, document) for *_, position, document in rows["artifact"]]
    for _, run, received, step, *_ in rows["life"]:
        found.signs_of_life[run] = SignOfLife(_instant(received), None if step is None else int(step))
    links = [Link(*row[1:6]) for row in sorted(rows["link"])]
    found.links += links
    own = {link.digest for link in links if link.direction == "in"}
    reached: dict[str, set[str]] = {}
    sides: Counter[str] = Counter()
    for _, run, side, _, _, digest, *_ in read.rows["near"]:
        if digest in own or not read.ahead:
            reached.setdefault(run, set()).add(digest)
            sides[side] += 1
    return _Level(links, reached, any(count >= MAX_LINKS for count in sides.values()))


def _version(name: VersionName, row: Iterable[Any]) -> Version:
    _, run_id, artifact, record, _, _, position, document = row
    return Version(name, run_id, artifact, record, position, document)


def _instant(text: str) -> datetime:
    """A time as the database writes it: in UTC on both, with the zone on PostgreSQL."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
