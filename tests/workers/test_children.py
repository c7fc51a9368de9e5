"""The conversation with a check's process, whatever that does: played here by the other end of the socket."""

import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from api.workers.children import MAX_FRAME_BYTES, converse
from api.workers.failures import CRASHED, TIME_LIMIT, WorkFailed
from api.workers.frames import framed, read_descriptor, read_frame

Play = Callable[[socket.socket], None]


class ImpatientWatch:
    """Ends the work when it was asked so often; what was reported is kept."""

    def __init__(self, asks: int = 1000) -> None:
        self._left = asks
        self.reported: list[tuple[int, int, str]] = []

    def report(self, done: int, total: int, text: str) -> None:
        self.reported.append((done, total, text))

    def require_wanted(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise WorkFailed(TIME_LIMIT, "the check was ended at its time limit of 1 s")

    require_held = require_wanted


@contextmanager
def played(play: Play) -> Iterator[tuple[socket.socket, int]]:
    """Our end, and what tells that the process at the other end is gone: `play` is all that it does."""
    ours, theirs = socket.socketpair()
    over, sentinel = threading.Event(), os.pipe()

    def live() -> None:
        play(theirs)
        over.wait(30)

    process = threading.Thread(target=live)
    process.start()
    try:
        yield ours, sentinel[0]
    finally:
        ours.close()
        over.set()
        process.join()
        theirs.close()
        for end in sentinel:
            os.close(end)


def said(play: Play, watch: ImpatientWatch, task: Any = None, descriptors: tuple[int, ...] = ()) -> Any:
    with played(play) as (ours, sentinel):
        return converse(ours, sentinel, task or {"kind": "ready"}, descriptors, watch)


def _send(data: bytes, theirs: socket.socket) -> None:
    theirs.sendall(data)


def test_process_that_stops_within_a_message_is_ended_at_the_time_limit() -> None:
    answer = framed(json.dumps({"result": {"outcome": "passed"}}).encode())
    for part in (answer[:2], answer[:4], answer[:-1]):
        with pytest.raises(WorkFailed) as caught:
            said(partial(_send, part), ImpatientWatch(3))
        assert caught.value.code == TIME_LIMIT


def test_process_that_never_reads_its_task_is_ended_at_the_time_limit() -> None:
    with pytest.raises(WorkFailed) as caught:
        said(lambda theirs: None, ImpatientWatch(3), {"suite": "x" * 8_000_000})
    assert caught.value.code == TIME_LIMIT


def test_process_that_never_takes_its_files_is_ended_at_the_time_limit(tmp_path: Path) -> None:
    with (tmp_path / "data").open("w+b") as file, pytest.raises(WorkFailed) as caught:
        said(lambda theirs: None, ImpatientWatch(3), descriptors=(file.fileno(),) * 5000)
    assert caught.value.code == TIME_LIMIT


def test_process_that_reports_without_end_is_ended_at_the_time_limit() -> None:
    def report_on(theirs: socket.socket) -> None:
        message = framed(json.dumps({"progress": [1, 2, "on"]}).encode())
        try:
            while True:
                theirs.sendall(message)
        except OSError:
            return

    with pytest.raises(WorkFailed) as caught:
        said(report_on, ImpatientWatch(50))
    assert caught.value.code == TIME_LIMIT


def test_messages_in_pieces_are_put_together() -> None:
    def speak(theirs: socket.socket) -> None:
        assert json.loads(read_frame(theirs)) == {"kind": "ready"}
        messages = [{"progress": [1, 2, "half"]}, {"progress": [2, 2, "æ" * 70_000]}, {"result": {"a": 1}}]
        whole = b"".join(framed(json.dumps(each).encode()) for each in messages)
        for start in range(40):
            theirs.sendall(whole[start : start + 1])
        theirs.sendall(whole[40:])

    watch = ImpatientWatch()
    assert said(speak, watch) == {"result": {"a": 1}}
    assert [each[:2] for each in watch.reported] == [(1, 2), (2, 2)]


def test_files_arrive_in_their_order_after_the_task(tmp_path: Path) -> None:
    paths = [tmp_path / f"file-{number}" for number in range(600)]
    for path in paths:
        path.write_text(path.name)
    descriptors = tuple(os.open(path, os.O_RDONLY) for path in paths)

    def read_them(theirs: socket.socket) -> None:
        read_frame(theirs)
        names = []
        for _ in paths:
            given = read_descriptor(theirs)
            names.append(os.pread(given, 100, 0).decode())
            os.close(given)
        theirs.sendall(framed(json.dumps({"result": names}).encode()))

    try:
        found = said(read_them, ImpatientWatch(), descriptors=descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    assert found == {"result": [path.name for path in paths]}


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack("!I", MAX_FRAME_BYTES + 1),
        framed(b"no json"),
        framed(b"[1]"),
        framed(b'{"progress": [1]}'),
    ],
)
def test_what_is_no_answer_ends_the_conversation(sent: bytes) -> None:
    with pytest.raises(WorkFailed) as caught:
        said(partial(_send, sent), ImpatientWatch())
    assert caught.value.code == CRASHED


def test_process_that_ends_within_a_message_gave_no_answer() -> None:
    def stop(theirs: socket.socket) -> None:
        read_frame(theirs)
        theirs.sendall(framed(b'{"result": {}}')[:-1])
        theirs.shutdown(socket.SHUT_RDWR)

    assert said(stop, ImpatientWatch()) is None
