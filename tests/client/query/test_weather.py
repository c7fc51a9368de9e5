"""What the client does when the service is busy, or when something else answers. Servers are real sockets."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from shipworthy.query.client import ShipworthyClient
from shipworthy.query.errors import Busy, NotShipworthy, Unreachable
from shipworthy.query.exchange import TRIES
from tests.support.weather import Listener, read_message

BUSY = b'{"code": "unavailable", "detail": "busy", "status": 503}'


class Answers:
    """Gives its answers in turn, the last one for ever, and counts how often it was asked."""

    def __init__(self, *answers: tuple[int, bytes]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []
        self.tokens: list[str | None] = []

    def next(self, method: str, token: str | None) -> tuple[int, bytes]:
        self.asked.append(method)
        self.tokens.append(token)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@contextmanager
def serving(answers: Answers) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            status, body = answers.next(self.command, self.headers.get("authorization"))
            self.send_response(status)
            if status == 302:
                self.send_header("location", "/elsewhere")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Tests stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_reading_is_tried_again_while_the_service_is_busy() -> None:
    answers = Answers((503, BUSY), (200, b'{"run_id": "x"}'))
    with serving(answers) as url, ShipworthyClient(url, "sw_secret") as client:
        assert client.run("x") == {"run_id": "x"}
    assert answers.asked == ["GET", "GET"]


def test_reading_ends_as_busy_after_some_tries() -> None:
    answers = Answers((503, BUSY))
    with serving(answers) as url, ShipworthyClient(url) as client, pytest.raises(Busy, match="busy"):
        client.run("x")
    assert len(answers.asked) == TRIES


def test_recording_is_never_sent_twice() -> None:
    answers = Answers((503, BUSY))
    with serving(answers) as url, ShipworthyClient(url) as client, pytest.raises(Busy):
        client.append(["{}"])
    assert answers.asked == ["POST"]


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"<html>Welcome</html>"),
        (200, b'{"items": [{"run": 1}]}'),
        (200, b"[]"),
        (404, b"nginx"),
        (302, b""),
        (500, b'{"message": "no"}'),
    ],
)
def test_another_server_is_told_from_a_shipworthy_service(answer: tuple[int, bytes]) -> None:
    answers = Answers(answer)
    with serving(answers) as url, ShipworthyClient(url, "sw_secret") as client, pytest.raises(NotShipworthy):
        next(client.runs())
    assert answers.tokens == ["Bearer sw_secret"]


def test_answer_that_never_ends_is_given_up() -> None:
    def handle(connection: socket.socket) -> None:
        read_message(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            connection.sendall(b"{")
            time.sleep(0.05)

    listener = Listener(handle)
    began = time.monotonic()
    try:
        with (
            ShipworthyClient(f"http://127.0.0.1:{listener.port}", timeout=0.25) as client,
            pytest.raises(Unreachable, match="does not answer in time"),
        ):
            client.run("x")
    finally:
        listener.close()
    assert 1 <= time.monotonic() - began < 4


def test_answer_nested_without_end_is_no_services() -> None:
    answers = Answers((200, b"[" * 100_000))
    with serving(answers) as url, ShipworthyClient(url) as client, pytest.raises(NotShipworthy):
        client.run("x")
