"""The thread that sends what journals hold: one for each service in a process, never the caller's own."""

import os
import threading
import time
from pathlib import Path
from typing import Final

from shipworthy.chunks import Stretch
from shipworthy.delivery import RunUnknown, keep_refused, send_journal, send_stretch
from shipworthy.errors import NotDelivered, Trouble
from shipworthy.notices import warn_once
from shipworthy.transport import Transport
from shipworthy.values import encode
from shipworthy.watched import PROGRESS_SECONDS, Watched, files_of

POLL_SECONDS: Final = 1.0
LOG_BYTES: Final = 256 * 2**10
"""Log lines of so many bytes are sent at once; fewer wait, so that a long run has few chunks."""
LONGEST_HOLD: Final = 300.0
FIRST_DELAY: Final = 0.5
LONGEST_DELAY: Final = 60.0
"""Seconds between attempts while the service is away; also the longest that its return goes unseen."""


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
            clean = self._attempt(asked > self._answered) if may_try else False
            with self._answers:
                self._answered, self._clean = asked, clean
                self._answers.notify_all()
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()

    def _attempt(self, flushing: bool) -> bool:
        """One look at all journals; whether everything is sent."""
        try:
            clean = self._look(flushing)
        except NotDelivered as trouble:
            self._back_off(trouble)
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

    def _back_off(self, trouble: NotDelivered) -> None:
        self._early = False
        self._tell(trouble)
        delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(self._failures, 16))
        # Jitter: a thousand processes must not come back in the same moment.
        delay *= 0.5 + os.urandom(1)[0] / 510
        self._told_to_wait = trouble.retry_after is not None
        self._failures += 1
        self._not_before = time.monotonic() + max(delay, trouble.retry_after or 0.0)

    def _look(self, flushing: bool) -> bool:
        clean = True
        self._early = False
        for each in tuple(self._watched):
            closed = each.journal.closed
            try:
                left = self._send_lines(each, flushing or closed)
            except RunUnknown:
                # A rank may be faster than the first one, which registers the run.
                left = self._early = True
            self._send_progress(each)
            if closed and not left:
                self._watched.remove(each)
            clean = clean and not left
        return clean

    def _send_lines(self, watched: Watched, everything: bool) -> bool:
        """Sends what is on the disk, then what waits in memory; whether something is left."""
        try:
            left = self._send_files(watched, everything)
        except OSError as error:
            why = error.strerror or error
            warn_once("journal", f"the journal in {watched.journal.folder} can't be sent ({why})")
            left = True
        return self._send_memory(watched) or left

    def _send_progress(self, watched: Watched) -> None:
        now = time.monotonic()
        if now - watched.progress_sent < PROGRESS_SECONDS:
            return
        progress = watched.progress()
        if progress is not None:
            step, phase = progress
            body = encode({"process": watched.member, "step": step, "phase": phase})
            watched.progress_sent = now
            try:
                self._transport.post(f"/v1/runs/{watched.run_id}/progress", body)
            except NotDelivered as refusal:
                # Not registered yet, or an older service: nothing depends on it.
                if refusal.trouble is not Trouble.STRANGE:
                    raise

    def _send_files(self, watched: Watched, everything: bool) -> bool:
        """Sends what the process and those it forked wrote; whether something is left."""
        left = False

        def is_ready(stretch: Stretch) -> bool:
            size = stretch.end - stretch.start
            now = time.monotonic()
            # The longer a run lasts, the less a minute matters.
            hold = min(LONGEST_HOLD, max(10.0, (now - watched.began) / 60))
            ready = (
                everything or bool(stretch.records) or size >= LOG_BYTES or now - watched.logs_sent >= hold
            )
            if ready and stretch.logs:
                watched.logs_sent = now
            return ready

        for path in files_of(watched.journal):
            size = path.stat().st_size
            if watched.known.get(path) == size:
                continue
            outcome = send_journal(path, self._transport, is_ready)
            if outcome.busy:
                left = True
                continue
            if not outcome.left:
                # The size seen before: what was appended meanwhile makes the file differ from it.
                watched.known[path] = size
            left = left or outcome.left
        return left

    def _send_memory(self, watched: Watched) -> bool:
        while True:
            if watched.in_flight is None:
                stretch = Stretch()
                size, lines = 0, watched.journal.take_memory()
                for line in lines:
                    size += len(line)
                    stretch.add([line.rstrip(b"\n")])
                if not stretch.records and not stretch.logs:
                    return False
                stretch.end = size
                watched.in_flight = stretch
            place = watched.journal.folder or Path(watched.run_id)
            path = place.with_name(watched.run_id) / f"{watched.journal.name}.jsonl"
            refusals = send_stretch(
                self._transport, path, f"chunk-memory-{watched.flights}", watched.flights, watched.in_flight
            )
            keep_refused(path, refusals)
            watched.in_flight, watched.flights = None, watched.flights + 1
