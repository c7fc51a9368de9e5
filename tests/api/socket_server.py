"""A real uvicorn server on a socket of its own, for what only a transport shows."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import uvicorn
from starlette.types import ASGIApp

_PATIENCE_SECONDS = 5.0
"""What requests that are under way get when the server is told to stop."""


class _PromptServer(uvicorn.Server):
    """uvicorn that stops as soon as it is told and nothing is under way.

    Its own loop looks every tenth of a second whether to stop and then waits another tenth: with a server a test
    that is minutes of nothing.
    """

    async def main_loop(self) -> None:
        ticks = 0
        while not await self.on_tick(ticks):
            ticks = (ticks + 1) % 100
            # on_tick renews the Date header at every tenth call.
            await asyncio.sleep(0.01)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while self.server_state.connections or self.server_state.tasks:
                    await asyncio.sleep(0.002)


@contextmanager
def serving(app: ASGIApp, http: type[asyncio.Protocol] | Literal["auto"] = "auto") -> Iterator[int]:
    """The port of 127.0.0.1 on which `app` is served, in a thread of this process."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=http, log_config=None, lifespan="off")
    server = _PromptServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "uvicorn did not start"
            time.sleep(0.005)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def exchange(port: int, *parts: bytes) -> bytes:
    """Send the parts as they are, then read until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
        return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    return received
