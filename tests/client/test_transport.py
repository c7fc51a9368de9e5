"""Requests as the service sees them, and every way in which an answer can be wrong."""

import gzip
import os
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from shipworthy.errors import NotDelivered, Trouble, UsageError
from shipworthy.formats.digests import sha256_digest
from shipworthy.settings import read_settings
from shipworthy.transport import Transport
from tests.support.weather import Listener, answer, answering, closed_port, read_message


def trouble_of(reply: bytes) -> NotDelivered:
    with answering(lambda number: reply) as port, pytest.raises(NotDelivered) as caught:
        Transport(f"http://127.0.0.1:{port}", None).post("/v1/records:batch", b"{}")
    return caught.value


def test_large_bodies_are_compressed_and_carry_the_key() -> None:
    received: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        received.append(read_message(connection))
        connection.sendall(answer("200 OK", '{"items": []}'))

    listener = Listener(handle)
    try:
        transport = Transport(f"http://127.0.0.1:{listener.port}/prefix/", "sw_secret")
        assert transport.post("/v1/records:batch", b'{"kind": 1}\n' * 500) == {"items": []}
    finally:
        listener.close()
    head, _, body = received[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /prefix/v1/records:batch HTTP/1.1\r\n")
    assert b"Authorization: Bearer sw_secret" in head
    assert b"Content-Encoding: gzip" in head
    assert gzip.decompress(body) == b'{"kind": 1}\n' * 500


def test_redirect_is_not_followed_so_that_the_key_stays_here() -> None:
    reached: list[int] = []

    def reach(number: int) -> bytes:
        reached.append(number)
        return answer("200 OK")

    with answering(reach) as other:
        found = trouble_of(answer("307 Temporary Redirect", "{}", f"Location: http://127.0.0.1:{other}/"))
    assert found.trouble is Trouble.STRANGE
    assert reached == []


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")
    with answering(lambda number: answer("200 OK", '{"status": "ok"}')) as port:
        assert Transport(f"http://127.0.0.1:{port}", None).get("/healthz") == {"status": "ok"}


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_seconds_or_a_date(form: str) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    header = "7" if form == "seconds" else date
    found = trouble_of(answer("503 Service Unavailable", '{"detail": "full"}', f"Retry-After: {header}"))
    assert found.trouble is Trouble.BUSY
    assert found.retry_after is not None
    assert found.retry_after == 7 if header == "7" else 20 < found.retry_after <= 30


@pytest.mark.parametrize("header", ["86400", "Fri, 01 Jan 2999 00:00:00 GMT"])
def test_retry_after_of_a_day_is_a_minute(header: str) -> None:
    found = trouble_of(answer("503 Service Unavailable", "{}", f"Retry-After: {header}"))
    assert found.retry_after == 60


@pytest.mark.parametrize("header", ["soon", "-1", "1e9", "Mon, 99 Foo 2026", "\u00b2"])
def test_retry_after_that_says_nothing_is_ignored(header: str) -> None:
    assert trouble_of(answer("503 Service Unavailable", "{}", f"Retry-After: {header}")).retry_after is None


@pytest.mark.parametrize(
    ("reply", "trouble"),
    [
        (answer("200 OK", "not json"), Trouble.STRANGE),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
            Trouble.STRANGE,
        ),
        (b"\x00\x01\x02 garbage\r\n\r\n", Trouble.STRANGE),
        (b"", Trouble.UNREACHABLE),
        (answer("404 Not Found"), Trouble.STRANGE),
        (answer("403 Forbidden"), Trouble.KEY),
        (answer("502 Bad Gateway"), Trouble.FAULT),
        (answer("200 OK", "[" * 100_000), Trouble.STRANGE),
    ],
)
def test_wrong_answers_are_told_apart(reply: bytes, trouble: Trouble) -> None:
    assert trouble_of(reply).trouble is trouble


def test_kept_connection_that_was_closed_is_opened_again() -> None:
    connections: list[int] = []

    def handle(connection: socket.socket) -> None:
        connections.append(1)
        read_message(connection)
        body = "{}"
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
        # Says nothing of closing, and closes.
        connection.sendall((head + body).encode())

    listener = Listener(handle)
    try:
        transport = Transport(f"http://127.0.0.1:{listener.port}", None)
        assert [transport.get("/a"), transport.get("/b"), transport.get("/c")] == [{}, {}, {}]
        transport.close()
    finally:
        listener.close()
    assert len(connections) == 3


@pytest.mark.parametrize(
    "url",
    [
        "shipworthy.example.org",
        "ftp://x",
        "http://",
        "http://x:y",
        "https://me:pw@x",
        "https://x/?a=1",
        "http://a b",
    ],
)
def test_address_that_is_none_is_refused_with_a_sentence(url: str) -> None:
    with pytest.raises(UsageError, match="SHIPWORTHY_URL"):
        read_settings(url)


def test_settings_come_from_arguments_before_the_environment() -> None:
    environ = {"SHIPWORTHY_URL": "http://a/", "SHIPWORTHY_TOKEN": " t\n", "SHIPWORTHY_DIR": "below"}
    settings = read_settings(environ=environ)
    assert (settings.url, settings.token, settings.folder.name) == ("http://a", "t", "below")
    assert settings.folder.is_absolute()
    assert read_settings("http://b", "u", "other", environ=environ).url == "http://b"
    assert read_settings(environ={}).url is None
    assert "t" not in repr(settings).replace("strict", "").replace("http", "").split("token")


def test_answer_that_never_ends_is_given_up() -> None:
    def handle(connection: socket.socket) -> None:
        read_message(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            connection.sendall(b"{")
            time.sleep(0.05)

    listener = Listener(handle)
    try:
        began = time.monotonic()
        with pytest.raises(NotDelivered) as caught:
            Transport(f"http://127.0.0.1:{listener.port}", None, read_seconds=0.2).get("/v1/runs")
    finally:
        listener.close()
    assert caught.value.trouble is Trouble.SILENT
    assert 1 <= time.monotonic() - began < 3


def test_upload_takes_as_long_as_it_moves() -> None:
    """Eight times as long as the service may be silent."""
    content = os.urandom(400_000)

    def handle(connection: socket.socket) -> None:
        received = 0
        while received < len(content):
            received += len(connection.recv(20_000))
            time.sleep(0.08)
        connection.sendall(answer("201 Created"))

    listener = Listener(handle)
    try:
        transport = Transport(f"http://127.0.0.1:{listener.port}", None, read_seconds=0.2)
        transport.put_blob(sha256_digest(content), content)
        transport.close()
    finally:
        listener.close()


def test_plain_port_is_not_told_as_a_certificate() -> None:
    def handle(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(answer("400 Bad Request"))

    listener = Listener(handle)
    try:
        with pytest.raises(NotDelivered) as caught:
            Transport(f"https://127.0.0.1:{listener.port}", None).get("/healthz")
    finally:
        listener.close()
    assert str(caught.value) == (
        f"the service makes no TLS connection: port {listener.port} of 127.0.0.1 speaks none; is its address http://?"
    )
