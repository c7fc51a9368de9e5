"""Requests to an MLflow server exactly as written: no client tidies up the path, the body or the headers."""

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any, Final

from tests.live.mlflow.servers import MlflowServer

API: Final = "/api/2.0/mlflow/"
AJAX: Final = "/ajax-api/2.0/mlflow/"
PROXY: Final = "/api/2.0/mlflow-artifacts/artifacts/"
_TIMEOUT_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    text: str

    @property
    def fields(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found


def send(
    server: MlflowServer,
    method: str,
    path: str,
    body: bytes | Iterable[bytes] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """One request on a connection of its own; `body` in several parts goes out chunked."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request(method, path, body, {**server.authorization, **(headers or {})})
        answer = connection.getresponse()
        return Answer(answer.status, answer.read().decode(errors="replace"))
    except TimeoutError as error:
        raise AssertionError(f"{server.flavour}: no answer to {method} {path}") from error
    finally:
        connection.close()


def send_json(
    server: MlflowServer, method: str, path: str, body: object, headers: Mapping[str, str] | None = None
) -> Answer:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return send(server, method, path, content, {"Content-Type": "application/json", **(headers or {})})


def call(server: MlflowServer, path: str, method: str = "POST", **fields: object) -> dict[str, Any]:
    """An ordinary call that must succeed."""
    answer = send_json(server, method, API + path, fields)
    assert answer.status == 200, f"{server.flavour}: {path} answered {answer.status}: {answer.text[:500]}"
    return answer.fields


def upload(server: MlflowServer, path: str, content: bytes) -> None:
    answer = send(server, "PUT", PROXY + path, content)
    assert answer.status == 200, f"{server.flavour}: PUT {path} answered {answer.status}: {answer.text[:500]}"


def new_name(stem: str) -> str:
    return f"{stem}-{uuid.uuid4().hex[:8]}"
