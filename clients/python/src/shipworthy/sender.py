"""The thread that sends what journals hold: one for each service in a process, never the caller's own."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from shipworthy.batches import RunUnknown
from shipworthy.chunks import Stretch
from shipworthy.delivery import Outcome, send_flight, send_journal
from shipworthy.errors import NotDelivered, Trouble
from shipworthy.notices import warn_once
from shipworthy.settling import keep_subjects, promises_subjects
from shipworthy.signs_of_life import send_progress
from shipworthy.transport import Transport
from shipworthy.values import first_line
from shipworthy.watched import Watched, files_of

POLL_SECONDS: Final = 1.0
FIRST_DELAY: Final = 0.5
LONGEST_DELAY: Final = 60.0
"""Seconds between attempts while the service is away; also the longest that its return goes unseen."""
_OF_ONE_RUN: Final = frozenset({Trouble.STRANGE, Trouble.FAULT})
"""Troubles that other runs may not have."""


class Sender:
    """Sends to one service. Everything that may wait happens in its thread."""

    def __init__(self, url: str, token: str | None) -> None:
        self._transport = Transport(url, token)
        self._url = url
        self._watched: list[Watched] = []
        self._wake = threading.Event()
        self._answers = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = self._answered = 0
        self._hurry = self._clean = self._early = False
        self._failures = 0
        self._not_before = 0.0
        self._told_to_wait = False
        self.refused = 0

    def watch(self, watched: Watched) -> None:
        self._watched.append(watched)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="shipworthy-sender", daemon=True)
            try:
                self._thread.start()
            except RuntimeError as error:
                warn_once("thread", f"no thread can be started ({error}); records stay in the journal")
                self._thread = None
        self.wake()

    def wake(self) -> None:
        """Has records sent soon rather than at the next look."""
        self._wake.set()

    def flush(self, seconds: float, *, give_up: bool = False) -> bool:
        """Waits until everything is sent; False after `seconds`, or with `give_up` at the first failure.

        That another process has yet to register the run is no failure: it is waited for all the same.
        """
        if self._thread is None:
            return not self._watched
        deadline = time.monotonic() + seconds
        pause = 0.1
        with self._answers:
            self._hurry = True
            while True:
                self._asked += 1
                mine = self._asked
                self._wake.set()
                while self._answered < mine:
                    remaining = deadline - time.monotonic()
                    if remaining <= 0 or not self._answers.wait(remaining):
                        if give_up:
                            self._tell(NotDelivered(Trouble.SILENT, f"nothing within {seconds:.0f} s"))
                        return False
                if self._clean:
                    return True
                remaining = deadline - time.monotonic()
                if (give_up and not self._early) or remaining <= 0:
                    return False
                self._answers.wait(min(pause, remaining))
                # A thousand ranks may wait for the first one.
                pause = min(2 * pause, POLL_SECONDS)

    @property
    def watched(self) -> tuple[Watched, ...]:
        """Runs of which something may still be to send."""
        return tuple(self._watched)

    def _run(self) -> None:
        while True:
            with self._answers:
                asked, hurry, self._hurry = self._asked, self._hurry, False
            may_try = time.monotonic() >= self._not_before or (hurry and not self._told_to_wait)
            clean = self._attempt(asked > self._answered) if may_try else self._rest()
            with self._answers:
                self._answered, self._clean = asked, clean
                self._answers.notify_all()
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()

    def _rest(self) -> bool:
        """Nothing is sent for now; what waits in memory may still go to the disk."""
        for each in tuple(self._watched):
            each.to_disk()
        return False

    def _attempt(self, flushing: bool) -> bool:
        """One look at all journals; whether everything is sent. Never raises: the thread has to live as long as the
        process."""
        try:
            clean = self._look(flushing)
        except NotDelivered as trouble:
            self._tell(trouble)
            self._back_off(trouble.retry_after)
            return False
        except Exception as error:  # noqa: BLE001 - the border of the thread
            what = f"{type(error).__name__}: {first_line(str(error), 200)}"
            warn_once("sender", f"records could not be sent ({what}); they are kept, and tried again")
            self._transport.close()
            self._back_off(None)
            return False
        self._failures, self._not_before, self._told_to_wait = 0, 0.0, False
        if not self._watched:
            self._transport.close()
        return clean

    def _tell(self, trouble: NotDelivered) -> None:
        name = trouble.trouble
        if name is Trouble.KEY:
            advice = "set SHIPWORTHY_TOKEN to a recorder's key"
        else:
            advice = "training goes on, records are kept and sent when it is back"
        warn_once(f"service:{name.name}", f"{self._url} {name.value} ({trouble.detail}); {advice}")

    def _back_off(self, retry_after: float | None) -> None:
        self._early = False
        delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(self._failures, 16))
        # Jitter: a thousand processes must not come back in the same moment.
        delay *= 0.5 + os.urandom(1)[0] / 510
        self._told_to_wait = retry_after is not None
        self._failures += 1
        self._not_before = time.monotonic() + max(delay, retry_after or 0.0)

    def _look(self, flushing: bool) -> bool:
        clean = True
        self._early = False
        failed: NotDelivered | None = None
        for each in tuple(self._watched):
            closed = each.journal.closed
            try:
                left = self._send_lines(each, flushing or closed)
                send_progress(self._transport, each)
            except RunUnknown as unknown:
                left = True
                if unknown.refused is None:
                    # A rank may be faster than the first one, which registers the run.
                    self._early = True
                else:
                    warn_once("refused", f"the service refused a run: {unknown.refused[:400]}; it is kept")
            except NotDelivered as trouble:
                if trouble.trouble not in _OF_ONE_RUN:
                    raise
                left, failed = True, failed or trouble
            if closed and not left:
                self._watched.remove(each)
            clean = clean and not left
        if failed is not None:
            raise failed
        return clean

    def _send_lines(self, watched: Watched, everything: bool) -> bool:
        """Sends what waits in memory, which is older than what is written from now on, and what is on the disk;
        whether something is left."""
        left = self._send_memory(watched, everything)
        try:
            return self._send_files(watched, everything) or left
        except OSError as error:
            why = error.strerror or error
            warn_once("journal", f"the journal in {watched.journal.folder} can't be sent ({why})")
            return True

    def _send_files(self, watched: Watched, everything: bool) -> bool:
        """Sends what the process and those it forked wrote; whether something is left."""
        left = watched.is_missing()

        def is_ready(stretch: Stretch) -> bool:
            size = stretch.end - stretch.start
            ready = everything or bool(stretch.records) or watched.is_due(size)
            if ready and stretch.logs:
                watched.logs_sent = time.monotonic()
            return ready

        for path in files_of(watched.journal):
            size = path.stat().st_size
            if watched.known.get(path) == size:
                continue
            outcome = self._send_file(path, is_ready)
            if outcome.pending and path != watched.journal.path and keep_subjects(path, outcome.pending):
                outcome = self._send_file(path, is_ready)
            if outcome.busy:
                left = True
                continue
            if not outcome.left and not promises_subjects(outcome.pending):
                # The size seen before: what was appended meanwhile makes the file differ from it.
                watched.known[path] = size
            left = left or outcome.left
        return left

    def _send_file(self, path: Path, is_ready: Callable[[Stretch], bool]) -> Outcome:
        outcome = Outcome()
        try:
            return send_journal(path, self._transport, is_ready, outcome=outcome)
        finally:
            self.refused += outcome.refused

    def _send_memory(self, watched: Watched, everything: bool) -> bool:
        """Sends what no disk took, in as few pieces as what is on a disk; whether something is left."""
        journal, flight = watched.journal, watched.flight
        if flight is None:
            journal.retry()
            size, has_records = journal.memory_waits()
            if size == 0:
                return False
            if not (everything or has_records or watched.is_due(size)):
                return True
            # Only what is taken out can be sent, and only what is not taken out can still go to the disk.
            self._transport.get("/healthz")
            # Older than what waits in memory; a file that can't be sent must not hold that up.
            with suppress(OSError):
                if self._send_files(watched, True):
                    return True
            flight = watched.take_off(journal.take_memory())
        try:
            self.refused += send_flight(
                self._transport, flight.path, flight.stretch, journal.path or flight.path
            )
        except NotDelivered:
            watched.to_disk()
            raise
        watched.land()
        return False
