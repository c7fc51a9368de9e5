"""deploy/mlflow: one command brings up all three, guarded, and takes all three down again."""

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
import yaml

from tests.live.mlflow.calls import Answer, call, send_json
from tests.live.mlflow.servers import ENVIRONMENT, Flavour, MlflowServer, clean_environment, free_port
from tests.support.memory import roomy_memory
from tests.support.postgres import PostgresServer

DEPLOYED: Final = Path(__file__).resolve().parents[3] / "deploy" / "mlflow"
FLAVOUR: Final = Flavour("postgresql", "uvicorn", authenticated=False, guarded=True, named=True)
STOP_SECONDS: Final = 60


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that the account of PostgreSQL may enter, unlike pytest's own."""
    with TemporaryDirectory(prefix="shipworthy-", dir=roomy_memory()) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def deployment(folder: Path, postgres_server: PostgresServer) -> Iterator[MlflowServer]:
    port = free_port()
    environment = clean_environment() | {
        "DATA": str(folder / "kept"),
        "MLFLOW_PORT": str(port),
        "SHIPWORTHY_PORT": str(free_port()),
        "SHIPWORTHY_BIN": str(Path(sys.executable).parent),
        "MLFLOW_BIN": str(ENVIRONMENT / "bin"),
        # Which the account may run, wherever this repository lies.
        "POSTGRES_BIN": str(postgres_server.bin_dir),
        "POSTGRES_USER": "nobody",
    }
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(DEPLOYED / "start"), "--workers", "1"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    server = MlflowServer(FLAVOUR, process, port, "", folder / "kept" / "artifacts", log)
    try:
        yield server
    finally:
        server.stop()


def test_one_command_starts_a_guarded_registry_and_stops_it(deployment: MlflowServer) -> None:
    deployment.wait()
    call(deployment, "registered-models/create", name="churn")
    call(deployment, "model-versions/create", name="churn", source="s3://bucket/model")
    call(deployment, "registered-models/alias", name="churn", alias="challenger", version="1")
    answer = _to_production(deployment)
    assert answer.status == 403
    assert answer.fields["error_code"] == "PERMISSION_DENIED"
    deployment.process.send_signal(signal.SIGTERM)
    assert deployment.process.wait(STOP_SECONDS) == 0
    assert _processes_of(deployment) == []


def _to_production(server: MlflowServer) -> Answer:
    fields = {"name": "churn", "version": "1", "stage": "Production"}
    return send_json(server, "POST", "/api/2.0/mlflow/model-versions/transition-stage", fields)


def _processes_of(server: MlflowServer) -> list[str]:
    """Command lines that name the deployment's folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(entry.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in found if str(server.artifacts.parent) in line]


def test_containers_are_told_what_the_script_tells() -> None:
    """Neither is to have an option or a variable of the guard that the other lacks."""
    script = (DEPLOYED / "start").read_text()
    services = yaml.safe_load((DEPLOYED / "compose.yaml").read_text())["services"]
    composed = " ".join(services["mlflow"]["command"])
    options = set(re.findall(r"--[a-z-]+", composed)) - {"--host", "--allowed-hosts"}
    assert options == set(
        re.findall(r"--[a-z-]+", script.partition('"$mlflow" server')[2].partition("&\n")[0])
    )
    names = {name for service in services.values() for name in service.get("environment", {})}
    told = {name for name in names if name.startswith("SHIPWORTHY_")} | {"SHIPWORTHY_TOKEN"}
    assert told == set(re.findall(r"\b(SHIPWORTHY_(?!PORT|BIN)[A-Z_]+)=", script))
