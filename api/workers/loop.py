"""The worker: slots that claim work, one thread each, until the process is told to stop."""

import random
import secrets
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import structlog

from api.workers.answers import Refused, ServiceAway
from api.workers.checks import perform
from api.workers.client import Claim, ServiceClient
from api.workers.failures import RESULT_REFUSED, WORK_REFUSED, WorkDropped, WorkFailed
from api.workers.lease import Lease, Stopping
from api.workers.results import fitted, fitted_statistics
from api.workers.settings import WorkerSettings
from api.workers.statistics import measure
from api.workers.verifying import verify
from models.work.states import WorkKind

KINDS: Final = tuple(str(kind) for kind in WorkKind)
MAX_PAUSE: Final = 30.0
COMPLETE_SECONDS: Final = 300.0
"""How long a result is offered to a service that is away."""
STOPPING_SECONDS: Final = 5.0
"""The same, when the worker is to end."""

log = structlog.get_logger()


class Backoff:
    """Pauses that double from half a second to 30 s, each between half and the whole of it, so that workers that
    lost their service at once don't come back at once."""

    def __init__(self) -> None:
        self._failures = 0

    def reset(self) -> None:
        self._failures = 0

    def next(self, retry_after: float | None) -> float:
        """Seconds to wait, never less than the service asked for."""
        longest = min(MAX_PAUSE, 0.5 * 2.0 ** min(self._failures, 16))
        self._failures += 1
        return max(retry_after or 0.0, longest * random.uniform(0.5, 1.0))


class Slot(threading.Thread):
    """Does one piece of work at a time. `trouble` is why it ended by itself, "" when it was told to."""

    def __init__(
        self, number: int, settings: WorkerSettings, token: str, base: Path, stopping: Stopping
    ) -> None:
        super().__init__(name=f"slot-{number}", daemon=True)
        self._settings = settings
        self._token = token
        self._base = base
        self._stopping = stopping
        self._backoff = Backoff()
        # Kept until a claim was answered: work that the service gave in an answer that was lost is given again.
        self._lease_token = secrets.token_hex(16)
        self.trouble = ""

    def run(self) -> None:
        client = ServiceClient(self._settings.url, self._token)
        try:
            while not self._stopping.is_asked():
                self._once(client)
        except Refused as error:
            self.trouble = f"the service refused the worker: {error.detail}"
        finally:
            client.close()

    def _once(self, client: ServiceClient) -> None:
        begun = time.monotonic()
        try:
            roots = sorted(self._settings.roots)
            claim = client.claim(KINDS, roots, self._settings.claim_seconds, self._lease_token)
        except ServiceAway as error:
            pause = self._backoff.next(error.retry_after)
            log.warning("service_away", reason=str(error), again_in_seconds=round(pause, 1))
            self._stopping.wait(pause)
            return
        self._backoff.reset()
        self._lease_token = secrets.token_hex(16)
        if claim is not None:
            self._do(client, claim)
        elif time.monotonic() - begun < self._settings.claim_seconds / 2:
            # It did not wait, whatever its reason; asking again at once would be a loop without a pause.
            self._stopping.wait(self._settings.claim_seconds / 2)

    def _do(self, client: ServiceClient, claim: Claim) -> None:
        begun = time.monotonic()
        told = log.bind(work=claim.id, kind=claim.kind, attempt=claim.attempt)
        keeper = ServiceClient(self._settings.url, self._token)
        with Lease(keeper, claim, self._settings.time_seconds, self._stopping) as lease:
            try:
                outcome, code = self._outcome(claim, lease)
                self._complete(client, claim, outcome)
            except WorkDropped as error:
                told.info("work_dropped", reason=str(error))
                return
        told.info("work_done", outcome=code, seconds=round(time.monotonic() - begun, 2))

    def _outcome(self, claim: Claim, lease: Lease) -> tuple[dict[str, Any], str]:
        """What to answer, and a word for the log. Raises WorkDropped."""
        try:
            result = self._result(claim, lease)
            return {"result": result}, str(result.get("outcome", "done"))
        except WorkFailed as error:
            return _error(error), error.code
        except WorkDropped:
            raise
        except Exception as error:  # the border of the work: one piece must not end the worker
            log.exception("work_failed", work=claim.id)
            failed = WorkFailed(
                WORK_REFUSED, f"the worker could not do this work ({type(error).__name__}); its log says more"
            )
            return _error(failed), failed.code

    def _result(self, claim: Claim, lease: Lease) -> dict[str, Any]:
        if claim.kind == WorkKind.CHECKPOINT_VERIFICATION:
            return verify(claim, self._settings, self._base, lease)
        if claim.kind != WorkKind.STATISTICS:
            return perform(claim, self._settings, self._base, lease)
        with closing(ServiceClient(self._settings.url, self._token)) as fetching:
            return measure(claim, self._settings, self._base, lease, fetching)

    def _complete(self, client: ServiceClient, claim: Claim, outcome: dict[str, Any]) -> None:
        """Posts the outcome until it is answered. Raises WorkDropped when nobody wants it any more."""
        backoff = Backoff()
        begun = time.monotonic()
        while True:
            try:
                if "result" in outcome and claim.kind == WorkKind.CONTRACT_CHECK:
                    outcome = {"result": fitted(outcome["result"], client.put_blob)}
                if "result" in outcome and claim.kind == WorkKind.STATISTICS:
                    outcome = {"result": fitted_statistics(outcome["result"], client.put_blob)}
                return client.complete(claim, outcome)
            except ServiceAway as error:
                seconds = STOPPING_SECONDS if self._stopping.is_asked() else COMPLETE_SECONDS
                pause = backoff.next(error.retry_after)
                if time.monotonic() - begun + pause > seconds:
                    raise WorkDropped(f"its result could not be given to the service: {error}") from error
                log.warning(
                    "result_not_taken", work=claim.id, reason=str(error), again_in_seconds=round(pause, 1)
                )
                if not self._stopping.is_asked():
                    self._stopping.wait(pause)
                else:
                    time.sleep(pause)
            except Refused as error:
                if error.is_about_the_key:
                    raise
                if error.status in (404, 409) or "error" in outcome:
                    raise WorkDropped(f"the service did not take it: {error}") from error
                outcome = _error(
                    WorkFailed(RESULT_REFUSED, f"the service refused the result: {error.detail}")
                )


def _error(failed: WorkFailed) -> dict[str, Any]:
    return {"error": {"code": failed.code, "message": failed.message, "retry": failed.retry}}
