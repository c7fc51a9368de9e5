"""Documents that people write and publish in versions, whatever they say: how they are sent, and what is told of them.

Contracts, policies of gates and definitions of SLOs pass here alike; what each of them means is read by its part of
`gates/`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from api.pages import JSON
from gates.documents.problems import DocumentError, Problem
from models.errors import FieldProblem, InvalidInput

MEDIA_TYPES: Final[Mapping[str, Literal["yaml", "json"]]] = {
    "application/yaml": "yaml",  # RFC 9512
    "application/x-yaml": "yaml",
    "text/yaml": "yaml",
    "text/x-yaml": "yaml",
    "application/json": "json",
}
MAX_PROBLEMS: Final = 200
_JSON: Final = re.compile(rb"\s*[\[{]")
_OF_ALL: Final[Mapping[str, Mapping[str, Any]]] = {
    "name": {"type": "string"},
    "version": {"type": "integer"},
    "digest": {"type": "string"},
    "problems": {"type": "array", "items": {"type": "object"}},
    "record": {"type": "string"},
    "position": {"type": "integer"},
    "created": {"type": "boolean"},
}


def media_type_of(data: bytes, content_type: str | None, what: str) -> str:
    """YAML or JSON, as it was said or as it looks. Raises InvalidInput for another kind of content."""
    given = (content_type or "").partition(";")[0].strip().lower()
    if given in ("", "application/octet-stream"):
        return "application/json" if _JSON.match(data) else "application/yaml"
    if given not in MEDIA_TYPES:
        raise InvalidInput(
            f"a {what} is sent as {', '.join(MEDIA_TYPES)}; this Content-Type is none of them",
            problems=[FieldProblem("", "has another Content-Type than application/yaml or application/json")],
        )
    return given


def refusal(error: DocumentError, what: str) -> InvalidInput:
    """One problem for each place that has to be mended."""
    first = error.problems[0]
    more = f"; {len(error.problems) - 1} more in this {what}" if len(error.problems) > 1 else ""
    return InvalidInput(
        f"line {first.line}, {first.pointer or f'the {what}'} {first.message}{more}",
        problems=[
            FieldProblem(each.pointer, f"line {each.line}: {each.message}")
            for each in error.problems[:MAX_PROBLEMS]
        ],
    )


def problems_json(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """At most MAX_PROBLEMS of them."""
    return [
        {
            "severity": each.severity,
            "pointer": each.pointer,
            "line": each.line,
            "message": each.message,
        }
        for each in problems[:MAX_PROBLEMS]
    ]


def document_body(description: str) -> dict[str, Any]:
    """The OpenAPI part of a call that takes a document as its body."""
    schema = {"type": "string", "description": description}
    media = ("application/yaml", "application/json")
    return {"requestBody": {"required": True, "content": {each: {"schema": schema} for each in media}}}


def published_responses(
    required: Sequence[str], **more: Mapping[str, Any]
) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI part of the answers to a publication; `more` are members that one kind of document has besides."""
    schema = {"type": "object", "required": list(required), "properties": {**_OF_ALL, **more}}
    content = {JSON: {"schema": schema}}
    return {
        200: {"description": "The current version has this content.", "content": content},
        201: {"description": "A new version was published.", "content": content},
    }
