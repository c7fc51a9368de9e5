"""`mlflow server` processes, plain and guarded, as an administrator starts them."""

import base64
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Final, Literal

ENVIRONMENT: Final = Path(__file__).resolve().parents[3] / ".venv-mlflow"
"""Filled by `make test-live`."""
READY_SECONDS: Final = 300.0
"""An MLflow server imports for five to ten seconds of processor time, beside others."""
ADMINISTRATOR: Final = ("admin", "correct-horse-battery-staple")
_SECRET: Final = "for tests only: signs the forms of basic-auth"


@dataclass(frozen=True, slots=True)
class Flavour:
    """One way to run MLflow. The guard is in by the scheme of its registry's address; `named`: by --app-name
    too, which refuses a server without it; basic-auth takes that option for itself."""

    database: Literal["sqlite", "postgresql"]
    kind: Literal["uvicorn", "gunicorn"]
    authenticated: bool
    guarded: bool
    named: bool = False

    def __str__(self) -> str:
        parts = ("guarded" if self.guarded else "plain", self.database, self.kind)
        return "-".join((*parts, "basic-auth") if self.authenticated else parts)

    @property
    def short(self) -> str:
        """For paths: MLflow keeps 200 characters of a run's."""
        return "".join(part[0] for part in str(self).split("-"))

    @property
    def application(self) -> str | None:
        """What --app-name says, None when it is left out."""
        if self.authenticated:
            return "basic-auth"
        return "shipworthy" if self.named else None


@dataclass(frozen=True, slots=True)
class MlflowServer:
    """A running server. `database_url` is SQLAlchemy's without the guard's scheme; `artifacts` is the folder behind
    the artifact proxy."""

    flavour: Flavour
    process: subprocess.Popen[bytes]
    port: int
    database_url: str
    artifacts: Path
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def authorization(self) -> Mapping[str, str]:
        """The header of the administrator, for whom the guard makes no exception."""
        if not self.flavour.authenticated:
            return {}
        pair = base64.b64encode(":".join(ADMINISTRATOR).encode()).decode()
        return {"Authorization": f"Basic {pair}"}

    def wait(self) -> None:
        """Until the server answers; RuntimeError with its log when it ended or does not."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.flavour} ended with {self.process.returncode}:\n{self.written()}")
            with (
                contextlib.suppress(OSError),
                contextlib.closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection,
            ):
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            time.sleep(0.1)
        raise RuntimeError(f"{self.flavour} was not ready in {READY_SECONDS:.0f} s:\n{self.written()}")

    def written(self) -> str:
        return self.log.read_text(errors="replace")[-6000:]

    def stop(self) -> None:
        """Nothing of it is needed any more: its whole process group, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start_mlflow(
    flavour: Flavour, folder: Path, database_url: str, guard: Mapping[str, str] | None = None
) -> MlflowServer:
    """Starts a server and does not wait for it; `guard` holds the guard's SHIPWORTHY_… variables."""
    folder.mkdir(parents=True)
    port = free_port()
    artifacts = folder / "artifacts"
    log = folder / "mlflow.log"
    options = {
        "--host": "127.0.0.1",
        "--port": str(port),
        "--workers": "1",
        "--backend-store-uri": database_url,
        "--artifacts-destination": str(artifacts),
    }
    if flavour.guarded:
        options["--registry-store-uri"] = f"shipworthy+{database_url}"
    if flavour.application is not None:
        options["--app-name"] = flavour.application
    if flavour.kind == "gunicorn":
        # Its default of 30 s for a worker that shows no life is too short for the imports on a busy machine.
        options["--gunicorn-opts"] = "--threads 8 --timeout 300"
    command = [str(ENVIRONMENT / "bin" / "mlflow"), "server"]
    command += [part for option in options.items() for part in option]
    environment = clean_environment() | (dict(guard or {})) | _authentication(flavour, folder)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    return MlflowServer(flavour, process, port, database_url, artifacts, log)


def clean_environment() -> dict[str, str]:
    """This process's variables without those that MLflow or Shipworthy would read."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SHIPWORTHY_", "MLFLOW_", "PYTHON"))
    }
    kept["PATH"] = f"{ENVIRONMENT / 'bin'}:{kept.get('PATH', '')}"
    # Background jobs (scorers, prompt optimisation) are seven more processes for each server.
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet"}
    return kept | quiet | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _authentication(flavour: Flavour, folder: Path) -> dict[str, str]:
    if not flavour.authenticated:
        return {}
    configuration = folder / "basic_auth.ini"
    name, password = ADMINISTRATOR
    # Without the cache each request spends a tenth of a second on hashing the password.
    configuration.write_text(
        f"[mlflow]\ndefault_permission = READ\ndatabase_uri = sqlite:///{folder / 'users.sqlite3'}\n"
        f"admin_username = {name}\nauthorization_function = mlflow.server.auth:authenticate_request_basic_auth\n"
        "auth_cache_ttl_seconds = 3600\n"
    )
    return {
        "MLFLOW_AUTH_CONFIG_PATH": str(configuration),
        "MLFLOW_AUTH_ADMIN_PASSWORD": password,
        "MLFLOW_FLASK_SERVER_SECRET_KEY": _SECRET,
    }
