"""The OpenAPI document, complete in itself: every reference resolves, every refusal is described.

Recording routes parse their own bodies and describe them by pydantic's schema; its definitions move here to where
references look for them. FastAPI's own 422 is not what this service answers.
"""

from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI

JsonObject = dict[str, Any]

WITHOUT_KEY: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that take no key of a namespace."""

_FASTAPI_ERRORS: Final = ("HTTPValidationError", "ValidationError")
_KEY: Final[JsonObject] = {
    "type": "http",
    "scheme": "bearer",
    "description": "a key such as sw_…, made with: shipworthy-server keys create --role ROLE",
}
_PROBLEM: Final[JsonObject] = {
    "type": "object",
    "description": "RFC 9457 problem details; compare `code`; the page at `type` says for each what to do",
    "required": ["type", "title", "status", "detail", "code", "request_id", "errors"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what is wrong and how to mend it"},
        "code": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {
                    "field": {"type": "string", "description": "JSON pointer into the body"},
                    "message": {"type": "string"},
                },
            },
        },
    },
}
_REFUSED: Final[JsonObject] = {
    "description": "Refused; nothing was stored.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


class Application(FastAPI):
    """FastAPI with this document at /openapi.json."""

    def openapi(self) -> JsonObject:
        if self.openapi_schema is None:
            document = super().openapi()
            _complete(document)
            self.openapi_schema = document
        return self.openapi_schema


def _complete(document: JsonObject) -> None:
    """Raises ValueError when two bodies give one name to different definitions."""
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _FASTAPI_ERRORS:
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    components["securitySchemes"] = {"key": _KEY}
    components["responses"] = {"Refused": _REFUSED}
    for path, operation in _operations(document):
        operation["security"] = [] if path in WITHOUT_KEY else [{"key": []}]
        operation["responses"].pop("422", None)
        operation["responses"]["default"] = {"$ref": "#/components/responses/Refused"}
        for content in operation.get("requestBody", {}).get("content", {}).values():
            for name, definition in content["schema"].pop("$defs", {}).items():
                if schemas.setdefault(name, definition) != definition:
                    raise ValueError(f"two different definitions are called {name}; rename one of them")


def _operations(document: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            yield path, operation
