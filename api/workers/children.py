"""Checks in processes of their own: started from the preloaded fork server, watched, and killed when they must be."""

import json
import multiprocessing
import os
import selectors
import signal
import socket
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from api.workers import child
from api.workers.failures import CRASHED, KILLED, MEMORY_LIMIT, PROCESSOR_LIMIT, WORK_REFUSED, WorkFailed
from api.workers.frames import PIECE_BYTES, Incoming, framed
from api.workers.limits import ChildLimits

MAX_FRAME_BYTES: Final = 64 * 2**20
WATCH_SECONDS: Final = 0.1
_PRELOAD: Final = "api.workers.preload"
# multiprocessing collects ended children whenever one is started: two threads that read the same exit code at once
# would leave one of them with a wrong one.
_lock: Final = threading.Lock()
_context: Final = multiprocessing.get_context("forkserver")


class Watch(Protocol):
    """Who wants the work: told of progress, asked all the time whether to go on."""

    def report(self, done: int, total: int, text: str) -> None: ...

    def require_wanted(self) -> None: ...

    def require_held(self) -> None: ...


def start_fork_server() -> None:
    """To be called once, before threads are started; loading takes seconds, and goes on in the background."""
    _context.set_forkserver_preload([_PRELOAD])
    os.environ |= {
        "GX_ANALYTICS_ENABLED": "false",  # Great Expectations reports its use to its makers otherwise.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",  # Each arena of glibc's takes 64 MB of address space, which is limited.
    }
    from multiprocessing.forkserver import ensure_running

    ensure_running()


def run_child(
    task: Mapping[str, Any], descriptors: Sequence[int], limits: ChildLimits, folder: Path, watch: Watch
) -> Mapping[str, Any]:
    """The child's result. `descriptors` are given to it in the order of task["files"].

    Raises WorkFailed naming the limit when the child was ended by one, or that it crashed or was killed; and what
    `watch` raises. The child is gone when this returns or raises.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with _lock:
            process = _context.Process(target=child.serve, args=(theirs, str(folder)), daemon=True)
            process.start()
        theirs.close()
        try:
            answer = converse(ours, process.sentinel, _with_limits(task, limits), descriptors, watch)
            if answer is not None:
                return _result(answer, limits)
            with _lock:
                process.join(10)
                code = process.exitcode
            raise _ended(code, _printed(folder), limits)
        finally:
            ours.close()
            with _lock:
                process.kill()
                process.join()
                process.close()


def _with_limits(task: Mapping[str, Any], limits: ChildLimits) -> Mapping[str, Any]:
    given = {
        "memory_bytes": limits.memory_bytes,
        "processor_seconds": limits.processor_seconds,
        "disk_bytes": limits.disk_bytes,
        "threads": limits.threads,
    }
    return {**task, "limits": given}


def converse(
    connection: socket.socket,
    sentinel: int,
    task: Mapping[str, Any],
    descriptors: Sequence[int],
    watch: Watch,
) -> Mapping[str, Any] | None:
    """The last frame of the process at the other end, None when it ended without one: `sentinel` is readable then.

    Neither sending nor receiving waits, so that whatever the process does with its socket, `watch` is asked all the
    time and ends it by what it raises. Raises WorkFailed for an answer that is none.
    """
    connection.setblocking(False)
    outgoing = _Outgoing(connection, framed(json.dumps(task, ensure_ascii=False).encode()), descriptors)
    incoming = Incoming(MAX_FRAME_BYTES)
    try:
        with selectors.PollSelector() as selector:
            selector.register(sentinel, selectors.EVENT_READ)
            selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while True:
                ready = {key.fd: events for key, events in selector.select(WATCH_SECONDS)}
                watch.require_wanted()
                events = ready.get(connection.fileno(), 0)
                if events & selectors.EVENT_WRITE and outgoing.send():
                    selector.modify(connection, selectors.EVENT_READ)
                if events & selectors.EVENT_READ:
                    frame = _last_frame(connection, incoming, watch)
                    if frame is not None:
                        return frame
                elif sentinel in ready:
                    return None
    except (EOFError, OSError):
        return None
    except ValueError as error:
        raise WorkFailed(CRASHED, "the check's process answered something that is no answer") from error


def _last_frame(connection: socket.socket, incoming: Incoming, watch: Watch) -> Mapping[str, Any] | None:
    """What has come: progress is told, an answer given back. EOFError when nothing will come any more."""
    try:
        piece = connection.recv(PIECE_BYTES)
    except BlockingIOError:
        return None
    if not piece:
        raise EOFError
    incoming.add(piece)
    while (message := incoming.take()) is not None:
        frame: object = json.loads(message)
        if not isinstance(frame, dict):
            raise ValueError("a message that is no object")
        if "progress" not in frame:
            return frame
        done, total, text = frame["progress"]
        watch.report(int(done), int(total), str(text))
    return None


class _Outgoing:
    """A message and open files, sent as the other side takes them."""

    def __init__(self, connection: socket.socket, message: bytes, descriptors: Sequence[int]) -> None:
        self._connection = connection
        self._message = memoryview(message)
        self._descriptors = list(reversed(descriptors))

    def send(self) -> bool:
        """As much as is taken now; whether it was all."""
        try:
            while self._message:
                self._message = self._message[self._connection.send(self._message) :]
            while self._descriptors:
                socket.send_fds(self._connection, [b"f"], self._descriptors[-1:])
                self._descriptors.pop()
        except BlockingIOError:
            return False
        return True


def _result(answer: Mapping[str, Any], limits: ChildLimits) -> Mapping[str, Any]:
    if "result" in answer:
        result: Mapping[str, Any] = answer["result"]
        return result
    error = answer["error"]
    if error["code"] == MEMORY_LIMIT:
        raise _memory(limits)
    if error["code"] == WORK_REFUSED:
        raise WorkFailed(WORK_REFUSED, str(error["message"])[:2000])
    raise WorkFailed(
        CRASHED,
        f"the check ended with the error {str(error['message'])[:100]} in its engine; the worker's log has no more, "
        "because the text may quote data. Check a small part of the data to find the cause.",
    )


def _ended(code: int | None, printed: str, limits: ChildLimits) -> WorkFailed:
    """What the end of a process without an answer means."""
    if "bad_alloc" in printed or "MemoryError" in printed or "out of memory" in printed.lower():
        return _memory(limits)
    if code == -signal.SIGXCPU:
        return WorkFailed(
            PROCESSOR_LIMIT,
            f"the check was ended at its limit of {limits.processor_seconds:,} s of processor time; start the "
            "worker with a longer --time-limit, or check a part of the data",
        )
    if code == -signal.SIGKILL:
        return WorkFailed(
            KILLED,
            "the check's process was killed from outside (signal 9), mostly by the system when its memory is full; "
            "start the worker with less --memory or fewer --slots, or check a part of the data",
        )
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return WorkFailed(
        CRASHED, f"the check's process crashed ({how}); check a small part of the data to find the cause"
    )


def _memory(limits: ChildLimits) -> WorkFailed:
    return WorkFailed(
        MEMORY_LIMIT,
        f"the check was ended at its memory limit of {limits.memory_bytes / 2**20:,.0f} MiB; start the worker with "
        "more --memory, or check a part of the data",
    )


def _printed(folder: Path) -> str:
    try:
        with (folder / child.OUTPUT).open("rb") as output:
            output.seek(max(0, output.seek(0, os.SEEK_END) - 4096))
            return output.read().decode(errors="replace")
    except OSError:
        return ""
