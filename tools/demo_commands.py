"""How `make demo` runs commands: shown as a person would type them, and some of them ahead of their turn."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

Completed = subprocess.CompletedProcess[str]
PERSON: Final = "DEMO_PERSON"
"""Variable with the name of the person whose token stands beside it."""


def tell(sentence: str) -> None:
    print(f"\n── {sentence} ──", flush=True)


def show(command: list[str], environ: Mapping[str, str] | None = None) -> None:
    """As it is typed; before the prompt stands whose key the command uses."""
    who = (environ or {}).get(PERSON, "")
    print(f"{who}{' ' if who else ''}$ {shlex.join(command)}", flush=True)


def call(
    command: list[str],
    environ: Mapping[str, str],
    *,
    expected: int = 0,
    secret: bool = False,
) -> Completed:
    """Shows a command and runs it; ends the demo when its exit code is not the expected one. Of a `secret` one neither
    the command nor what it prints is shown."""
    if not secret:
        show(command, environ)
    output = subprocess.PIPE if secret else None
    messages = subprocess.PIPE if secret else None
    done = subprocess.run(
        located(command, environ), env=environ, check=False, stdout=output, stderr=messages, text=True
    )
    require(done, command, expected)
    return done


class Ahead:
    """A command that runs beside what the demo shows meanwhile, and is shown when its turn has come."""

    def __init__(
        self, command: list[str], environ: Mapping[str, str], process: subprocess.Popen[str]
    ) -> None:
        self._command = command
        self._environ = environ
        self._process = process

    def shown(self) -> str:
        """Waits for it and prints what it printed; that text too."""
        show(self._command, self._environ)
        output, messages = self._process.communicate()
        print(output, end="", flush=True)
        require(Completed(self._command, self._process.returncode, output, messages), self._command, 0)
        return output


@contextmanager
def ahead(command: list[str], environ: Mapping[str, str]) -> Iterator[Ahead]:
    """Starts a command that prints plain lines; it is ended at the end of the block when it still runs then."""
    process = subprocess.Popen(
        located(command, environ),
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield Ahead(command, environ, process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate()


def located(command: list[str], environ: Mapping[str, str]) -> list[str]:
    program = shutil.which(command[0], path=environ["PATH"])
    if program is None:
        raise SystemExit(f"{command[0]} is not installed; run `make install`")
    return [program, *command[1:]]


def require(done: Completed, command: list[str], expected: int) -> None:
    if done.returncode != expected:
        said = f": {done.stderr}" if done.stderr else ""
        raise SystemExit(f"{shlex.join(command)} ended with {done.returncode}; the demo stops here{said}")
