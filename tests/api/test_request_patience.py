"""Half-sent requests end, whole ones don't, and neither holds up the end of the service."""

import itertools
import json
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

import pytest

from api.request_patience import PatientProtocol
from tests.api.guarded_app import Probe, make_probe, post_head, status_and_code
from tests.api.socket_server import read_all, serving

SECONDS = 0.4


class Impatient(PatientProtocol):
    head_seconds = SECONDS
    body_seconds = SECONDS
    shutdown_seconds = 0.05


class Patient(PatientProtocol):
    shutdown_seconds = 0.05


@pytest.fixture
def probe() -> Probe:
    return make_probe()


@pytest.fixture
def port(probe: Probe) -> Iterator[int]:
    with serving(probe.app, http=Impatient) as made:
        yield made


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def trickle(connection: socket.socket, pieces: Iterable[bytes], seconds: float) -> None:
    for piece in pieces:
        connection.sendall(piece)
        time.sleep(seconds)


def body_of(answer: bytes) -> dict[str, object]:
    return dict(json.loads(answer.partition(b"\r\n\r\n")[2]))


def test_headers_that_never_end_are_answered_and_closed(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"GET /v1/things HTTP/1.1\r\nHost: test")
        answer = read_all(connection)
    assert status_and_code(answer) == (408, "request_timeout")
    assert b"\r\ncontent-type: application/problem+json\r\n" in answer


def test_headers_that_trickle_end_too(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"GET /v1/things HTTP/1.1\r\nX: ")
        began = time.monotonic()
        with pytest.raises(OSError):
            trickle(connection, itertools.repeat(b"a"), seconds=0.05)
    assert time.monotonic() - began < 10 * SECONDS


def test_a_connection_on_which_nothing_comes_is_closed(port: int) -> None:
    with connect(port) as connection:
        assert read_all(connection) == b""


def test_a_second_request_on_a_connection_has_to_end_its_headers_too(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(post_head("/v1/things/a", "Content-Length: 2") + b"{}")
        assert b"200 OK" in connection.recv(65536)
        connection.sendall(b"GET /v1/things HTTP/1.1\r\nHost: test")
        assert status_and_code(read_all(connection)) == (408, "request_timeout")


@pytest.mark.parametrize("more", ["Content-Encoding: gzip", "X-Plain: yes"])
def test_a_body_that_stops_is_answered_and_closed(port: int, probe: Probe, more: str) -> None:
    with connect(port) as connection:
        connection.sendall(post_head("/v1/things/a", "Content-Length: 5000", more) + b"\x1f\x8b")
        answer = read_all(connection)
    assert status_and_code(answer) == (408, "request_timeout")
    assert probe.bodies == []
    assert probe.count("/v1/things/{name}", "POST", 408) == 1


def test_a_body_may_take_long_while_bytes_come(port: int, probe: Probe) -> None:
    with connect(port) as connection:
        connection.sendall(post_head("/v1/things/a", "Content-Length: 20", "Connection: close"))
        trickle(connection, [b"x"] * 20, seconds=SECONDS / 5)
        assert b"200 OK" in read_all(connection)
    assert probe.bodies == [b"x" * 20]


def test_what_follows_a_refusal_and_stops_is_closed(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(post_head("/v1/nowhere", "Content-Length: 5000") + b"{")
        assert status_and_code(read_all(connection)) == (404, "not_found")


def test_half_sent_requests_do_not_hold_up_the_end(probe: Probe) -> None:
    half = (
        b"GET /v1/things HTTP/1.1\r\nHost:",
        post_head("/v1/things/a", "Content-Length: 5000") + b"{",
    )
    with ExitStack() as opened:
        with serving(probe.app, http=Patient) as port:
            connections = [opened.enter_context(connect(port)) for _ in half]
            for connection, sent in zip(connections, half, strict=True):
                connection.sendall(sent)
            time.sleep(0.2)
            began = time.monotonic()
        assert time.monotonic() - began < 2
        answers = [read_all(connection) for connection in connections]
    assert answers[0] == b""
    assert status_and_code(answers[1]) == (503, "unavailable")


def test_a_body_that_still_comes_at_the_end_is_taken(probe: Probe) -> None:
    with ExitStack() as opened:
        with serving(probe.app, http=Patient) as port:
            connection = opened.enter_context(connect(port))
            connection.sendall(post_head("/v1/things/a", "Content-Length: 60"))
            sending = threading.Thread(target=trickle, args=(connection, [b"x"] * 60, 0.01))
            sending.start()
            time.sleep(0.1)
        sending.join()
        assert b"200 OK" in read_all(connection)
    assert probe.bodies == [b"x" * 60]


def test_what_is_no_http_is_answered_with_a_problem_document(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"HELO example.org\r\n\r\n")
        answer = read_all(connection)
    assert status_and_code(answer) == (400, "bad_request")
    assert str(body_of(answer)["detail"]).startswith("This is no well-formed HTTP/1.1 request")
