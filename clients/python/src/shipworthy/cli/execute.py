"""`shipworthy exec -- CMD`: a program that nobody may change, as a recorded run. On the core alone.

The program's output, exit code and signals pass through untouched; a service that is away changes nothing.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from shipworthy.errors import UsageError
from shipworthy.intervals import VARIABLE, data_interval
from shipworthy.settings import read_settings
from shipworthy.snapshots import is_missing, warn_of_missing
from shipworthy.starting import run

NOT_FOUND: Final = 127
NOT_EXECUTABLE: Final = 126
"""What shells answer for a program that isn't there, or can't be run."""
_SHELL_SIGNAL_BASE: Final = 128
# A terminal sends the first two to the program itself as well.
_FROM_TERMINAL: Final = ("SIGINT", "SIGQUIT")
_FORWARDED: Final = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT")
_ABORTING: Final = frozenset({"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"})


def execute(arguments: list[str]) -> int:
    """The exit code of the program. A program that a signal ended ends this process by the same signal."""
    options, command = _options(arguments)
    config = {"command": command}
    data = dict(_pair(each, "--data") for each in options.data)
    artifacts = [_pair(each, "--artifact", "model") for each in options.artifact]
    job = options.job or os.path.basename(command[0])
    # Wrong use is told before the program runs, and what is right is known to a program that records itself.
    data_interval(options.data_interval, {})
    for role, path in data.items():
        if is_missing(path):
            warn_of_missing(role, f"--data {role}={path}")
    passed_on = {} if options.data_interval is None else {VARIABLE: options.data_interval}
    recorded = run(
        job,
        config=config,
        data=data,
        team=options.team,
        tags=dict(map(_tag, options.tag)),
        data_interval=options.data_interval,
    )
    with _relaying_signals() as relay:
        try:
            # A program that records itself adds to this run rather than to one of its own.
            child = subprocess.Popen(command, env={**os.environ, **passed_on, **recorded.outer().variables()})
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            reason = f"{command[0]}: {'command not found' if missing else error.strerror}"
            recorded.finish("failed", reason)
            sys.stderr.write(f"shipworthy: {reason}\n")
            return NOT_FOUND if missing else NOT_EXECUTABLE
        relay.attach(child)
        status = child.wait()
    if status == 0:
        for role, path in artifacts:
            recorded.artifact(path, role)
    recorded.finish(*_ending(status, relay.received))
    if sys.stderr is not None and sys.stderr.isatty():
        # For who looks on: a log file keeps the program's own output alone.
        shows = f"shipworthy lineage {recorded.id} shows it"
        if read_settings().url is None:
            shows = f"once it is sent, {shows}"
        sys.stderr.write(f"shipworthy: this was run {recorded.id}; {shows}\n")
    return _end_as(status)


def _options(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="shipworthy exec",
        usage="shipworthy exec [options] -- COMMAND [ARGUMENT …]",
        description="Run a program as a recorded run. Its output, exit code and signals pass through.",
        epilog="Needs SHIPWORTHY_URL to send; otherwise all is kept in SHIPWORTHY_DIR (.shipworthy).",
    )
    parser.add_argument("--job", help="NAMESPACE/NAME; the program's name otherwise")
    parser.add_argument("--team", help="who it is for, such as risk")
    parser.add_argument("--data", action="append", default=[], metavar="ROLE=PATH", help="what it reads")
    parser.add_argument(
        "--data-interval",
        metavar="START/END",
        help="the time that its data is of, by which promises count it",
    )
    parser.add_argument(
        "--artifact", action="append", default=[], metavar="[ROLE=]PATH", help="what it makes, if it succeeds"
    )
    parser.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a word to find it by, such as purpose=test",
    )
    own, command = arguments, []
    if "--" in arguments:
        place = arguments.index("--")
        own, command = arguments[:place], arguments[place + 1 :]
    options, unknown = parser.parse_known_args(own)
    # A program without "--" before it: argparse would only call it unrecognized.
    if unknown and not command and not unknown[0].startswith("-"):
        given = shlex.join(unknown)
        raise UsageError(f"put -- before the program: shipworthy exec -- {given}")
    if unknown:
        parser.error(f"{unknown[0]} is no option of exec; those of the program stand behind --")
    if not command:
        raise UsageError("no program to run; write: shipworthy exec -- python train.py")
    return options, command


def _pair(text: str, option: str, default: str | None = None) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if equals and name and value:
        return name, value
    if default is not None and text and not equals:
        return default, text
    raise UsageError(f"{option} {text!r}: write ROLE=PATH, such as train=data/train.csv")


def _tag(text: str) -> tuple[str, str]:
    return _pair(text, "--tag")


class _Relay:
    """Passes signals on to the program, except what its terminal sent it already. One that comes while the program
    is being started waits for it: it must neither end us nor be lost."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._waiting: list[int] = []
        self._child: subprocess.Popen[bytes] | None = None
        self._on_terminal = sys.stdin is not None and sys.stdin.isatty()

    def attach(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        for number in self._waiting:
            self._send(number)

    def handle(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
        if self._on_terminal and signal.Signals(number).name in _FROM_TERMINAL:
            return
        if self._child is None:
            self._waiting.append(number)
        else:
            self._send(number)

    def _send(self, number: int) -> None:
        if self._child is not None:
            with suppress(ProcessLookupError):
                self._child.send_signal(number)


@contextmanager
def _relaying_signals() -> Iterator[_Relay]:
    relay = _Relay()
    known = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]
    before = {number: signal.signal(number, relay.handle) for number in known}
    try:
        yield relay
    finally:
        for number, handler in before.items():
            # What comes while the last records are sent is for a program that has ended: the exit code stays its own.
            is_for_us = signal.Signals(number).name in _FROM_TERMINAL
            signal.signal(number, handler if is_for_us else signal.SIG_IGN)


def _ending(status: int, received: list[int]) -> tuple[str, str | None]:
    """State and reason. Stopped from outside is aborted; everything else that isn't 0 has failed."""
    if status == 0:
        return "completed", None
    if status < 0:
        name = signal.Signals(-status).name if -status in signal.valid_signals() else f"signal {-status}"
        return ("aborted" if name in _ABORTING else "failed"), f"ended by {name}"
    if any(signal.Signals(number).name in _ABORTING for number in received):
        return "aborted", f"exit code {status} after a signal"
    return "failed", f"exit code {status}"


def _end_as(status: int) -> int:
    if status >= 0:
        return status
    from shipworthy.process import PROCESS

    # A signal ends the process without its exit: what is left is sent now.
    PROCESS.at_exit()
    number = -status
    if number in (signal.SIGKILL, signal.SIGSTOP):
        return _SHELL_SIGNAL_BASE + number
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return _SHELL_SIGNAL_BASE + number
