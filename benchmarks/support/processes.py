"""Servers under test as processes of their own, and what they cost: processor time and resident memory from /proc."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import make_url

from models.database import Database, durability
from tests.support.databases import DatabaseUrls
from tests.support.postgres import SERVICE_ROLE, PostgresServer

READY_SECONDS: Final = 240.0
"""Four workers of MLflow import for a minute on two busy cores."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_ADDRESS: Final = re.compile(r"listens on http://127\.0\.0\.1:(\d+)")
_TOKEN: Final = re.compile(r"^ +recorder +(sw_\S+)$", re.MULTILINE)
_FIRST_START: Final = re.compile(rf"(?ms){_ADDRESS.pattern}.*{_TOKEN.pattern}")
"""The keys are made while the first tick runs: on a busy machine that takes seconds after the address is known."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; `token` is that of its first recorder, None when it asks for none."""

    process: subprocess.Popen[bytes]
    port: int
    token: str | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        """SIGKILL: nothing gets a chance to be tidied up."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Asks the server to stop and waits; kills its process group when it does not."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()


def start_shipworthy(
    folder: Path, urls: DatabaseUrls, *, token: str | None = None, options: Sequence[str] = ()
) -> Server:
    """Starts the service with its data under `folder`; the first start shows the token that later ones need."""
    folder.mkdir(parents=True, exist_ok=True)
    output = folder / "server.log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")}
    environment["SHIPWORTHY_DATABASE_URL"] = urls.service_url
    if urls.dialect == "postgresql":
        environment["SHIPWORTHY_MIGRATION_URL"] = urls.migration_url
    command = [_script("shipworthy-server"), "serve", "--port", "0", "--data", str(folder / "data"), *options]
    process = _started(command, output, environment)
    text = _wait_for(_ADDRESS if token else _FIRST_START, process, output)
    found = _TOKEN.search(text)
    address = _ADDRESS.search(text)
    assert address is not None
    return Server(process, int(address.group(1)), found.group(1) if found else token)


@contextmanager
def shipworthy(folder: Path, urls: DatabaseUrls) -> Iterator[Server]:
    """The service over a database whose settings let no acknowledged record get lost."""
    require_durable(urls)
    server = start_shipworthy(folder, urls)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def mlflow_server(folder: Path, database_url: str, *, workers: int = 4) -> Iterator[Server]:
    """An MLflow tracking server on a PostgreSQL database, from the environment that requirements/mlflow.txt fills."""
    executable = Path(".venv-mlflow/bin/mlflow").absolute()
    if not executable.exists():
        raise SystemExit("MLflow is not installed: run `make bench`, which fills .venv-mlflow")
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    address = (
        make_url(database_url).set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)
    )
    command = [
        str(executable),
        "server",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--workers",
        str(workers),
    ]
    command += ["--backend-store-uri", address, "--artifacts-destination", str(folder / "artifacts")]
    # Its background jobs (scorers, prompt optimisation) take no part; off, they cost it nothing here.
    environment = os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "GIT_PYTHON_REFRESH": "quiet"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PATH"] = f"{executable.parent}:{environment['PATH']}"
    output = folder / "mlflow.log"
    process = _started(command, output, environment, folder)
    server = Server(process, port)
    try:
        _wait_for(re.compile(rf"(?s)(Application startup complete.*){{{workers}}}"), process, output)
        yield server
    finally:
        server.stop()


@contextmanager
def postgresql() -> Iterator[PostgresServer]:
    """A PostgreSQL with fsync on, as it comes."""
    server = PostgresServer.start(fsync=True)
    try:
        yield server
    finally:
        server.stop()


def new_database(server: PostgresServer, name: str) -> DatabaseUrls:
    """An empty database; the service migrates it when it starts."""
    owner_url = server.create_database(name)
    return DatabaseUrls("postgresql", server.url(SERVICE_ROLE, name), owner_url)


def sqlite_database(folder: Path) -> DatabaseUrls:
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{folder / 'shipworthy.sqlite3'}"
    return DatabaseUrls("sqlite", url, url)


def require_durable(urls: DatabaseUrls) -> None:
    """SystemExit unless a commit is on the disk before it is answered: figures without that say nothing."""
    database = Database(urls.service_url)
    try:
        with database.connection() as connection:
            settings = durability(connection)
    finally:
        database.dispose()
    # PRAGMA synchronous is a number: 2 is FULL.
    wanted = {"journal_mode": "wal", "synchronous": "2", "fsync": "on", "synchronous_commit": "on"}
    loose = {name: value for name, value in settings.items() if wanted.get(name, value) != value}
    if loose:
        raise SystemExit(f"refused: the database may lose committed records with {loose}; set {wanted}")


def processor_seconds(pid: int) -> float:
    """User and system time of a process and all its descendants, also of those that ended."""
    total = 0.0
    for each in _family(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(ticks) for ticks in fields[11:15]) / _TICKS
    return total


def resident_bytes(pid: int) -> int:
    """Resident memory of one process, without its children."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def load_average() -> str:
    """How busy the machine was, for the reader of a figure."""
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def _family(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for each in found:
        found.extend(children.get(each, ()))
    return found


def _script(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _started(
    command: list[str], output: Path, environment: Mapping[str, str], folder: Path | None = None
) -> subprocess.Popen[bytes]:
    # Told to end, leave by the `finally` clauses: what was started must not stay behind.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with output.open("wb") as file:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )


def _wait_for(pattern: re.Pattern[str], process: subprocess.Popen[bytes], output: Path) -> str:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        text = output.read_text(errors="replace")
        # The address comes first and the keys of a first start after it: a pause lets both be written.
        if pattern.search(text):
            time.sleep(0.5)
            return output.read_text(errors="replace")
        if process.poll() is not None:
            raise RuntimeError(f"{Path(process.args[0]).name} ended at once:\n{text[-4000:]}")  # type: ignore[index]
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    raise RuntimeError(f"the server was not ready in {READY_SECONDS} s:\n{output.read_text()[-4000:]}")


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
