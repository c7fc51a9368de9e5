"""Running `shipworthy` as a user does: the installed command, with an environment of its own."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import structlog

from shipworthy.cli.main import app
from tests.support.service import RunningService

COMMAND = Path(sys.executable).with_name("shipworthy")


@dataclass(frozen=True, slots=True)
class Done:
    """What a command said, and its exit code; negative for a signal."""

    code: int
    out: str
    err: str


Shipworthy = Callable[..., Done]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty working directory and no settings of whoever runs the tests."""
    for name in [
        name for name in os.environ if name.startswith(("SHIPWORTHY_", "COLUMNS", "NO_COLOR", "FORCE_COLOR"))
    ]:
        monkeypatch.delenv(name)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture(autouse=True)
def silent_service() -> Iterator[None]:
    """The service of these tests lives in this process, and would log into what the command prints."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


@pytest.fixture
def shipworthy(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shipworthy:
    """Runs a command within this process, through its entry point: a process each would take a second each."""

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["shipworthy", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            app()
        out, err = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(int(ended.value.code), out, err)

    return run


def spawn(*arguments: str, **environ: str) -> Done:
    """Runs the installed command in a process of its own."""
    done = subprocess.run(
        [COMMAND, *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def recorder(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    """A recorder of the service on either database, whose address and key are in the environment."""
    return connect(service, monkeypatch)


@pytest.fixture
def sqlite_recorder(sqlite_service: RunningService, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    return connect(sqlite_service, monkeypatch)


def connect(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    client = service.client("recorder")
    monkeypatch.setenv("SHIPWORTHY_URL", service.url)
    monkeypatch.setenv("SHIPWORTHY_TOKEN", client.headers["authorization"].removeprefix("Bearer "))
    return client


@pytest.fixture
def author(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    """Who writes contracts, and whose key the command line uses."""
    client = service.client("author", owner="ada@example.org")
    monkeypatch.setenv("SHIPWORTHY_URL", service.url)
    monkeypatch.setenv("SHIPWORTHY_TOKEN", client.headers["authorization"].removeprefix("Bearer "))
    return client


@pytest.fixture
def worker(service: RunningService) -> httpx.Client:
    return service.client("worker")
