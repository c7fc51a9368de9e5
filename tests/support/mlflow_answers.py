"""A server that answers as a real MLflow 3.17 did (tests/data/mlflow/answers.json), for tests without one.

tests/live/mlflow/fill_tracking.py says what is in it, and tests/live/mlflow/test_import.py asks the real one.
"""

import base64
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

ANSWERS: Final = Path(__file__).parent.parent / "data" / "mlflow" / "answers.json"
_KNOWN: Final[Mapping[str, Any]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
IDS: Final[Mapping[str, str]] = _KNOWN["ids"]
"""MLflow's ids of the runs night, fold, hanging, killed and gone."""


class RecordedMlflow:
    """`asked` are method and path of each request; from the request number `away_from` on it is away. `changes`
    replaces texts in answers: what somebody changed in MLflow meanwhile. `credentials` is the only header it takes."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.asked: list[str] = []
        self.away_from: int | None = None
        self.changes: dict[str, str] = {}
        self.credentials: str | None = None

    def answer(self, method: str, target: str, body: bytes, authorization: str | None) -> tuple[int, bytes]:
        parts = urlsplit(target)
        self.asked.append(f"{method} {parts.path}")
        if self.away_from is not None and len(self.asked) >= self.away_from:
            return 503, b"upstream is away"
        if self.credentials not in (None, authorization):
            return 401, b"You are not authenticated."
        asked = (
            method,
            parts.path,
            dict(parse_qsl(parts.query)),
            json.loads(body) if body else None,
        )
        for known in _KNOWN["answers"]:
            if asked == (known["method"], known["path"], known["query"], known["body"]):
                return known["status"], self._bytes(known)
        return 500, json.dumps({"error_code": "UNRECORDED", "message": f"no answer to {asked}"}).encode()

    def _bytes(self, known: Mapping[str, Any]) -> bytes:
        if "base64" in known:
            return base64.b64decode(known["base64"])
        text = str(known["text"])
        for old, new in self.changes.items():
            text = text.replace(old, new)
        return text.encode()


@contextmanager
def recorded_mlflow() -> Iterator[RecordedMlflow]:
    """Serves until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length)
            status, data = mlflow.answer(self.command, self.path, body, self.headers.get("authorization"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *arguments: object) -> None:
            """Silent: what a test prints is what fails."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        mlflow = RecordedMlflow(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield mlflow
        finally:
            server.shutdown()
            thread.join()
