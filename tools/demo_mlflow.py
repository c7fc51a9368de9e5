"""The part of `make demo` about a model registry: MLflow's own client moves an alias on a guarded `mlflow server`.

Server and client take long to import, so that both begin at once in the background; where that doesn't succeed the demo
says so and goes on.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

from demo_commands import call, tell

ENVIRONMENT: Final = Path(".venv-mlflow")
FILLED: Final = ENVIRONMENT / ".projects"
START_SECONDS: Final = 240
STOP_SECONDS: Final = 15
CLIENT: Final = Path(__file__).with_name("demo_mlflow_client.py")
MODEL: Final = "tumour-screening"
FILES: Final = {"1": "model.joblib", "2": "candidate-2.npy", "3": "candidate-3.npy"}
"""What examples/ trained for each version, so that MLflow's numbers are those of the records."""


class Trouble(Exception):
    """MLflow can't be shown; the text says why."""


class Registry:
    """A guarded `mlflow server` and a process with MLflow's client, both started beside the rest of the demo."""

    def __init__(self, folder: Path, guard: Mapping[str, str], port: int) -> None:
        self.folder = folder.absolute()
        self.url = f"http://127.0.0.1:{port}"
        self._port = port
        self._guard = guard
        self._processes: list[subprocess.Popen[str]] = []
        self._trouble: str | None = None
        try:
            self._start()
        except (Trouble, OSError) as error:
            self._trouble = str(error)

    def wait(self) -> None:
        """Until both are there. Raises Trouble."""
        deadline = time.monotonic() + START_SECONDS
        while self._trouble is None and time.monotonic() < deadline:
            if any(process.poll() is not None for process in self._processes):
                break
            try:
                with urlopen(f"{self.url}/health", timeout=5):
                    self._answer()
                    return
            except (URLError, OSError):
                time.sleep(0.2)
        raise Trouble(self._trouble or f"it did not start; {self.folder}/server.log and client.log say why")

    def do(self, statement: str) -> None:
        """Has MLflow's client do it, and shows what a user would see."""
        print(f">>> {statement}", flush=True)
        print(self._ask(statement)["printed"], end="", flush=True)

    def prepare(self, statement: str) -> None:
        """Does it unseen. Raises Trouble when it fails."""
        answer = self._ask(statement)
        if answer["failed"]:
            raise Trouble(f"{statement} failed: {answer['printed']}")

    def stop(self) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self) -> None:
        require_environment()
        self.folder.mkdir(parents=True)
        database = f"sqlite:///{self.folder}/mlflow.sqlite3"
        self._launch(
            "server",
            "mlflow", "server", "--host", "127.0.0.1", "--port", str(self._port), "--workers", "1",
            "--backend-store-uri", database,
            "--registry-store-uri", f"shipworthy+{database}",
            "--artifacts-destination", str(self.folder / "artifacts"),
            "--app-name", "shipworthy",
        )  # fmt: skip
        self._launch("client", "python", str(CLIENT))

    def _launch(self, name: str, program: str, *arguments: str) -> None:
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("MLFLOW_", "SHIPWORTHY_"))
        }
        own = {"MLFLOW_TRACKING_URI": self.url} if name == "client" else self._guard
        # Background jobs are seven more processes, and nothing here needs them.
        more = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "GIT_PYTHON_REFRESH": "quiet"}
        binaries = ENVIRONMENT.absolute() / "bin"
        path = f"{binaries}{os.pathsep}{kept.get('PATH', '')}"
        with (self.folder / f"{name}.log").open("w") as log:
            process = subprocess.Popen(
                [str(binaries / program), *arguments],
                env={**kept, **own, **more, "PATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if name == "client" else log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self._processes.append(process)

    def _ask(self, statement: str) -> dict[str, Any]:
        stdin = self._processes[1].stdin
        assert stdin is not None
        stdin.write(json.dumps(statement) + "\n")
        stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        stdout = self._processes[1].stdout
        assert stdout is not None
        line = stdout.readline()
        if not line:
            raise Trouble(f"its client ended; {self.folder}/client.log says why")
        return dict(json.loads(line))


def require_environment() -> None:
    if os.environ.get("DEMO_MLFLOW") == "0":
        raise Trouble("DEMO_MLFLOW=0 leaves it out")
    if not FILLED.exists():
        raise Trouble(f"its environment {ENVIRONMENT} is not filled; `make {FILLED}` says why")


@contextmanager
def registry(folder: Path, service: str, token: str) -> Iterator[Registry]:
    """Starts and does not wait; stopped at the end of the block."""
    guard = {"SHIPWORTHY_URL": service, "SHIPWORTHY_TOKEN": token}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    started = Registry(folder, guard, port)
    try:
        yield started
    finally:
        started.stop()


def move_the_champion(started: Registry, folder: Path, environ: Mapping[str, str]) -> None:
    """Three tries to make a version the champion. `folder` holds what was trained; versions 2 and 3 were decided on."""
    tell("MLflow asks before it moves a name: version 3 failed its gate, version 2 passed")
    try:
        started.wait()
        _show_server(started)
        _register(started, folder)
        asking = {**environ, "MLFLOW_TRACKING_URI": started.url}
        call(["shipworthy", "import", "mlflow"], asking)
        started.do(_alias("3"))
        started.do(_alias("2"))
        started.do(f'client.get_model_version_by_alias("{MODEL}", "champion").version')
        tell("Somebody swaps the file behind version 2: MLflow doesn't let them, so they do it on the disk")
        swapped = folder / "swapped" / FILES["2"]
        swapped.parent.mkdir()
        shutil.copy(folder / FILES["3"], swapped)
        started.do(f"client.log_artifact(run_2, {str(swapped)!r}, 'model')")
        (stored,) = (started.folder / "artifacts").rglob(FILES["2"])
        call(["cp", str(swapped), os.path.relpath(stored)], environ)
        started.do(_alias("2"))
    except Trouble as error:
        print(f"MLflow can't be shown here: {error}\nThe demo goes on without it.", flush=True)


def _alias(version: str) -> str:
    return f'client.set_registered_model_alias("{MODEL}", "champion", "{version}")'


def _register(started: Registry, folder: Path) -> None:
    """What a training that logs to MLflow leaves there: a run for each version, with its file."""
    started.prepare(f"client.create_registered_model({MODEL!r})")
    for version, name in FILES.items():
        run = f"run_{version}"
        for statement in (
            f"{run} = client.create_run('0').info.run_id",
            f"client.log_artifact({run}, {str(folder / name)!r}, 'model')",
            f"client.set_terminated({run})",
            f"client.create_model_version({MODEL!r}, f'runs:/{{{run}}}/model', {run})",
        ):
            started.prepare(statement)


def _show_server(started: Registry) -> None:
    print(
        "$ mlflow server --registry-store-uri shipworthy+sqlite:///… --app-name shipworthy …"
        f"    # runs at {started.url}",
        flush=True,
    )
