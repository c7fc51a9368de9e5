"""Which run a process begins, joins or goes on with."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from shipworthy.capture.launchers import Rank
from shipworthy.capture.outer import OuterRun, may_join, outer_run, without_outer
from shipworthy.capture.processes import process_identity
from shipworthy.capture.ranks import detect_rank, given_run_id, launch_key, shared_run_id
from shipworthy.capture.requeue import lone_run_id
from shipworthy.capture.resume import attempt_number, recall, remember, restart_count
from shipworthy.errors import UsageError
from shipworthy.identity import is_run_id
from shipworthy.notices import warn_once


class Place(NamedTuple):
    """`leads` is False for ranks other than the first, and within `shipworthy exec`: they add facts, but neither
    register nor end the run.

    `launch` is the same text in all processes of this attempt. `ancestor` is a checkpoint that training goes on
    from without its run being known. `joined` is the run of `shipworthy exec` that this process adds to,
    `parent` the one it is a further run of.
    """

    run_id: str
    launch: str = ""
    member: str = "main"
    leads: bool = True
    attempt: int = 1
    ancestor: Path | None = None
    joined: OuterRun | None = None
    parent: str | None = None


def find_place(
    folder: Path, run_id: str | None, resume_from: str | os.PathLike[str] | None, ordinal: int
) -> Place:
    """`ordinal` counts the runs that this process began before. Raises UsageError for what is no run id."""
    if run_id is not None and not is_run_id(run_id):
        raise UsageError(
            f"run_id {run_id[:80]!r} is no UUIDv7 in lower case; make one: shipworthy.new_run_id()"
        )
    environ: Mapping[str, str] = os.environ
    rank = detect_rank(environ)
    member = "main" if rank is None else f"rank-{rank.rank}"
    outer = outer_run(environ)
    joined = None
    if outer is not None:
        if run_id is None and ordinal == 0 and may_join(outer, folder, member, environ):
            joined = outer
        else:
            environ = without_outer(environ)
    fresh, goes_on = _fresh_run_id(rank, folder, environ, ordinal)
    # With the id, which a later launch of the same name does not share, and the count, which a restart of the
    # same launch does not share: only processes of this attempt have the same text.
    name = process_identity() if rank is None else launch_key(rank, environ)[0]
    launch = f"{name}/{fresh}/{restart_count(environ)}/{ordinal}"
    resumed = None if resume_from is None else recall(resume_from, launch)
    given = run_id is not None
    if run_id is None:
        run_id = fresh if resumed is None else resumed.run_id
    if joined is not None and run_id != joined.run_id:
        joined = None
    leads = (rank is None or rank.rank == 0) and joined is None
    # A restart of a process alone that nothing ties to a run before it begins a run of its own.
    known = goes_on or given or rank is not None or resumed is not None
    attempt = attempt_number(environ, resumed) if known else 1
    if joined is not None:
        attempt = joined.attempt
    ancestor = None
    if resume_from is not None and (leads or joined is not None):
        if resumed is not None and resumed.run_id == run_id:
            remember(resume_from, run_id, attempt, launch)
        elif Path(resume_from).exists():
            ancestor = Path(resume_from)
        else:
            warn_once("resume", f"there is no checkpoint at {resume_from}; this is a new run")
    parent = outer.run_id if outer is not None and outer.run_id != run_id else None
    return Place(run_id, launch, member, leads, attempt, ancestor, joined, parent)


def _fresh_run_id(
    rank: Rank | None, folder: Path, environ: Mapping[str, str], ordinal: int
) -> tuple[str, bool]:
    """The run to begin or join when no checkpoint names another, and whether a restart goes on with it."""
    given = given_run_id(environ, ordinal)
    if given is not None:
        return given, True
    if rank is None:
        return lone_run_id(folder, ordinal, environ)
    return shared_run_id(rank, folder, environ, ordinal), True
