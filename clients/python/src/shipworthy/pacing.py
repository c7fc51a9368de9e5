"""A socket that waits as long as something moves, and no longer: uploads are slow on some uplinks, and some answers
never end."""

import io
import socket
import time
from typing import Final

PIECE_BYTES: Final = 16 * 2**10
SLOWEST_UPLOAD: Final = 8 * 2**10
"""Bytes a second. What was written may lie in buffers on the way: the answer is waited for as long as that takes."""
ANSWER_READS: Final = 6
"""A whole answer has so many times what one read of it has."""


class PacedSocket:
    """In the place of a connection's socket; `seconds` is how long nothing may move."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._socket = connection
        self._seconds = seconds
        self._written = 0

    def sendall(self, data: bytes) -> None:
        """TimeoutError when nothing was taken for so long. The socket's own `sendall` has one limit for the whole."""
        view = memoryview(data)
        self._socket.settimeout(self._seconds)
        while view:
            sent = self._socket.send(view[:PIECE_BYTES])
            self._written += sent
            view = view[sent:]

    def makefile(self, mode: str) -> io.BufferedReader:
        """The answer to what was written since the last one."""
        seconds = self._seconds + self._written / SLOWEST_UPLOAD
        self._written = 0
        return io.BufferedReader(_Answer(self._socket, seconds, seconds + (ANSWER_READS - 1) * self._seconds))

    def cork(self, is_held: bool) -> None:
        """Whether what is written waits for more; on Linux, elsewhere it never does."""
        if hasattr(socket, "TCP_CORK"):
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, is_held)

    def close(self) -> None:
        self._socket.close()


class _Answer(io.RawIOBase):
    """What comes: each read within `seconds`, all of them within `total`."""

    def __init__(self, connection: socket.socket, seconds: float, total: float) -> None:
        self._socket = connection
        # Keeps the connection open for as long as the answer is read.
        self._raw = connection.makefile("rb", buffering=0)
        self._seconds = seconds
        self._until = time.monotonic() + total

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int | None:  # type: ignore[override]
        remaining = self._until - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._socket.settimeout(min(self._seconds, remaining))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
