"""What a caller without a key may send before a route is known."""

import socket
from collections.abc import Iterator

import pytest
from starlette.types import Receive, Scope, Send

from api.request_head import MAX_HEAD_BYTES, BoundedHead
from tests.api.socket_server import exchange, read_all, serving

HEAD = b"POST / HTTP/1.1\r\nHost: test\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = b"a" * (16 * MAX_HEAD_BYTES)


async def count_body(scope: Scope, receive: Receive, send: Send) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
    await send({"type": "http.response.body", "body": b"%d bytes" % size})


@pytest.fixture
def port() -> Iterator[int]:
    with serving(count_body, http=BoundedHead) as port:
        yield port


def answer_to_endless(port: int, begin: bytes) -> bytes:
    """What comes back from a server that closes while it is still being sent to; b"" for nothing at all."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            connection.sendall(begin + ENDLESS)
            return read_all(connection)
        except ConnectionError:
            return b""


@pytest.mark.parametrize("begin", [HEAD + b"X-Long: ", b"GET /"], ids=["header", "path"])
def test_a_head_without_end_is_refused(port: int, begin: bytes) -> None:
    assert answer_to_endless(port, begin).split(b"\r\n")[0] in (
        b"",  # the rest of what was sent reset the connection before the answer was read
        b"HTTP/1.1 431 Request Header Fields Too Large",
    )


@pytest.mark.parametrize(
    "begin", [CHUNKED + b"1\r\nx\r\n0\r\nX-Long: ", CHUNKED + b"1;"], ids=["trailer", "chunk extension"]
)
def test_what_follows_the_head_has_an_end_too(port: int, begin: bytes) -> None:
    assert answer_to_endless(port, begin) == b""


def test_a_head_over_the_limit_that_comes_slowly_reads_why(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(HEAD + b"X-Long: " + b"a" * MAX_HEAD_BYTES)
        assert b"exceed 64 KiB; send less" in read_all(connection)


def test_bodies_of_many_small_chunks_pass(port: int) -> None:
    sent = CHUNKED + b"1\r\nx\r\n" * MAX_HEAD_BYTES + b"0\r\n\r\n"
    assert b"\r\n%d bytes\r\n" % MAX_HEAD_BYTES in exchange(port, sent)
