"""The hold on one piece of work: renewed by a thread of its own while the check runs, with its progress."""

import threading
import time
from types import TracebackType
from typing import Final

import structlog

from api.workers.answers import Refused, ServiceAway
from api.workers.client import Claim, Progress, ServiceClient
from api.workers.failures import TIME_LIMIT, WORKER_STOPPED, WorkDropped, WorkFailed

RENEW_SECONDS: Final = 2.0
"""Far more often than the lease needs: this is also how a cancellation comes and how progress is seen."""

log = structlog.get_logger()


class Lease:
    """`with Lease(…) as lease`: `report` progress, and ask `require_wanted` at every step of the work.

    `stop_at` tells since when (monotonic) the worker must give its work back, None while it need not.
    """

    def __init__(self, client: ServiceClient, claim: Claim, time_seconds: int, stopping: "Stopping") -> None:
        self._client = client
        self._claim = claim
        self._time_seconds = time_seconds
        self._deadline = time.monotonic() + time_seconds
        self._stopping = stopping
        self._progress: Progress | None = None
        self._dropped = ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease-{claim.id[:8]}", daemon=True)

    def __enter__(self) -> "Lease":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._client.close()

    def report(self, done: int, total: int, text: str) -> None:
        self._progress = Progress(done, total, text)

    def require_held(self) -> None:
        """WorkDropped when the work was cancelled or is another's, WorkFailed when the worker stops."""
        if self._dropped:
            raise WorkDropped(self._dropped)
        if self._stopping.is_over():
            raise WorkFailed(WORKER_STOPPED, "the worker was stopped before the check was done", retry=True)

    def require_wanted(self) -> None:
        """As `require_held`, and WorkFailed when the time of the work is over."""
        self.require_held()
        if time.monotonic() > self._deadline:
            raise WorkFailed(
                TIME_LIMIT,
                f"the check was ended at its time limit of {self._time_seconds:,} s; start the worker with a longer "
                "--time-limit, or check a part of the data",
            )

    def _keep(self) -> None:
        while not self._done.wait(RENEW_SECONDS):
            try:
                renewal = self._client.renew(self._claim, self._progress)
            except ServiceAway as error:
                log.warning("lease_not_renewed", work=self._claim.id, reason=str(error))
                self._done.wait(error.retry_after or 0)
                continue
            except Refused as error:
                self._dropped = f"its lease was refused: {error}"
                return
            if renewal.cancelled:
                self._dropped = "it was cancelled"
                return


class Stopping:
    """That the worker is to end: no new work from then on, and the running work given back after `grace` seconds."""

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._asked = threading.Event()
        self._over_at = float("inf")

    def ask(self, *, at_once: bool = False) -> None:
        """Safe in a signal handler; asked a second time there is no more grace."""
        grace = 0.0 if at_once or self._asked.is_set() else self._grace
        self._over_at = min(self._over_at, time.monotonic() + grace)
        self._asked.set()

    def is_asked(self) -> bool:
        return self._asked.is_set()

    def is_over(self) -> bool:
        return time.monotonic() >= self._over_at

    def wait(self, seconds: float) -> bool:
        """Whether it was asked within so many seconds."""
        return self._asked.wait(seconds)
