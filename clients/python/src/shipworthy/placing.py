"""Which run a process begins, joins or goes on with."""

import os
from dataclasses import dataclass
from pathlib import Path

from shipworthy.capture.ranks import detect_rank, shared_run_id
from shipworthy.errors import UsageError
from shipworthy.identity import is_run_id


@dataclass(frozen=True, slots=True)
class Place:
    """`leads` is False for ranks other than the first: they add facts, but neither register the run nor end
    it."""

    run_id: str
    member: str = "main"
    leads: bool = True
    attempt: int = 1
    resumed_from: str | None = None


def find_place(
    folder: Path, run_id: str | None, resume_from: str | os.PathLike[str] | None, ordinal: int
) -> Place:
    """`ordinal` counts the runs that this process began before. Raises UsageError for a run id that is
    none."""
    if run_id is not None and not is_run_id(run_id):
        raise UsageError(
            f"run_id {run_id[:80]!r} is no UUIDv7 in lower case; make one with shipworthy.new_run_id()"
        )
    rank = detect_rank()
    member = "main" if rank is None else f"rank-{rank.rank}"
    leads = rank is None or rank.rank == 0
    return Place(run_id or shared_run_id(rank, folder, ordinal=ordinal), member, leads)
