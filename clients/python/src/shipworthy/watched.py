"""Runs of this process whose journals are being sent, and the files of theirs."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from shipworthy.chunks import Stretch, count_lines
from shipworthy.journal import Journal
from shipworthy.state import read_state

PROGRESS_SECONDS: Final = 30.0
"""Between two signs of life of a run."""


class Watched:
    """A run of this process. `progress` gives step and phase, None when the process has ended its part.

    `known` has the offset up to which each file was sent, to leave files alone that did not grow. `in_flight` are
    lines that no disk took: they stay together until they are sent, so that a resend is the same chunk.
    """

    def __init__(
        self,
        journal: Journal,
        run_id: str,
        member: str,
        progress: Callable[[], tuple[int | None, str | None] | None],
    ) -> None:
        self.journal = journal
        self.run_id = run_id
        self.member = member
        self.progress = progress
        self.began = self.logs_sent = time.monotonic()
        self.progress_sent = -PROGRESS_SECONDS
        self.known: dict[Path, int] = {}
        self.in_flight: Stretch | None = None
        self.flights = 0

    def in_flight_count(self) -> int:
        flight = self.in_flight
        return 0 if flight is None else len(flight.records) + len(flight.logs)


def files_of(journal: Journal) -> Iterator[Path]:
    """The file of the process and those of the processes that it forked."""
    if journal.folder is None or not journal.folder.is_dir():
        return
    with os.scandir(journal.folder) as items:
        # The own file first, which registers the run: it has the shortest name.
        names = sorted((item.name for item in items), key=len)
    for name in names:
        if name.endswith(".jsonl") and name.startswith(f"{journal.name}."):
            yield journal.folder / name


def count_unsent(journal: Journal) -> int:
    """Lines on the disk that the service does not have yet, of the process and those it forked."""
    return sum(count_lines(path, read_state(path.with_suffix(".state")).sent) for path in files_of(journal))
