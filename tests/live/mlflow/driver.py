"""Runs in MLflow's own environment, imported once: answers one JSON line for each JSON line it reads.

`{"do": "routes"}`: what the servers route, with the fields of the messages. `{"do": "methods"}`: what the registry
store can do. `{"do": "call", "uri", "method", "arguments"}`: calls a method of the store at this URI.
`{"do": "ordinary", "uri", "user"}`: what every client does, with its answers.
"""

import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor  # type: ignore[import-untyped]
from mlflow.entities.model_registry import ModelVersionTag
from mlflow.server import app, handlers
from mlflow.server.fastapi_app import app as asgi_app
from mlflow.store.model_registry.abstract_store import AbstractStore
from mlflow.store.model_registry.sqlalchemy_store import SqlAlchemyStore
from mlflow.tracking._model_registry.utils import _get_store

from tests.live.mlflow.ordinary import ordinary_calls

_TYPES = {
    FieldDescriptor.CPPTYPE_STRING: "text",
    FieldDescriptor.CPPTYPE_BOOL: "boolean",
    FieldDescriptor.CPPTYPE_MESSAGE: "message",
    FieldDescriptor.CPPTYPE_ENUM: "enum",
}


def routes(_: dict[str, Any]) -> list[dict[str, Any]]:
    """Of both server kinds: path, methods and fields; a field is its name, type and whether it is repeated."""
    messages = {}
    for service in (
        handlers.MlflowService,
        handlers.ModelRegistryService,
        handlers.MlflowArtifactsService,
        handlers.WebhookService,
    ):
        for path, message, methods in handlers.get_service_endpoints(service, lambda request: request):
            messages[path, tuple(methods)] = message
    found = []
    for rule in app.url_map.iter_rules():
        methods = sorted(rule.methods - {"HEAD", "OPTIONS"})
        message = messages.get((rule.rule, tuple(methods)))
        found.append({"path": rule.rule, "methods": methods, "fields": _fields(message), "by": rule.endpoint})
    for path, methods, name in _asgi_routes(asgi_app.routes, ""):
        found.append({"path": path, "methods": methods, "fields": [], "by": f"asgi {name}"})
    return found


def _asgi_routes(listed: list[Any], prefix: str) -> Iterator[tuple[str, list[str], str]]:
    for route in listed:
        if hasattr(route, "original_router"):
            yield from _asgi_routes(route.original_router.routes, prefix + route.include_context.prefix)
        elif getattr(route, "methods", None):
            yield prefix + route.path, sorted(route.methods - {"HEAD"}), route.name


def _fields(message: Any) -> list[list[object]]:
    if message is None:
        return []
    return [
        [field.name, _TYPES.get(field.cpp_type, "number"), field.is_repeated]
        for field in message.DESCRIPTOR.fields
    ]


def methods(_: dict[str, Any]) -> dict[str, list[list[object]]]:
    """Public methods of the SQL registry store and of what it inherits from; of each parameter its name and whether it
    must be given."""
    return {
        name: [
            [each.name, each.default is each.empty]
            for each in inspect.signature(method).parameters.values()
            if each.name != "self"
        ]
        for kind in (AbstractStore, SqlAlchemyStore)
        for name, method in inspect.getmembers(kind, callable)
        if not name.startswith("_")
    }


def call(asked: dict[str, Any]) -> dict[str, Any]:
    os.environ.update(asked.get("environment", {}))
    store = _get_store(asked["uri"])
    try:
        method = getattr(store, asked["method"])
        return {"answer": repr(method(**_arguments(store, asked["arguments"])))[:500]}
    except Exception as error:  # noqa: BLE001  # Whatever a store raises is an answer.
        return {"error": f"{type(error).__name__}: {error}"[:1000]}


def _arguments(store: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Entities where a method takes one."""
    taken = dict(given)
    if "src_mv" in taken:
        taken["src_mv"] = store.get_model_version(*taken["src_mv"])
    if "tag" in taken:
        taken["tag"] = ModelVersionTag(*taken["tag"])
    return taken


def main() -> None:
    calls: dict[str, Callable[[dict[str, Any]], object]] = {
        "routes": routes,
        "methods": methods,
        "call": call,
        "ordinary": ordinary_calls,
    }
    # What MLflow prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"answer": calls[asked["do"]](asked)}
        except Exception:  # noqa: BLE001  # The border of the process: the test shows the traceback.
            answer = {"failed": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
