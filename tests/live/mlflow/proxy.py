"""Stands between the guard and the service: late, deaf or dead at the moment that a test chooses."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

MOVE: Final = "/v1/promotions:move"
_HOP_BY_HOP: Final = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class Cut(Exception):
    """Raised by a hook: the guard's connection ends without an answer."""


Hook = Callable[[], None]


@dataclass
class Proxy:
    """`before` and `after` run in the thread of a request, when it came and when the service has answered it; they
    may sleep, wait, act or raise Cut. `port` stays the same when `upstream` becomes another one."""

    port: int
    upstream: int
    before: dict[str, Hook] = field(default_factory=dict)
    after: dict[str, Hook] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def with_hooks(
        self, before: dict[str, Hook] | None = None, after: dict[str, Hook] | None = None
    ) -> Iterator[None]:
        """By path without its query; for the block."""
        self.before, self.after = before or {}, after or {}
        try:
            yield
        finally:
            self.before, self.after = {}, {}


@contextmanager
def proxying(upstream: int) -> Iterator[Proxy]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.proxy = Proxy(server.server_address[1], upstream)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    proxy: Proxy

    def handle_error(self, request: object, client_address: object) -> None:
        """Connections that break are what this is for."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _pass_on(self) -> None:
        proxy = self.server.proxy
        path = self.path.partition("?")[0]
        content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        proxy.seen.append(path)
        try:
            proxy.before.get(path, _nothing)()
            connection = HTTPConnection("127.0.0.1", proxy.upstream, timeout=60)
            try:
                connection.request(self.command, self.path, content or None, headers)
                answer = connection.getresponse()
                body = answer.read()
            finally:
                connection.close()
            proxy.after.get(path, _nothing)()
        except (Cut, OSError, HTTPException):
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = _pass_on

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test says itself what it saw."""


def _nothing() -> None:
    return None
