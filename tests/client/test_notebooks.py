"""Notebooks and prompts: a run stays open between cells, an error in a cell is not its end, nothing is hooked."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shipworthy.sync import sync_folder
from tests.support.pipelines import environment, run_program, token_of, told
from tests.support.service import RunningService

DONE = "cell done"


class Kernel:
    """An interactive interpreter, as a notebook's kernel is one: cells come one by one, errors are printed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def cell(self, source: str) -> list[str]:
        """Runs a cell, and gives the lines that it printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{source}\n\nprint({DONE!r})\n")
        self._process.stdin.flush()
        printed: list[str] = []
        while (line := self._process.stdout.readline().rstrip("\n")) != DONE:
            assert self._process.poll() is None
            printed.append(line)
        return printed

    def restart(self) -> None:
        """What “Restart kernel” does to a kernel that doesn't stop by itself."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(30)


@contextmanager
def kernel(folder: Path, **variables: str) -> Iterator[Kernel]:
    with (
        (folder / "errors.txt").open("a") as errors,
        subprocess.Popen(
            [sys.executable, "-i", "-q"],
            cwd=folder,
            env=environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        yield Kernel(process)
        if process.poll() is None and process.stdin is not None:
            process.stdin.close()


@pytest.fixture
def variables(sqlite_service: RunningService) -> dict[str, str]:
    client = sqlite_service.client("recorder")
    return {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}


def test_run_goes_on_over_cells_and_their_errors(
    tmp_path: Path, variables: dict[str, str], sqlite_service: RunningService
) -> None:
    with kernel(tmp_path, **variables) as notebook:
        (run_id,) = notebook.cell(
            "import shipworthy; run = shipworthy.run('notebook/cells', config={'lr': 0.1}); print(run.id)"
        )
        notebook.cell("for step in range(3):\n    run.log(step=step, loss=1.0)\n")
        assert notebook.cell("1 / 0") == []
        notebook.cell("run.log(step=3, loss=0.5)")
        assert notebook.cell("print(shipworthy.current_run() is run, shipworthy.flush(30))") == ["True True"]
        client = sqlite_service.client("recorder")
        assert client.get(f"/v1/runs/{run_id}").json()["state"] == "running"
        notebook.cell("run.finish()")
    found = told(client, run_id)
    assert (sorted(found.steps()), found.states()) == ([0, 1, 2, 3], ["completed"])


def test_run_left_open_is_no_failure_of_a_cell_that_was_mended(tmp_path: Path) -> None:
    with kernel(tmp_path) as notebook:
        notebook.cell("import shipworthy; run = shipworthy.run('notebook/open', capture=False)")
        notebook.cell("1 / 0")
        notebook.cell("run.log(step=1, loss=1.0)")
    (journal,) = (tmp_path / ".shipworthy").glob("*/*.jsonl")
    last = journal.read_text().splitlines()[-1]
    assert '"state":"aborted"' in last
    assert "the process ended before run.finish() was called" in last


def test_restarted_kernel_begins_another_run_and_loses_nothing_of_the_first(
    tmp_path: Path, variables: dict[str, str], sqlite_service: RunningService
) -> None:
    begin = "import shipworthy; run = shipworthy.run('notebook/restart', capture=False); print(run.id)"
    with kernel(tmp_path) as notebook:
        (first,) = notebook.cell(begin)
        notebook.cell("run.log(step=1, loss=1.0)")
        notebook.restart()
    with kernel(tmp_path, **variables) as notebook:
        (second,) = notebook.cell(begin)
        # The cell is run once more: another run, and the one before is over with the kernel.
        (third,) = notebook.cell(begin)
        notebook.cell("run.finish()")
    client = sqlite_service.client("recorder")
    sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert len({first, second, third}) == 3
    assert (told(client, first).steps(), told(client, first).states()) == ([1], [])
    assert told(client, second).states() == ["aborted"]
    assert told(client, third).states() == ["completed"]


def test_nothing_of_the_notebook_is_touched(tmp_path: Path) -> None:
    source = """
        import builtins, signal, sys, threading, types
        touched = []
        class Spy(types.ModuleType):
            def __getattr__(self, name):
                # Whoever looks which modules are loaded asks these of every module.
                if name not in ("__file__", "__version__", "__path__", "__spec__"):
                    touched.append(name)
                raise AttributeError(name)
        sys.modules["IPython"] = sys.modules["ipykernel"] = Spy("IPython")
        def get_ipython():
            touched.append("get_ipython")
            return Spy("shell")
        builtins.get_ipython = get_ipython
        sys.ps1 = "In : "
        def state():
            return [
                sys.ps1, getattr(sys, "ps2", None), sys.displayhook, sys.excepthook, sys.unraisablehook,
                sys.breakpointhook, threading.excepthook, sys.stdout, sys.stderr, sys.gettrace(), sys.getprofile(),
                list(sys.meta_path), list(sys.path_hooks), builtins.print, builtins.__import__, builtins.input,
                {number: signal.getsignal(number) for number in signal.valid_signals()},
            ]
        before = state()
        import shipworthy
        with shipworthy.run("notebook/hooks", config={"lr": 0.1}) as run:
            run.log(step=1, loss=1.0)
            print(state() == before)
        print(state() == before, touched)
    """
    done = run_program(source, tmp_path, {})
    assert done.stdout.splitlines() == ["True", "True []"], done.stdout + done.stderr
