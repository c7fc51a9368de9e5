"""The worker of the embedded default: one process beside the API, started when there is work for the first time, or at
once when it has a registry to reconcile.

It gets a key of its own, which lives in its memory and in the pipe to it, is retired when it ends, and is over in a
day whatever happens.
"""

import subprocess
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from api.cli.worker import worker_command
from api.services import Services
from api.workers.settings import WorkerSettings
from models.actor import EvidenceLevel, Role
from models.errors import ShipworthyError
from models.keys.administration import create_key, retire_key
from models.work.queue import may_claim
from models.work.roots import SIGN_SECONDS, note_roots, roots_to_note
from models.work.states import WorkKind

NAMESPACE: Final = "default"
KINDS: Final = tuple(WorkKind)
KEY_LIFE: Final = timedelta(days=1)
KEPT_SECONDS: Final = 23 * 3600.0
"""A worker of this age is replaced, so that its key does not end under it."""
LONGEST_PAUSE: Final = 60.0
STOP_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.5
_ROOTS_SECONDS: Final = SIGN_SECONDS / 10
"""Roots count as read for SIGN_SECONDS and longer; looked after each time, they were half of what idling costs."""

log = structlog.get_logger()


class EmbeddedWorker:
    """Starts the worker when work waits for it, again when it dies, and ends it with `stop`."""

    def __init__(self, services: Services, settings: WorkerSettings) -> None:
        self._services = services
        self._settings = settings
        self._stopping = threading.Event()
        self._roots_noted = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="embedded-worker", daemon=True)

    def start(self) -> None:
        """Watches from now on; nothing is started yet. Raises Unavailable."""
        self._note_roots()
        self._thread.start()

    def stop(self) -> None:
        """Ends the worker, which gives its work back, and its key. The service must still answer meanwhile."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        failures = 0
        while not self._stopping.wait(_LOOK_SECONDS):
            begun = time.monotonic()
            try:
                if not self._is_needed():
                    continue
                self._one_worker()
            except ShipworthyError as error:
                log.warning("worker_not_started", reason=error.detail)
            except Exception:  # the border of the thread: without it no check would ever run again
                log.exception("worker_not_started")
            if self._stopping.is_set():
                return
            failures = 0 if time.monotonic() - begun > LONGEST_PAUSE else failures + 1
            self._stopping.wait(min(LONGEST_PAUSE, 2.0**failures))

    def _is_needed(self) -> bool:
        if self._settings.mlflow_uri:
            return True
        if time.monotonic() - self._roots_noted > _ROOTS_SECONDS:
            self._note_roots()
        with self._services.database.one_statement() as connection:
            return may_claim(connection, NAMESPACE, KINDS, self._settings.roots.keys(), datetime.now(UTC))

    def _note_roots(self) -> None:
        """No worker runs yet that would say so itself, and nothing is queued for roots that nobody reads."""
        self._roots_noted, now = time.monotonic(), datetime.now(UTC)
        with self._services.database.read() as session:
            new = roots_to_note(session.connection(), NAMESPACE, self._settings.roots.keys(), now)
        if new:
            with self._services.database.connection() as connection:
                note_roots(connection, NAMESPACE, new, now)

    def _one_worker(self) -> None:
        """From its start until it ended."""
        key = create_key(
            self._services.ledger,
            self._services.ring,
            namespace=NAMESPACE,
            roles=[Role.WORKER],
            level=EvidenceLevel.SERVER_RUN,
            expires_at=datetime.now(UTC) + KEY_LIFE,
        )
        try:
            code = self._process(key.token)
        finally:
            retire_key(
                self._services.ledger, key.key_id, namespace=NAMESPACE, reason="the embedded worker ended"
            )
            self._services.authenticator.forget(key.key_id)
        if not self._stopping.is_set():
            log.warning("worker_ended", exit_code=code)

    def _process(self, token: str) -> int:
        # A session of its own: Ctrl-C in the terminal is for the service, which then ends the worker in order.
        process = subprocess.Popen(
            worker_command(self._settings), stdin=subprocess.PIPE, start_new_session=True, text=True
        )
        assert process.stdin is not None
        begun = time.monotonic()
        try:
            process.stdin.write(f"{token}\n")
            process.stdin.flush()
            while process.poll() is None and time.monotonic() - begun < KEPT_SECONDS:
                if self._stopping.wait(_LOOK_SECONDS):
                    break
        except BrokenPipeError:
            pass  # It ended before it read its key; its exit code tells.
        return _ended(process)


def _ended(process: "subprocess.Popen[str]") -> int:
    """Closes the worker's input, which is how it is told to end, and waits; kills one that does not."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        return process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
