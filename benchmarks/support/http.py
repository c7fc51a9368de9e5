"""A keep-alive HTTP/1.1 client that costs next to nothing.

A general client would be the bottleneck: on two cores it takes more processor time a request than the server that is
measured. Both sides of every comparison are asked through this one.
"""

import asyncio
import re
from dataclasses import dataclass
from typing import Final, cast

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
REQUEST_SECONDS: Final = 120.0
"""After this long without an answer a request counts as hung."""


class ConnectionLost(Exception):
    """The server closed the connection, or never answered: nobody knows whether it did what was asked."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    head: bytes
    body: bytes

    def header(self, name: str) -> str | None:
        found = re.search(rb"\r\n%s: *([^\r]*)" % re.escape(name.encode()), self.head, re.IGNORECASE)
        return None if found is None else found.group(1).decode("latin-1")


class Client(asyncio.Protocol):
    """One connection, one request at a time; connects again by itself after the server closed."""

    def __init__(self, port: int, token: str | None = None, *, cookie: str | None = None) -> None:
        self._port = port
        who = f"Authorization: Bearer {token}\r\n" if token else ""
        who += f"Cookie: {cookie}\r\n" if cookie else ""
        self._common = f" HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{who}".encode()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._waiting: asyncio.Future[Answer] | None = None

    async def request(
        self, method: str, path: str, body: bytes = b"", *, content_type: str = "application/json"
    ) -> Answer:
        """Raises ConnectionLost when no whole answer came."""
        loop = asyncio.get_running_loop()
        if self._transport is None or self._transport.is_closing():
            try:
                await loop.create_connection(lambda: self, "127.0.0.1", self._port)
            except OSError as error:
                raise ConnectionLost(str(error)) from error
        assert self._transport is not None
        self._waiting = loop.create_future()
        length = f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        self._transport.write(b"".join((method.encode(), b" ", path.encode(), self._common, length, body)))
        timer = loop.call_later(REQUEST_SECONDS, self._fail, "no answer in time")
        try:
            return await self._waiting
        finally:
            timer.cancel()

    async def get(self, path: str) -> Answer:
        return await self.request("GET", path)

    async def post(self, path: str, body: bytes) -> Answer:
        return await self.request("POST", path, body)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is one by its methods, not by its class.
        self._transport = cast(asyncio.Transport, transport)
        self._buffer.clear()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._fail(str(error or "closed by the server"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[: end + 2])
        found = _LENGTH.search(head)
        if found is not None:
            last = end + 4 + int(found.group(1))
            if len(self._buffer) < last:
                return
            body = bytes(self._buffer[end + 4 : last])
        elif _CHUNKED.search(head):
            if not self._buffer.endswith(b"\r\n0\r\n\r\n"):
                return
            body = _joined(bytes(self._buffer[end + 4 :]))
        else:
            body = b""
        self._buffer.clear()
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(Answer(int(head[9:12]), head, body))

    def _fail(self, reason: str) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_exception(ConnectionLost(reason))
        if self._transport is not None:
            self._transport.abort()


def _joined(chunks: bytes) -> bytes:
    parts = []
    while chunks:
        size, _, rest = chunks.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if length == 0:
            break
        parts.append(rest[:length])
        chunks = rest[length + 2 :]
    return b"".join(parts)
