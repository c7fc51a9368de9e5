"""The run of a process alone that its scheduler started again.

Ranks compute the id of their run; a process alone has a random one. So it notes the id in the journal folder,
under the scheduler's job and its own command, and the process that is started with the same command after a
requeue goes on with that run. Programs of one job that have the same command are told apart by their order.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from shipworthy.capture.claims import claims_of, create_file
from shipworthy.capture.launchers import scheduler_job
from shipworthy.capture.resume import restart_count
from shipworthy.identity import is_run_id, new_run_id

_MAX_PROGRAMS = 10_000


def lone_run_id(
    folder: Path,
    ordinal: int = 0,
    environ: Mapping[str, str] = os.environ,
    command: Sequence[str] | None = None,
) -> tuple[str, bool]:
    """The run of a process that has no ranks beside it, and whether an earlier attempt began it. Never raises.

    `folder` is the journal folder; one that the nodes don't share can't tell of an attempt on another node, and
    the run is a new one then.
    """
    fresh = new_run_id()
    job = scheduler_job(environ)
    if not job:
        return fresh, False
    given = sys.orig_argv if command is None else command
    attempt = restart_count(environ)
    with suppress(OSError):
        notes = claims_of(folder, "\0".join(("alone", *job, os.getcwd(), *given, str(ordinal))))
        notes.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in range(_MAX_PROGRAMS):
            former = _former(notes, attempt, number)
            if create_file(notes / f"{attempt}-{number}", (former or fresh).encode()):
                return former or fresh, former is not None
    return fresh, False


def _former(notes: Path, attempt: int, number: int) -> str | None:
    """What the latest attempt before this one noted."""
    found = [int(path.name.partition("-")[0]) for path in notes.glob(f"*-{number}")]
    for earlier in sorted((each for each in found if each < attempt), reverse=True):
        noted = (notes / f"{earlier}-{number}").read_text()
        if is_run_id(noted):
            return noted
    return None
