"""A command of the user's that restores a checkpoint: run, watched, and asked what it restored."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shipworthy.errors import UsageError

PARTS: Final = ("model", "optimizer", "scheduler", "rng", "data_position")
"""What a checkpoint may hold."""
CHECKPOINT_VARIABLE: Final = "SHIPWORTHY_CHECKPOINT"
RESTORED_VARIABLE: Final = "SHIPWORTHY_RESTORED"
MAX_REPORT_BYTES: Final = 64 * 1024
KILL_SECONDS: Final = 5.0
"""Between being asked to end and being made to."""
_CRASHES: Final = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE"})
"""What a program does to itself; every other signal comes from outside and says nothing about the checkpoint."""


@dataclass(frozen=True, slots=True)
class Restoring:
    """`status` is the exit code, negative for a signal, None when the time was over. `restored` is what the command
    wrote, None when it wrote nothing."""

    status: int | None
    seconds: float
    restored: tuple[str, ...] | None

    @property
    def is_about_the_checkpoint(self) -> bool:
        """Whether its end tells something: it was neither killed from outside nor ran out of time."""
        return self.status is not None and (self.status >= 0 or _signal_name(self.status) in _CRASHES)

    @property
    def ending(self) -> str:
        if self.status is None:
            return f"was ended after {self.seconds:.0f} s, its --timeout"
        if self.status < 0:
            return f"was ended by {_signal_name(self.status)}"
        return f"ended with exit code {self.status}"


def restore(command: Sequence[str], checkpoint: Path, timeout: float | None) -> Restoring:
    """Runs the command with the checkpoint's path as its last argument and in SHIPWORTHY_CHECKPOINT.

    What it prints goes to standard error. Raises UsageError for a command that can't be run, or a report that can't be
    read."""
    where = str(checkpoint.absolute())
    with tempfile.TemporaryDirectory(prefix="shipworthy-restore-") as folder:
        report = Path(folder) / "restored"
        variables = {CHECKPOINT_VARIABLE: where, RESTORED_VARIABLE: str(report)}
        began = time.monotonic()
        try:
            # A group of its own: what the command starts ends with it.
            process = subprocess.Popen(
                [*command, where],
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno(),
                start_new_session=True,
            )
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            reason = "there is no such command" if missing else error.strerror
            raise UsageError(f"{command[0]}: {reason}; write the command that restores behind --") from error
        status = _wait(process, timeout)
        seconds = time.monotonic() - began
        return Restoring(status, seconds, _reported(report))


def parts_of(text: str, where: str) -> tuple[str, ...]:
    """The parts that a list names: JSON, or names separated by commas or line breaks. Raises UsageError."""
    with suppress(ValueError):
        listed = json.loads(text)
        if isinstance(listed, list) and all(isinstance(each, str) for each in listed):
            return _known(listed, where)
    return _known([_plain(name) for line in text.splitlines() for name in line.split(",")], where)


def _plain(name: str) -> str:
    """One name, also as a JSON text."""
    with suppress(ValueError):
        text = json.loads(name)
        if isinstance(text, str):
            return text
    return name.strip()


def _known(names: Sequence[str], where: str) -> tuple[str, ...]:
    found = {name.strip().lower().replace(" ", "_").replace("-", "_") for name in names if name.strip()}
    strange = sorted(found - set(PARTS))
    if strange:
        raise UsageError(f"{where} names {strange[0][:80]!r}; what can be restored is {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in found)


def _wait(process: "subprocess.Popen[bytes]", timeout: float | None) -> int | None:
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # Also when this process is interrupted, and for what the command left behind.
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    if process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(KILL_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _reported(report: Path) -> tuple[str, ...] | None:
    try:
        with report.open("rb") as file:
            data = file.read(MAX_REPORT_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > MAX_REPORT_BYTES:
        raise UsageError(
            f"what the command wrote to {RESTORED_VARIABLE} has more than {MAX_REPORT_BYTES:,} bytes"
        )
    return parts_of(data.decode(errors="replace"), f"what the command wrote to {RESTORED_VARIABLE}")


def _signal_name(status: int) -> str:
    return signal.Signals(-status).name if -status in signal.valid_signals() else f"signal {-status}"
