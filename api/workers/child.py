"""A check's own process: takes one task and open files over a socket, answers in JSON, ends.

It runs what may be anything, so that the worker trusts none of it: frames are JSON, never pickles; the worker hashes
the files itself. It has no environment, no name of a file, and a folder that is removed afterwards.
"""

import json
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from api.workers.failures import CRASHED, MEMORY_LIMIT, WORK_REFUSED
from api.workers.frames import framed, read_descriptor, read_frame
from api.workers.limits import ChildLimits, limit_this_process

OUTPUT: Final = "output"
"""What the process prints goes here: it may quote data, so it is looked at for a reason and never passed on."""

_OUT_OF_MEMORY: Final = json.dumps({"error": {"code": MEMORY_LIMIT, "message": ""}}).encode()

Task = Mapping[str, Any]
Answer = dict[str, Any]


def serve(connection: socket.socket, folder: str) -> None:
    """The whole life of the process; `folder` is private to it."""
    _shut_in(folder)
    try:
        task: Task = json.loads(read_frame(connection))
        descriptors = [read_descriptor(connection) for _ in task["files"]]
    except (EOFError, OSError):
        os._exit(1)  # The worker is gone.
    threading.Thread(target=_end_with_worker, args=(connection,), daemon=True).start()
    limits = ChildLimits(**task["limits"])
    lock = threading.Lock()

    def send(frame: bytes) -> None:
        with lock:
            connection.sendall(framed(frame))

    def progress(done: int, total: int, text: str) -> None:
        send(json.dumps({"progress": [done, total, text[:200]]}).encode())

    limit_this_process(limits)
    try:
        answer = json.dumps(
            {"result": _run(task, descriptors, limits, folder, progress)}, ensure_ascii=False, allow_nan=False
        ).encode()
    except MemoryError:
        answer = _OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001 - the border of the process
        answer = json.dumps({"error": _described(error)}).encode()
    send(answer)
    # Not by way of the interpreter's end: threads of libraries could hold it up.
    os._exit(0)


def _run(
    task: Task,
    descriptors: Sequence[int],
    limits: ChildLimits,
    folder: str,
    progress: Callable[[int, int, str], None],
) -> Answer:
    if task["kind"] == "statistics":
        return _statistics(task, descriptors, progress)
    if task["kind"] == "checkpoint":
        return _checkpoint(task, descriptors, progress)
    from gates.contracts.engine.baselines import make_baseline
    from gates.contracts.engine.opened import Limits, OpenFile
    from gates.contracts.engine.running import run_checks

    if task["kind"] == "ready":
        return {"duckdb": version("duckdb"), "great_expectations": version("great_expectations")}
    files = [
        OpenFile(file["path"], fd, file["size"], file["sha256"])
        for file, fd in zip(task["files"], descriptors, strict=True)
    ]
    bounds = Limits(limits.engine_bytes, limits.threads, Path(folder), limits.disk_bytes)
    if task["kind"] == "baseline":
        return make_baseline(files, task["format"], task["numbers"], task["labels"], task["bins"], bounds)
    return run_checks(
        task["suite"],
        task["object"],
        files,
        task["format"],
        task["baseline"],
        task["parameters"],
        datetime.fromisoformat(task["as_of"]),
        bounds,
        task["allow_sql"],
        progress,
    )


def _statistics(task: Task, descriptors: Sequence[int], progress: Callable[[int, int, str], None]) -> Answer:
    from gates.statistics.running import Blob, make_statistics

    blobs = {
        file["path"]: Blob(f"/proc/self/fd/{fd}", file["size"])
        for file, fd in zip(task["files"], descriptors, strict=True)
    }
    return make_statistics(task["inputs"], blobs, progress)


def _checkpoint(task: Task, descriptors: Sequence[int], progress: Callable[[int, int, str], None]) -> Answer:
    from gates.checkpoints.loading import load_checkpoint
    from gates.checkpoints.verdict import OpenFile

    files = [
        OpenFile(file["path"], fd, file["size"]) for file, fd in zip(task["files"], descriptors, strict=True)
    ]
    return load_checkpoint(files, progress)


def _shut_in(folder: str) -> None:
    """No signal of a terminal, no environment, no place to write but the private folder."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    os.chdir(folder)
    os.environ.clear()
    os.environ |= {"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"}
    tempfile.tempdir = folder
    output = os.open(Path(folder) / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)


def _end_with_worker(connection: socket.socket) -> None:
    """A worker that was killed can't end its children: they see its end of the socket close."""
    with suppress(OSError):
        connection.recv(1)
    os._exit(1)


def _described(error: BaseException) -> Answer:
    """Code and class of the error, or the sentence of a refusal; never another text, which may quote data."""
    from gates.contracts.engine.refusals import CheckRefused

    seen: BaseException | None = error
    while seen is not None:
        name = type(seen).__name__
        if isinstance(seen, MemoryError) or name == "OutOfMemoryException" or "bad_alloc" in str(seen):
            return {"code": MEMORY_LIMIT, "message": ""}
        if isinstance(seen, CheckRefused):
            return {"code": WORK_REFUSED, "message": seen.reason}
        seen = seen.__cause__ or seen.__context__
    return {"code": CRASHED, "message": type(error).__name__}
