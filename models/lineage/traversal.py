"""Which runs a run rests on, or feeds: layered breadth-first over the links between runs and digests.

One level is run → snapshot, checkpoint or artifact → run. A visited set and limits on levels, runs and time bound
the work by the answer, never by the table.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import select_among

MAX_RUNS: Final = 500
MAX_LINKS: Final = 10_000
MAX_SECONDS: Final = 2.0


class Direction(StrEnum):
    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Link:
    """A run that reads ("in") or wrote ("out") a digest under a role."""

    run_id: str
    direction: str
    kind: str
    role: str
    digest: str


@dataclass(slots=True)
class Traversal:
    """Runs by their distance from the start, the links seen, and where it stopped.

    `open_runs` were reached but not expanded; `partial` says that a limit other than the asked depth cut it.
    """

    hops: dict[str, int] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    open_runs: list[str] = field(default_factory=list)
    partial: bool = False


def traverse(
    connection: Connection,
    namespace: str,
    start: str,
    *,
    depth: int,
    direction: Direction,
    as_of: int,
    clock: Callable[[], float],
) -> Traversal:
    """From run `start`; only links recorded at positions up to `as_of` exist. `clock` gives seconds."""
    found = Traversal(hops={start: 0})
    level, deadline = [start], clock() + MAX_SECONDS
    for hop in range(depth + 1):
        links = _links_of(connection, namespace, level, as_of, MAX_LINKS - len(found.links))
        found.links += links
        if len(found.links) >= MAX_LINKS or clock() > deadline:
            found.partial, found.open_runs = True, level
            break
        reached, cut = _neighbours(connection, namespace, links, direction, as_of)
        found.partial |= cut
        following = sorted(run for run in reached if run not in found.hops)
        if not following:
            break
        if hop == depth:
            found.open_runs = _with_new_neighbours(links, reached, following, level)
            break
        room = MAX_RUNS - len(found.hops)
        if room < len(following):
            found.partial, found.open_runs = True, following[room:]
            following = following[:room]
        found.hops.update(dict.fromkeys(following, hop + 1))
        level = following
        if found.open_runs:
            found.links += _links_of(connection, namespace, level, as_of, MAX_LINKS - len(found.links))
            break
    return found


def _with_new_neighbours(
    links: Iterable[Link], reached: dict[str, set[str]], following: list[str], level: list[str]
) -> list[str]:
    """Runs of the last level that lead further: asking for their lineage goes on from here."""
    digests = {digest for run in following for digest in reached[run]}
    return sorted({link.run_id for link in links if link.digest in digests and link.run_id in set(level)})


def _links_of(
    connection: Connection, namespace: str, runs: Collection[str], as_of: int, most: int
) -> list[Link]:
    """At most `most` links of these runs."""
    if not runs or most <= 0:
        return []
    rows = select_among(
        connection,
        "SELECT run_id, direction, kind, role, digest, position FROM run_link "
        f"WHERE namespace = :namespace AND run_id IN :keys LIMIT {int(most)}",
        namespace,
        runs,
    )
    return [Link(*row[:5]) for row in rows if row[5] <= as_of]


def _neighbours(
    connection: Connection, namespace: str, links: Collection[Link], direction: Direction, as_of: int
) -> tuple[dict[str, set[str]], bool]:
    """Runs on the other side of these links, with the digests that lead to them; and whether there are more."""
    reached: dict[str, set[str]] = {}
    cut = False
    sides = []
    if direction is not Direction.DOWNSTREAM:
        sides.append(("in", "out"))
    if direction is not Direction.UPSTREAM:
        sides.append(("out", "in"))
    for here, there in sides:
        digests = {link.digest for link in links if link.direction == here}
        if not digests:
            continue
        rows: list[Any] = select_among(
            connection,
            "SELECT run_id, digest, position FROM run_link WHERE namespace = :namespace "
            f"AND digest IN :keys AND direction = '{there}' LIMIT {MAX_LINKS}",
            namespace,
            digests,
        )
        cut |= len(rows) >= MAX_LINKS
        for run_id, digest, position in rows:
            if position <= as_of:
                reached.setdefault(run_id, set()).add(digest)
    return reached, cut
