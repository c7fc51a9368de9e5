"""Messages between a worker and a check's process, over a pair of sockets: a length of four bytes and so many of JSON.

The worker never waits within a message: a process that stops in the middle of one is ended at its time limit like one
that says nothing.
"""

import socket
import struct
from typing import Final

PIECE_BYTES: Final = 2**20
_LENGTH: Final = struct.Struct("!I")


def framed(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


class Incoming:
    """Puts messages together that come in pieces, none longer than `most` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = bytearray()

    def add(self, piece: bytes) -> None:
        """ValueError when the message that has begun is too long."""
        self._held += piece
        length = self._length()
        if length is not None and length > self._most:
            raise ValueError(f"a message of {length:,} bytes; the most is {self._most:,}")

    def take(self) -> bytes | None:
        """The next message that is whole."""
        length = self._length()
        end = _LENGTH.size + (length or 0)
        if length is None or len(self._held) < end:
            return None
        message = bytes(self._held[_LENGTH.size : end])
        del self._held[:end]
        return message

    def _length(self) -> int | None:
        return None if len(self._held) < _LENGTH.size else int(_LENGTH.unpack_from(self._held)[0])


def read_frame(connection: socket.socket) -> bytes:
    """One message, waited for; nothing that follows it is read. EOFError when the other side is gone."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return _exactly(connection, length)


def read_descriptor(connection: socket.socket) -> int:
    """An open file that was given with `socket.send_fds`, one in a message of one byte. EOFError as above."""
    data, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    if not data or len(descriptors) != 1:
        raise EOFError
    return descriptors[0]


def _exactly(connection: socket.socket, count: int) -> bytes:
    held = bytearray()
    while len(held) < count:
        piece = connection.recv(min(count - len(held), PIECE_BYTES))
        if not piece:
            raise EOFError
        held += piece
    return bytes(held)
