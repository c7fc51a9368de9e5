"""What a process has one of: senders, the hasher, the stack of runs; and what happens at a fork and at the
exit."""

import atexit
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shipworthy.endings import describe_error
from shipworthy.hashing import Hasher
from shipworthy.notices import say
from shipworthy.sender import Sender
from shipworthy.watched import Watched, count_unsent

if TYPE_CHECKING:
    from shipworthy.recording import Recording
    from shipworthy.runs import Run

EXIT_SECONDS: Final = 5.0
"""How long the end of a process may be held up, all runs together."""
_NO_SERVICE: Final = "SHIPWORTHY_URL names no service; set it to the address of one"
"""True also of an address that was refused when the run began."""


class Process:
    """`runs` are those that have not ended, the youngest last; `begun` counts all that were begun."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.begun = 0
        self.hasher = Hasher()
        self._senders: dict[tuple[str, str | None], Sender] = {}
        self._offline: list[Watched] = []
        self._hooked = False
        self._finalized = 0

    def watch(self, watched: Watched, url: str | None, token: str | None) -> Sender | None:
        """Has a run's journal sent from now on; None without a service."""
        self._hook()
        if url is None:
            self._offline.append(watched)
            return None
        sender = self._senders.get((url, token))
        if sender is None:
            sender = self._senders[url, token] = Sender(url, token)
        sender.watch(watched)
        return sender

    def ended(self, run: "Recording") -> None:
        self.runs = [each for each in self.runs if each is not run]

    def flush(self, seconds: float, *, give_up: bool = False) -> bool:
        """Waits until all is hashed and sent; False when something is left after so many seconds, or was refused."""
        deadline = time.monotonic() + seconds
        # A large checkpoint must not take all the time: what is known already goes first.
        hashed = self.hasher.wait(seconds / 2)
        sent = self._send(deadline, give_up)
        if not hashed and sent:
            hashed = self.hasher.wait(deadline - time.monotonic())
            sent = self._send(deadline, give_up)
        return hashed and sent and not self.is_refused()

    def _send(self, deadline: float, give_up: bool) -> bool:
        # One after the other: nearly every process has one.
        senders = tuple(self._senders.values())
        done = [each.flush(max(deadline - time.monotonic(), 0.0), give_up=give_up) for each in senders]
        return all(done)

    def is_refused(self) -> bool:
        return any(sender.refused for sender in self._senders.values())

    def after_fork(self) -> None:
        """In a new child: no threads and no locks of the parent's. What the child writes the parent sends."""
        self.hasher = Hasher()
        self._senders = {}
        self._offline = []
        for run in self.runs:
            run.after_fork()

    def at_exit(self) -> None:
        for run in reversed(self.runs):
            run.end_with_process(_uncaught())
        # Whoever presses Ctrl-C now waits no longer; what is left is told all the same.
        with suppress(KeyboardInterrupt):
            self.flush(EXIT_SECONDS, give_up=True)
        self._tell_what_is_left()

    def _tell_what_is_left(self) -> None:
        watched = [*self._offline, *(each for sender in self._senders.values() for each in sender.watched)]
        kept: dict[Path, int] = {}
        offline = {each.journal.folder for each in self._offline}
        unsent: set[Path] = set()
        for each in watched:
            each.to_disk()
            folder = each.journal.folder
            if folder is not None:
                kept[folder.parent] = kept.get(folder.parent, 0) + count_unsent(each.journal)
                if folder in offline:
                    unsent.add(folder.parent)
        for folder, count in kept.items():
            if count:
                why = f": {_NO_SERVICE}, then" if folder in unsent else ";"
                said = "1 record is" if count == 1 else f"{count} records are"
                say(f"{said} kept, not sent yet{why} send them with: shipworthy sync {_quoted(folder)}")
        lost = sum(
            each.journal.lost + each.journal.memory_count() + each.in_flight_count() for each in watched
        )
        if lost:
            say(f"{lost} records are lost: neither a disk nor the service took them")

    def _hook(self) -> None:
        if not self._hooked:
            self._hooked = True
            atexit.register(self.at_exit)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(before=_import_all, after_in_child=self.after_fork)
        multiprocessing = sys.modules.get("multiprocessing.util")
        if multiprocessing is not None and self._finalized != os.getpid():
            self._finalized = os.getpid()
            if sys.modules["multiprocessing.process"].parent_process() is not None:
                # A worker that was forked ends by os._exit, which skips atexit.
                multiprocessing.Finalize(None, self._finalize, exitpriority=0)

    def _finalize(self) -> None:
        atexit.unregister(self.at_exit)
        self.at_exit()


def _import_all() -> None:
    """What threads import when they first need it: a child forked in the midst of that would have half a module."""
    import email.utils  # noqa: F401
    import gzip  # noqa: F401
    import http.client  # noqa: F401
    import socket  # noqa: F401
    import ssl  # noqa: F401

    import shipworthy.formats.manifest
    import shipworthy.pacing  # noqa: F401


def _uncaught() -> str | None:
    """The error that ends the process: the interpreter leaves it here when it prints it."""
    if hasattr(sys, "ps1"):
        # A notebook or a prompt: that was the error of some cell, after which people went on.
        return None
    error = getattr(sys, "last_value", None)
    return None if error is None else describe_error(error)


def _quoted(folder: Path) -> str:
    import shlex

    try:
        near = os.path.relpath(folder)
    except (OSError, ValueError):  # The working directory is gone, or on another drive.
        near = str(folder)
    return shlex.quote(near if len(near) < len(str(folder)) else str(folder))


PROCESS: Final = Process()
