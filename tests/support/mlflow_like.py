"""What the reconciler and commands ask of an MLflow server, answered over a real socket: for states that the real one
is slow to reach. tests/live/mlflow/test_reconciler.py asks the real one the same."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

PROXY: Final = "/api/2.0/mlflow-artifacts/artifacts"
_MODELS: Final = "/api/2.0/mlflow/registered-models/search"
_ALIAS: Final = "/api/2.0/mlflow/registered-models/alias"
_STAGE: Final = "/api/2.0/mlflow/model-versions/transition-stage"
Guard = Callable[[str, str, str | None], str | None]
"""Called with model, target and version (None when the target is to hold nothing); what it returns refuses the move."""


@dataclass
class Version:
    model: str
    version: str
    address: str
    stage: str = "None"
    run_id: str | None = None
    model_id: str | None = None


@dataclass
class MlflowLike:
    """`files` lie behind the artifact proxy, by path; `etags` "file" is one for each content, "new" another for each
    answer, "none" is none. `served` counts the bytes of each file that were sent."""

    url: str = ""
    aliases: dict[str, dict[str, str]] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    etags: str = "file"
    page: int = 2
    down: bool = False
    strange: bool = False
    broken: set[str] = field(default_factory=set)
    guard: Guard | None = None
    authorization: str | None = None
    served: Counter[str] = field(default_factory=Counter)
    asked: list[str] = field(default_factory=list)

    def register(self, model: str, version: str, address: str, **changes: Any) -> Version:
        made = Version(model, version, address, **changes)
        self.aliases.setdefault(model, {})
        self.versions.append(made)
        return made

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        """Status and body of an answer that is no file."""
        if self.strange:
            return 200, {"registered_models": [{"what": 1}]}
        if path == "/api/2.0/mlflow/registered-models/get" and query["name"] in self.aliases:
            return 200, {"registered_model": self._model(query["name"])}
        if path == _MODELS:
            return 200, self._models(query)
        if path == "/api/2.0/mlflow/model-versions/search":
            # What LIKE would find is more than what was meant.
            return 200, {"model_versions": [self._version(each) for each in self.versions]}
        if path == "/api/2.0/mlflow/model-versions/get":
            found = [each for each in self.versions if (each.model, each.version) == _named(query)]
            return (200, {"model_version": self._version(found[0])}) if found else _missing(path)
        if path == "/api/2.0/mlflow/model-versions/get-download-uri":
            found = [each for each in self.versions if (each.model, each.version) == _named(query)]
            return (200, {"artifact_uri": found[0].address}) if found else _missing(path)
        if path == PROXY:
            return 200, {"files": self._children(query.get("path", ""))}
        return _missing(path)

    def _models(self, query: dict[str, str]) -> dict[str, Any]:
        names = [] if "filter" in query else sorted(self.aliases)
        begun = int(query.get("page_token", "0"))
        rows = [self._model(name) for name in names[begun : begun + self.page]]
        more = begun + self.page < len(names)
        return {"registered_models": rows, **({"next_page_token": str(begun + self.page)} if more else {})}

    def move(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Status and body of the answer to a move of an alias or a stage."""
        model, version = body["name"], body.get("version")
        target = body["alias"] if path == _ALIAS else body["stage"]
        refusal = None if self.guard is None else self.guard(model, target, version)
        if refusal is not None:
            return 403, {"error_code": "PERMISSION_DENIED", "message": refusal}
        if path == _STAGE:
            for each in self.versions:
                if each.version == version:
                    each.stage = target
                elif each.stage == target and body["archive_existing_versions"]:
                    each.stage = "Archived"
        elif method == "DELETE":
            del self.aliases[model][target]
        else:
            self.aliases[model][target] = str(version)
        return 200, {}

    def _model(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "aliases": [{"alias": each, "version": to} for each, to in self.aliases[name].items()],
            "latest_versions": [self._version(each) for each in self.versions if each.model == name],
        }

    def _version(self, each: Version) -> dict[str, Any]:
        return {
            "name": each.model,
            "version": each.version,
            "current_stage": each.stage,
            "source": each.address,
            "run_id": each.run_id or "",
            **({"model_id": each.model_id} if each.model_id else {}),
        }

    def _children(self, folder: str) -> list[dict[str, Any]]:
        below = [path.removeprefix(f"{folder}/") for path in self.files if path.startswith(f"{folder}/")]
        files = [each for each in below if "/" not in each]
        folders = sorted({each.partition("/")[0] for each in below if "/" in each})
        return [{"path": name, "is_dir": True} for name in folders] + [
            {"path": name, "is_dir": False, "file_size": len(self.files[f"{folder}/{name}"])}
            for name in files
        ]

    def etag(self, path: str) -> str | None:
        match self.etags:
            case "none":
                return None
            case "new":
                return f'"{len(self.asked)}"'
            case _:
                return f'"{sha256(self.files[path]).hexdigest()[:16]}"'


def _named(query: dict[str, str]) -> tuple[str, str]:
    return query["name"], query["version"]


def _missing(path: str) -> tuple[int, Any]:
    return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": f"no {path}"}


@contextmanager
def mlflow_like() -> Iterator[MlflowLike]:
    state = MlflowLike()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            path = unquote(parts.path)
            state.asked.append(path)
            if state.down:
                self._say(503, b"<html>upstream is away</html>", "text/html")
            elif path.startswith(f"{PROXY}/"):
                self._file(path.removeprefix(f"{PROXY}/"))
            else:
                query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
                status, body = state.answer(path, query)
                self._say(status, json.dumps(body).encode(), "application/json")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if state.authorization not in (None, self.headers.get("Authorization")):
                self._say(401, b"You are not authenticated.", "text/html")
                return
            status, answer = state.move(self.command, self.path, body)
            self._say(status, json.dumps(answer).encode(), "application/json")

        do_DELETE = do_POST

        def _file(self, path: str) -> None:
            if path in state.broken:
                self._say(500, b"Internal Server Error", "text/plain")
                return
            if path not in state.files:
                self._say(404, json.dumps(_missing(path)[1]).encode(), "application/json")
                return
            etag = state.etag(path)
            if etag is not None and self.headers.get("If-None-Match") == etag:
                self.send_response(304)
                self.end_headers()
                return
            state.served[path] += len(state.files[path])
            self._say(200, state.files[path], "application/octet-stream", etag)

        def _say(self, status: int, body: bytes, kind: str, etag: str | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if etag is not None:
                self.send_header("ETag", etag)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """A test looks at `asked`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
