"""uvicorn's HTTP protocol with a limit on what it keeps before an app sees a request.

httptools sets none: it joins the pieces of a header as they arrive, so that a caller without a key who sends one
without end takes memory without end, and each piece copies all before it (64 MB held everybody up for 2 s at a time).
"""

import os
from http import HTTPStatus
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.errors import plain_problem

MAX_HEAD_BYTES: Final = 64 << 10
"""Request line and headers, and likewise the trailers or the extension of a chunk. What arrives in one read,
at most 256 KiB, is parsed before it is counted."""

_TOO_LARGE: Final = "The request line and headers exceed 64 KiB; send less."
_MALFORMED: Final = "This is no well-formed HTTP/1.1 request; check its request line, headers and chunks."


def refusal_bytes(status: int, code: str, detail: str) -> bytes:
    """A whole answer from below the app, after which the connection is closed."""
    response = plain_problem(status, code, detail, os.urandom(16).hex())
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(), b"connection: close"]
    lines += [name + b": " + value for name, value in response.raw_headers]
    return b"\r\n".join([*lines, b"", bytes(response.body)])


class BoundedHead(HttpToolsProtocol):
    """Counts the bytes since the parser last had something to hand on, and closes when they are too many."""

    _undelivered = 0

    def data_received(self, data: bytes) -> None:
        self._undelivered += len(data)
        super().data_received(data)
        if self._undelivered <= MAX_HEAD_BYTES or self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(refusal_bytes(431, "head_too_large", _TOO_LARGE))
            self.transport.close()
        else:
            self.transport.abort()  # an answer under way can't be taken back

    def send_400_response(self, msg: str) -> None:
        self.transport.write(refusal_bytes(400, "bad_request", _MALFORMED))
        self.transport.close()

    def on_headers_complete(self) -> None:
        self._undelivered = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._undelivered = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._undelivered = 0
        super().on_message_complete()
