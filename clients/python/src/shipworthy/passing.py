"""A run that is handed to another process: that one adds facts as a forked one does, in a journal of its own that the
run's process sends."""

import os
from pathlib import Path
from typing import Final

from shipworthy.placing import Place
from shipworthy.process import PROCESS
from shipworthy.recording import Recording
from shipworthy.settings import Settings
from shipworthy.values import Json

_received: Final[dict[tuple[int, str], Recording]] = {}
"""By process, which may fork, and name of the sender's journal: a pool is handed the same run with each task."""


def pass_on(run: Recording) -> tuple[object, ...]:
    """What pickle and copy make of a run. The key is not in it: pickles lie about on disks."""
    settings = run._settings
    place = Place(run.id, run._launch, run.member, leads=False, attempt=run.attempt)
    given = (type(run), place, run._job, settings.url, settings.folder, run.folder, run._journal.name)
    return receive, given


def receive(
    kind: type[Recording],
    place: Place,
    job: Json,
    url: str | None,
    wanted: Path,
    folder: Path | None,
    journal: str,
) -> Recording:
    """The run itself where it is recorded, else one that adds to it."""
    for run in PROCESS.runs:
        if run._journal.name == journal:
            return run
    known = _received.get((os.getpid(), journal))
    if known is not None:
        return known
    token = os.environ.get("SHIPWORTHY_TOKEN", "").strip() or None
    received = kind(place, job, Settings(url, token, wanted), folder)
    # Not its owner: it neither ends nor sends it.
    received._owner = 0
    received._journal.name = journal
    received._journal.after_fork()
    _received[os.getpid(), journal] = received
    return received
