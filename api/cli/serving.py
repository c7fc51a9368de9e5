"""What `shipworthy-server serve` runs: the service in one process, until it is told to stop. In a module of its own,
since it imports all routes, which no other command needs."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from anyio import to_thread
from sqlalchemy import URL

from api.app import create_app
from api.cli.embedded import EmbeddedWorker
from api.cli.memory import UNUSED, bound_heap, spare_collector, without
from api.cli.migrating import migrate_apart
from api.cli.opening import fail, told_plainly
from api.log_lines import log_lines
from api.loopback import assert_loopback
from api.request_patience import PatientProtocol
from api.services import Services, opened_services
from api.settings import Settings, read_settings
from api.telemetry import bound_export
from api.ticks.attempts import abandon_overdue
from api.ticks.clock import ticking
from api.ticks.settling import WindowTick
from api.watching import Watch
from api.workers.settings import (
    WorkerSettings,
    missing_packages,
    parse_roots,
    require_packages,
    with_registry,
)
from models.actor import Role
from models.database import POOL_SIZE
from models.keys.administration import create_key
from models.keys.store import list_keys

DRAIN_SECONDS: Final = 20
"""How long requests under way may take after a signal to stop."""


def serve_until_stopped(host: str, port: int, data: Path, open_mode: bool, root: list[str]) -> None:
    """Ends the command with a sentence when something of it is refused."""
    # uvicorn drains and then raises the signal anew: by default that would end the process before it closes
    # the ledger, and as if it had been killed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    bound_heap()
    with told_plainly(data):
        settings = read_settings(data)
        roots = parse_roots(root)
        registry = with_registry(WorkerSettings(url="", roots=roots))
        if roots or registry.mlflow_uri:
            require_packages()
        log_lines(settings.log_level)
        bound_export(os.environ)
        if open_mode:
            assert_loopback(host)
        listener = _listener(host, port)
        settings = migrate_apart(settings)
        with _end_told(), opened_services(settings, open_mode=open_mode) as services:
            bound = listener.getsockname()[1]
            _greet(services, host, bound, open_mode)
            with without(*UNUSED):
                app = create_app(services)
            config = uvicorn.Config(
                app,
                http=PatientProtocol,
                ws="none",
                loop="uvloop" if sys.platform != "win32" else "asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=DRAIN_SECONDS,
                timeout_keep_alive=75,
            )
            worker = None
            if roots or not missing_packages():
                worker = EmbeddedWorker(services, _worker_settings(registry, settings, host, bound))
                worker.start()
            spare_collector()
            windows = WindowTick(services.database, services.ledger, services.blobs)
            try:
                with ticking(lambda now: abandon_overdue(services.database, services.ledger, now), windows):
                    _Server(config, app.state.watch, worker).run([listener])
                windows.close()
            finally:
                if worker is not None:
                    worker.stop()


@contextmanager
def _end_told() -> Iterator[None]:
    """A last line for who told the service to stop, once all of it is closed."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        say(
            f"Shipworthy has stopped: requests under way got up to {DRAIN_SECONDS} s to end, and all that was "
            "accepted is written."
        )
        raise


class _Server(uvicorn.Server):
    """Ends the worker before itself: a worker that gives back its work needs somebody to give it to. Pages that wait
    for news are let go first: their streams would last as long as they may."""

    def __init__(self, config: uvicorn.Config, watch: Watch, worker: EmbeddedWorker | None) -> None:
        super().__init__(config)
        self._watch, self._worker = watch, worker

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # Nearly all that a thread does for a request is ask the database: more threads would wait for a connection.
        to_thread.current_default_thread_limiter().total_tokens = POOL_SIZE
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._watch.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            super().handle_exit(sig, frame)
            return
        # In a thread: this is a signal handler, and the loop that it interrupted has to answer the worker.
        threading.Thread(target=self._end, args=(worker, sig)).start()

    def _end(self, worker: EmbeddedWorker, sig: int) -> None:
        worker.stop()
        super().handle_exit(sig, None)


def _worker_settings(asked: WorkerSettings, settings: Settings, host: str, port: int) -> WorkerSettings:
    """One check at a time, on the address at which this machine reaches the service."""
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return replace(
        asked,
        url=f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}",
        claim_seconds=1,
        grace_seconds=0,
        embedded=True,
        log_level=settings.log_level,
    )


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        fail(f"can't listen on {host}:{port} ({error.strerror}); choose another with --host and --port")
    listener.listen(2048)
    return listener


def _greet(services: Services, host: str, port: int, open_mode: bool) -> None:
    """Where the service is, and on the very first start the two keys to begin with."""
    shown = f"[{host}]" if ":" in host else host
    say(f"Shipworthy listens on http://{shown}:{port} with data in {services.settings.data}.")
    say(f"database: {_database_in_words(services.database.url)}")
    if open_mode:
        say(
            "OPEN MODE: no keys are asked for; everyone who reaches this address may record and decide as “local”."
        )
        return
    with services.database.read() as session:
        known = bool(list_keys(session, None, None, 1))
    if known:
        return
    admin = create_key(services.ledger, services.ring, namespace="default", roles=[Role.ADMIN])
    recorder = create_key(services.ledger, services.ring, namespace="default", roles=[Role.RECORDER])
    say("First start. These two keys are shown this once:")
    say(f"  admin     {admin.token}")
    say(f"  recorder  {recorder.token}")
    say(
        "Keep the recorder key, which records runs. The admin key only reads as yet: keys are made on this machine."
    )
    say("More keys: shipworthy-server keys create --role ROLE --owner ADDRESS")


def _database_in_words(url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        return f"SQLite in {url.database}"
    port = f":{url.port}" if url.port else ""
    return f"PostgreSQL {url.database} on {url.host or url.query.get('host') or 'a local socket'}{port}"


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - a command speaks to a person
