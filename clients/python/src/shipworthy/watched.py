"""Runs of this process whose journals are being sent, and the files of theirs."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from shipworthy.chunks import Stretch
from shipworthy.delivery import count_left
from shipworthy.journal import Journal
from shipworthy.notices import warn_once
from shipworthy.values import encode

PROGRESS_SECONDS: Final = 30.0
"""Between two signs of life of a run."""
LOG_BYTES: Final = 256 * 2**10
"""Log lines of so many bytes are sent at once; fewer wait, so that a long run has few chunks."""
LONGEST_HOLD: Final = 300.0
"""Seconds for which they wait at most."""


class Flight(NamedTuple):
    """Lines that no disk took, while they are sent: a journal of their own, so that whoever sends them again makes
    the same chunks of them."""

    path: Path
    stretch: Stretch

    def spill(self) -> bool:
        """Whether the disk has the lines now, where `sync` finds them."""
        lines = [*self.stretch.records, *self.stretch.logs]
        lines += [encode({"blob": digest}) for digest in self.stretch.blobs]
        draft = self.path.with_suffix(".part")
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(b"".join(line + b"\n" for line in lines))
            os.replace(draft, self.path)
        except OSError:
            with suppress(OSError):
                draft.unlink()
            return False
        return True


class Watched:
    """A run of this process. `progress` gives step and phase, None when the process has ended its part.

    `known` has the offset up to which each file was sent, to leave files alone that did not grow. `flight` are the
    lines from memory that are being sent.
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
        self.flight: Flight | None = None
        self._flights = 0

    def is_due(self, size: int) -> bool:
        """Whether log lines of so many bytes are sent now: the longer a run lasts, the less a minute matters."""
        now = time.monotonic()
        hold = min(LONGEST_HOLD, max(10.0, (now - self.began) / 60))
        return size >= LOG_BYTES or now - self.logs_sent >= hold

    def is_missing(self) -> bool:
        """Whether the own file was deleted, or moved, before it was sent."""
        path = self.journal.path
        if not self.journal.has_begun or path is None or path.exists():
            return False
        missing = self.known.get(path) != self.journal.size()
        if missing:
            warn_once("missing", f"{path} was moved or deleted before it was sent")
        return missing

    def take_off(self, lines: list[bytes]) -> Flight:
        stretch = Stretch()
        stretch.add(line.rstrip(b"\n") for line in lines)
        folder = self.journal.folder or Path(self.run_id)
        name = f"{self.journal.name}.memory-{self._flights}.jsonl"
        self.flight = Flight(folder.with_name(self.run_id) / name, stretch)
        self._flights += 1
        self.logs_sent = time.monotonic()
        return self.flight

    def land(self) -> None:
        self.flight = None
        self.journal.landed()

    def to_disk(self) -> None:
        """What was not delivered, if the disk takes it now: this process may end. Flown lines get a file of their
        own, since the service may have them already."""
        flight = self.flight
        if flight is not None and self.journal.folder is not None and flight.spill():
            self.land()
        self.journal.retry()

    def in_flight_count(self) -> int:
        flight = self.flight
        return 0 if flight is None else len(flight.stretch.records) + len(flight.stretch.logs)


def files_of(journal: Journal) -> Iterator[Path]:
    """The file of the process and those of the processes that it forked."""
    if journal.folder is None or not journal.folder.is_dir():
        return
    with os.scandir(journal.folder) as items:
        # The own file first, which registers the run: it has the shortest name.
        names = sorted((item.name for item in items), key=len)
    for name in names:
        if name.endswith(".jsonl") and name.startswith(f"{journal.family}."):
            yield journal.folder / name


def count_unsent(journal: Journal) -> int:
    """Lines on the disk that the service does not have yet, of the process and those it forked."""
    return sum(map(count_left, files_of(journal)))
