"""All of the capture at once: complete, bounded in time, and without an exception whatever fails."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from models.kinds.ingredients import Code, Config, Environment, Hardware, Seeds
from shipworthy.capture.collect import Captured, collect
from shipworthy.formats.digests import sha256_digest
from tests.client.capture.launches import SOURCE
from tests.client.capture.repositories import ENVIRONMENT, git, make_repository
from tests.client.capture.test_hardware import Nvml


def check(captured: Captured) -> None:
    """Each document as the service reads it."""
    Code.model_validate(captured.code)
    Seeds.model_validate(captured.seeds)
    for model, document in (
        (Environment, captured.environment),
        (Hardware, captured.hardware),
        (Config, captured.config),
    ):
        if document is not None:
            model.model_validate(document)


def test_everything_of_a_run_is_captured(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    (repository / "train.py").write_text("epochs = 30\n")
    captured = collect({"lr": 0.1, "seed": 7, "api_key": "k3y"}, ENVIRONMENT, folder=repository)
    check(captured)
    assert captured.code["commit"] == git(repository, "rev-parse", "HEAD")
    assert captured.diff is not None
    assert captured.code["diff"] == sha256_digest(captured.diff)
    assert captured.config is not None
    assert captured.config["redacted"] == ["/api_key"]
    assert captured.seeds["values"] == {"config/seed": 7}
    assert captured.environment is not None
    assert captured.hardware is not None


def test_run_without_config_has_none(tmp_path: Path) -> None:
    captured = collect(environ=ENVIRONMENT, folder=tmp_path)
    check(captured)
    assert captured.config is None


def test_driver_that_hangs_costs_the_hardware_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    class Hanging(Nvml):
        def nvmlInit(self) -> None:
            released.wait(30)
            raise self.NVMLError("late")

    monkeypatch.setitem(sys.modules, "pynvml", Hanging())
    started = time.monotonic()
    try:
        captured = collect({"lr": 0.1}, ENVIRONMENT, folder=tmp_path, budget_seconds=1.0)
    finally:
        released.set()
    assert time.monotonic() - started < 2
    check(captured)
    assert captured.hardware is None
    assert "the hardware is not known: it took too long to find out" in captured.reasons
    assert captured.environment is not None
    assert captured.config is not None


def test_fault_of_a_part_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Faulty(Nvml):
        def nvmlInit(self) -> None:
            raise ZeroDivisionError("password=hunter2")

    monkeypatch.setitem(sys.modules, "pynvml", Faulty())
    captured = collect(environ=ENVIRONMENT, folder=tmp_path)
    check(captured)
    assert "the hardware is not known: ZeroDivisionError: password=***" in captured.reasons


@pytest.mark.parametrize("place", ["script", "module", "notebook"])
def test_source_is_that_of_the_main_program(place: str, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    program = "from shipworthy.capture.collect import collect\nprint(collect().code.get('path', '.'))\n"
    (repository / "src" / "run.py").write_text(program)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # A notebook's main module has no file, and its cells run in the folder of the notebook.
    command, folder = {
        "script": ([str(repository / "src" / "run.py")], elsewhere),
        "module": (["-m", "src.run"], repository),
        "notebook": (["-c", program], repository / "src"),
    }[place]
    finished = subprocess.run(
        [sys.executable, "-S", *command],
        cwd=folder,
        env={**ENVIRONMENT, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (finished.stdout, finished.stderr) == ("src\n", "")


def test_no_hook_of_ipython_is_needed_or_set(tmp_path: Path) -> None:
    hooks = (sys.displayhook, sys.excepthook, threading.excepthook)
    collect(environ=ENVIRONMENT, folder=tmp_path)
    assert (sys.displayhook, sys.excepthook, threading.excepthook) == hooks
    assert "IPython" not in sys.modules


def test_capture_loads_no_heavy_library() -> None:
    # The core of the client goes into every training process.
    program = (
        "import sys; from shipworthy.capture.collect import collect; "
        "heavy = {'ssl', 'http.client', 'subprocess', 'uuid', 'asyncio', 'email', 'urllib.request', 'numpy', 'torch'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-S", "-c", program]
    environ = {**ENVIRONMENT, "PYTHONPATH": str(SOURCE)}
    assert subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout == "[]\n"
