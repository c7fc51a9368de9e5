"""The run that `shipworthy exec` records around this program.

`exec` tells its program two variables: `SHIPWORTHY_RUN_ID`, and `SHIPWORTHY_EXEC` with attempt and job. The
first run that the program begins joins: it adds facts, and `exec` goes on to register and end the run. Of
several processes of the same rank the first one joins; further runs are runs of their own, with that of
`exec` as parent, so that the steps of two trainings are never mixed.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from shipworthy.capture.claims import claims_of, create_file
from shipworthy.capture.resume import restart_count
from shipworthy.identity import is_run_id


class OuterRun(NamedTuple):
    """`job` is "namespace/name"."""

    run_id: str
    attempt: int
    job: str

    def variables(self) -> dict[str, str]:
        """What the program is told."""
        return {"SHIPWORTHY_RUN_ID": self.run_id, "SHIPWORTHY_EXEC": f"{self.attempt}:{self.job}"}


def outer_run(environ: Mapping[str, str] = os.environ) -> OuterRun | None:
    """None for a program that was not started by `exec`."""
    attempt, _, job = environ.get("SHIPWORTHY_EXEC", "").partition(":")
    run_id = environ.get("SHIPWORTHY_RUN_ID", "")
    if not (attempt.isdecimal() and len(attempt) < 7 and job and is_run_id(run_id)):
        return None
    return OuterRun(run_id, int(attempt), job)


def without_outer(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables as they are for a run that does not join."""
    return {name: value for name, value in environ.items() if name != "SHIPWORTHY_RUN_ID"}


def may_join(outer: OuterRun, folder: Path, member: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this process is the first of its rank; true also where no folder can tell."""
    claims = claims_of(folder, f"exec\n{outer.run_id}")
    try:
        claims.mkdir(mode=0o700, parents=True, exist_ok=True)
        return create_file(claims / f"{restart_count(environ)}-{member}")
    except OSError:
        return True
