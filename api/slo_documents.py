"""From the bytes of an SLO's definition to what is published of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from api.documents import MEDIA_TYPES, media_type_of, refusal
from gates.documents.json_reading import read_json
from gates.documents.problems import DocumentError, Problem
from gates.documents.yaml_reading import read_yaml
from gates.slo.definition import Definition
from gates.slo.linting import lint
from gates.slo.loading import load_slo

MAX_DEFINITION_BYTES: Final = 128 * 1024
"""The document stands in its record too, which holds 256 KiB."""
WHAT: Final = "definition"


@dataclass(frozen=True, slots=True)
class ReadDefinition:
    """A definition as it was sent."""

    definition: Definition
    data: bytes
    media_type: str

    def body(self, version: int) -> dict[str, Any]:
        """Of the record `slo.published`."""
        definition = self.definition
        source = read_yaml(self.data) if MEDIA_TYPES[self.media_type] == "yaml" else read_json(self.data)
        body = {
            "name": definition.name,
            "version": version,
            "media_type": self.media_type,
            "digest": definition.digest,
            "document_digest": definition.document_digest,
            "size_bytes": len(self.data),
            "kind": definition.kind,
            "objective": definition.objective,
            "service": definition.service,
            "team": definition.team,
            "target": decimal(definition.target),
            "definition": source.value,
        }
        return body | ({} if definition.max_misses is None else {"max_misses": definition.max_misses})


def read_definition(data: bytes, content_type: str | None) -> ReadDefinition:
    """Raises DocumentError for bytes that are no definition, InvalidInput for another kind of content."""
    media_type = media_type_of(data, content_type, WHAT)
    if len(data) > MAX_DEFINITION_BYTES:
        message = f"has {len(data)} bytes, the limit is {MAX_DEFINITION_BYTES}"
        raise DocumentError([Problem(1, "", "error", message)])
    return ReadDefinition(load_slo(data, MEDIA_TYPES[media_type]), data, media_type)


def checked_definition(
    data: bytes, content_type: str | None, now: datetime
) -> tuple[ReadDefinition, Sequence[Problem]]:
    """A definition that may be published at `now`, and what its author should know. Raises InvalidInput."""
    try:
        read = read_definition(data, content_type)
        problems = lint(read.definition, now)
        errors = [each for each in problems if each.severity == "error"]
        if errors:
            raise DocumentError(errors)
    except DocumentError as error:
        raise refusal(error, WHAT) from error
    return read, problems


def decimal(share: Fraction) -> str:
    """Exact: a target was written with so many digits, and a binary fraction would be another one."""
    digits, rest = 0, share
    while rest.denominator != 1:
        digits, rest = digits + 1, rest * 10
    text = str(rest.numerator).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text
