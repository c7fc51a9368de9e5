"""From the bytes of a definition to a promise, or to sentences with line numbers that say what to mend."""

from functools import lru_cache
from typing import Literal

from pydantic import ValidationError

from gates.documents.json_reading import read_json
from gates.documents.pointers import as_mapping
from gates.documents.problems import DocumentError, Problem, refusal
from gates.documents.source import Source, line_of
from gates.documents.yaml_reading import read_yaml
from gates.slo.ambiguous import ambiguous_problems
from gates.slo.building import Digests, build
from gates.slo.checking import document_problems
from gates.slo.definition import Definition
from gates.slo.document import Document, InvariantDocument, SloDocument
from gates.slo.remedies import shape_problems
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import CanonicalizationError, canonicalize

Media = Literal["yaml", "json"]


def load_slo(data: bytes, media: Media = "yaml") -> Definition:
    """Raises DocumentError, whose problems have line, JSON pointer and how to mend it, for whatever is no
    definition that can be published. Pure: the same bytes give the same definition, and a repeated call is answered
    from memory."""
    return _loaded(bytes(data), media)


def definition_digests(data: bytes, media: Media = "yaml") -> tuple[str, str]:
    """SHA-256 of the bytes, and of the RFC 8785 form of the document as written; raises DocumentError."""
    return sha256_digest(data), sha256_digest(_canonical(_source(data, media)))


@lru_cache(maxsize=1024)
def _loaded(data: bytes, media: Media) -> Definition:
    source = _source(data, media)
    canonical = _canonical(source)
    found = ambiguous_problems(data, source) if media == "yaml" else []
    try:
        # As JSON: strict validation takes a date as text there, and nothing else for anything.
        document = _model(source).model_validate_json(canonical)
    except ValidationError as error:
        known = {problem.pointer for problem in found}
        found += [each for each in shape_problems(source, error) if each.pointer not in known]
        raise DocumentError(sorted(found)) from None
    found += [
        Problem(line_of(source.lines, pointer), pointer, "error", message)
        for pointer, message in document_problems(document)
    ]
    if found:
        raise DocumentError(sorted(found))
    return build(document, Digests(sha256_digest(data), sha256_digest(canonical)), source.lines)


def _model(source: Source) -> type[Document]:
    match as_mapping(source.value).get("kind"):
        case "SLO":
            return SloDocument
        case "Invariant":
            return InvariantDocument
        case _:
            message = (
                "must be SLO (with apiVersion: openslo/v1) or Invariant (with apiVersion: shipworthy/v1)"
            )
            raise refusal(line_of(source.lines, "/kind"), "/kind", message)


def _source(data: bytes, media: Media) -> Source:
    source = read_yaml(data) if media == "yaml" else read_json(data)
    if not isinstance(source.value, dict):
        raise refusal(1, "", "is no definition: write a mapping that starts with apiVersion: openslo/v1")
    return source


def _canonical(source: Source) -> bytes:
    try:
        return canonicalize(source.value)
    except CanonicalizationError as error:
        message = f"{error.reason}; write it as text, in quotes"
        raise refusal(line_of(source.lines, error.path), error.path, message) from None
