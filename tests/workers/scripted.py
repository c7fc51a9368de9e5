"""A service that answers what a test wrote down, over a real socket: for weather that the real one rarely makes."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """`status` 0 closes the connection without an answer."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    token: str
    body: Any


class Script:
    """Replies by the end of the path, in their order; the last of a path is repeated."""

    def __init__(self, **replies: list[Reply]) -> None:
        self._replies = {name: deque(given) for name, given in replies.items()}
        self.asked: list[Asked] = []
        self.changed = threading.Condition()
        self.url = ""

    def next(self, asked: Asked) -> Reply:
        with self.changed:
            self.asked.append(asked)
            self.changed.notify_all()
            given = self._replies[
                asked.path.rpartition(":" if "/work" in asked.path else "/")[2].partition(":")[0]
            ]
            return given.popleft() if len(given) > 1 else given[0]

    def bodies(self, call: str) -> list[Any]:
        return [asked.body for asked in self.asked if asked.path.endswith(call)]

    def wait_for(self, call: str, count: int = 1) -> None:
        """Until a call was made so often; AssertionError when that takes 20 s."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.bodies(call)) >= count, 20), self.asked


@contextmanager
def scripted(**replies: list[Reply]) -> Iterator[Script]:
    script = Script(**replies)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_call(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            is_json = "json" in self.headers.get("Content-Type", "")
            body = json.loads(data) if is_json else data
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            reply = script.next(Asked(self.command, self.path, token, body))
            if reply.status == 0:
                self.close_connection = True
                return
            answer = json.dumps(reply.body).encode() if reply.raw is None else reply.raw
            answer = b"" if reply.status == 204 else answer
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PUT = handle_call

        def log_message(self, format: str, *arguments: object) -> None:
            """A test looks at `asked`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        script.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()


def work(path: str = "data.csv", root: str = "here", **request: Any) -> dict[str, Any]:
    """The answer to a claim."""
    contract = {
        "name": "taxi",
        "version": 1,
        "digest": "sha256:" + "a" * 64,
        "suite_digest": "sha256:" + "b" * 64,
    }
    return {
        "id": "5c5b7b5e-58f5-4ee2-a2a5-7c7f4ee8bd26",
        "kind": "contract_check",
        "lease": "0" * 32,
        "lease_seconds": 60,
        "attempt": 1,
        "request": {"root": root, "path": path, "object": "", "as_of": "2026-01-01T00:00:00.000Z", **request},
        "inputs": {"suite": {}, "baseline": None, "contract": contract},
    }
