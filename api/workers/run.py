"""The worker process: loads the engine, runs its slots, ends them when it is told to."""

import resource
import signal
from multiprocessing import resource_tracker
from typing import Final

import structlog

from api.workers.children import run_child, start_fork_server
from api.workers.failures import WorkFailed
from api.workers.folders import private_base, private_folder
from api.workers.lease import Stopping
from api.workers.limits import limits_of
from api.workers.loop import Slot
from api.workers.reconciling import Reconciler
from api.workers.settings import WorkerSettings

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS: Final = 0.2

log = structlog.get_logger()


def block_signals() -> None:
    """To be called first, in the main thread: every thread and process of the worker inherits it.

    The signals are waited for, not handled: a handler would run in the middle of whatever holds a lock. And Ctrl-C
    reaches the worker alone, which then ends its children in order.
    """
    # It unblocks these very signals when it starts, so it has to run already.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)


class Worker:
    """One worker; `run` returns the exit code of its process: 0 when it was told to end, 1 when it could not go on."""

    def __init__(
        self, settings: WorkerSettings, token: str, registry_authorization: str | None = None
    ) -> None:
        """`registry_authorization` is the header for the MLflow server of the settings."""
        self._settings = settings
        self._token = token
        self._registry_authorization = registry_authorization
        self._stopping = Stopping(settings.grace_seconds)

    def stop(self) -> None:
        """Ends at once, and gives its work back; from any thread."""
        self._stopping.ask(at_once=True)

    def run(self) -> int:
        _raise_file_limit()
        start_fork_server()
        with private_base() as base:
            try:
                with private_folder(base) as folder:
                    engine = run_child(
                        {"kind": "ready", "files": []},
                        (),
                        limits_of(self._settings, folder),
                        folder,
                        _Anyway(self),
                    )
            except WorkFailed as error:
                log.error("worker_can_not_start", reason=error.message)
                return 1
            log.info("worker_ready", roots=sorted(self._settings.roots), slots=self._settings.slots, **engine)
            slots = [
                Slot(number, self._settings, self._token, base, self._stopping)
                for number in range(1, self._settings.slots + 1)
            ]
            for slot in slots:
                slot.start()
            if self._settings.mlflow_uri:
                Reconciler(self._settings, self._token, self._registry_authorization, self._stopping).start()
            self._watch(slots)
        troubles = {slot.trouble for slot in slots if slot.trouble}
        for trouble in troubles:
            log.error("worker_ended", reason=trouble)
        return 1 if troubles else 0

    def _watch(self, slots: list[Slot]) -> None:
        while any(slot.is_alive() for slot in slots):
            self.heed_signals(_LOOK_SECONDS)
            # What ends one slot, a key that is refused, will end the others.
            if any(slot.trouble for slot in slots):
                self._stopping.ask()

    def heed_signals(self, seconds: float) -> None:
        """Waits for a signal, at most so long."""
        if signal.sigtimedwait(_SIGNALS, seconds) is not None:
            log.info("worker_stopping", grace_seconds=self._settings.grace_seconds)
            self._stopping.ask()

    def require_going(self) -> None:
        """WorkFailed when the worker was told to end."""
        self.heed_signals(0)
        if self._stopping.is_asked():
            raise WorkFailed("worker_stopped", "it was told to end before it was ready")


class _Anyway:
    """Watches the first child, which only shows that the engine loads."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def report(self, done: int, total: int, text: str) -> None:
        """Nobody looks."""

    def require_wanted(self) -> None:
        self._worker.require_going()

    require_held = require_wanted


def _raise_file_limit() -> None:
    """A folder may hold thousands of files, each of them open while it is checked."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
