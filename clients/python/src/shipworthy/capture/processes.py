"""Other processes seen from here: a command with a time limit, and which process launched this one."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from subprocess import Popen

MAX_ERRORS: Final = 16 * 1024
_PROC: Final = Path("/proc")


class Finished(NamedTuple):
    """What a command left. `code` is None when it did not end in time, and was killed."""

    code: int | None
    output: bytes
    errors: str
    complete: bool
    """False when there was more output than the limit: the rest was not read."""


def host_name() -> str:
    """As gethostname() tells it; without its module, whose import costs more than the rest of this one."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket

    return socket.gethostname()


def run_command(
    arguments: Sequence[str], environ: Mapping[str, str], deadline: float, limit: int = 1024 * 1024
) -> Finished:
    """Run a program without input until `deadline` (of time.monotonic), reading at most `limit` bytes.

    It gets a process group of its own, which is killed as a whole: helpers of git hold its output open.
    Raises OSError when it can't be started.
    """
    import subprocess
    from threading import Thread

    process = subprocess.Popen(
        arguments,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    output, errors = bytearray(), bytearray()
    # One byte more than the limit tells that there was more.
    readers = [
        Thread(target=_read, args=(process.stdout, output, limit + 1), daemon=True),
        Thread(target=_read, args=(process.stderr, errors, MAX_ERRORS), daemon=True),
    ]
    for reader in readers:
        reader.start()
    readers[0].join(max(deadline - time.monotonic(), 0))
    if len(output) > limit:
        _kill(process)
    code: int | None = None
    with suppress(subprocess.TimeoutExpired):
        code = process.wait(max(deadline - time.monotonic(), 0))
    if code is None or readers[0].is_alive():
        _kill(process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
        code = None
    for reader in readers:
        reader.join(0.1)
    return Finished(code, bytes(output[:limit]), errors.decode("utf-8", "replace"), len(output) <= limit)


def launcher_identity(environ: Mapping[str, str], marks: Sequence[str]) -> str | None:
    """Which process on this machine launched this one, as a text that no other process ever has.

    The launcher is the nearest ancestor that was started without the variables `marks` as this process has
    them: a shell script between launcher and program has them too. The text is made of the host, which in a
    container is the container, the boot, the process id and its start in ticks since boot. None where /proc
    is missing or no mark is set.
    """
    wanted = {os.fsencode(f"{name}={environ[name]}") for name in marks if name in environ}
    if not wanted:
        return None
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        process = os.getppid()
        while process > 1 and wanted <= _initial_environment(process):
            process = _parent_and_start(process)[0]
        return f"{host_name()}/{boot}/{process}/{_parent_and_start(process)[1]}"
    except OSError:
        return None


def _initial_environment(process: int) -> set[bytes]:
    try:
        return set((_PROC / str(process) / "environ").read_bytes().split(b"\0"))
    except PermissionError:
        return set()  # Another user's process is no script of ours: a launcher that runs as a service.


def process_identity() -> str:
    """This process among all: host, id and start; the start is "" where /proc is missing."""
    try:
        start = _parent_and_start(os.getpid())[1]
    except OSError:
        start = ""
    return f"{host_name()}/{os.getpid()}/{start}"


def _parent_and_start(process: int) -> tuple[int, str]:
    """Parent id and start in clock ticks since boot: fields 4 and 22 of /proc/PID/stat, proc(5)."""
    # The second field is the program's name in brackets, which may hold brackets and spaces itself.
    fields = (_PROC / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return int(fields[1]), fields[19]


def _read(stream: IO[bytes], into: bytearray, limit: int) -> None:
    # Closed beneath it when the process is killed late.
    with suppress(OSError, ValueError), stream:
        while len(into) < limit and (data := os.read(stream.fileno(), min(65536, limit - len(into)))):
            into += data


def _kill(process: "Popen[bytes]") -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, 9)  # SIGKILL; the signal module is not loaded for it
        else:
            process.kill()
