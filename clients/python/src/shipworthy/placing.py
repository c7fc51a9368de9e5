"""Which run a process begins, joins or goes on with."""

import os
from dataclasses import dataclass
from pathlib import Path

from shipworthy.capture.processes import process_identity
from shipworthy.capture.ranks import detect_rank, launch_key, shared_run_id
from shipworthy.capture.resume import attempt_number, recall, remember
from shipworthy.errors import UsageError
from shipworthy.identity import is_run_id
from shipworthy.notices import warn_once


@dataclass(frozen=True, slots=True)
class Place:
    """`leads` is False for ranks other than the first: they add facts, but neither register nor end the run.

    `launch` is the same text in all processes of this attempt. `ancestor` is a checkpoint that training goes on
    from without its run being known.
    """

    run_id: str
    launch: str = ""
    member: str = "main"
    leads: bool = True
    attempt: int = 1
    ancestor: Path | None = None


def find_place(
    folder: Path, run_id: str | None, resume_from: str | os.PathLike[str] | None, ordinal: int
) -> Place:
    """`ordinal` counts the runs that this process began before. Raises UsageError for what is no run id."""
    if run_id is not None and not is_run_id(run_id):
        raise UsageError(
            f"run_id {run_id[:80]!r} is no UUIDv7 in lower case; make one: shipworthy.new_run_id()"
        )
    rank = detect_rank()
    launch = f"{process_identity() if rank is None else launch_key(rank)[0]}/{ordinal}"
    resumed = None if resume_from is None else recall(resume_from, launch)
    if run_id is None:
        run_id = resumed.run_id if resumed is not None else shared_run_id(rank, folder, ordinal=ordinal)
    leads = rank is None or rank.rank == 0
    ancestor = None
    # A restart of a process alone that names neither run nor checkpoint begins a run of its own.
    attempt = attempt_number(resumed=resumed) if rank is not None or resumed is not None else 1
    if resume_from is not None and leads:
        if resumed is not None and resumed.run_id == run_id:
            remember(resume_from, run_id, attempt, launch)
        elif Path(resume_from).exists():
            ancestor = Path(resume_from)
        else:
            warn_once("resume", f"there is no checkpoint at {resume_from}; this is a new run")
    member = "main" if rank is None else f"rank-{rank.rank}"
    return Place(run_id, launch, member, leads, attempt, ancestor)
