"""From the bytes of a policy to a policy, or to sentences with line numbers that say what to mend."""

import difflib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gates.documents.json_reading import read_json
from gates.documents.pointers import Json, child
from gates.documents.problems import DocumentError, Problem, refusal
from gates.documents.source import Source, line_of
from gates.documents.yaml_reading import read_yaml
from gates.release.policy import KINDS, Policy, PolicyDocument, document_problems
from gates.release.values import PATTERN_WORDS, PolicyPart
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import CanonicalizationError, canonicalize

Media = Literal["yaml", "json"]

_MESSAGES: Final[Mapping[str, str]] = {
    "missing": "is missing; write it",
    "string_type": "must be text; put it in quotes",
    "int_type": "must be a whole number, without quotes",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number, without quotes",
    "bool_type": "must be true or false, without quotes",
    "tuple_type": "must be a list; write it like [a, b]",
    "model_type": "must be a mapping; write its members as name: value",
    "model_attributes_type": "must be a mapping; write its members as name: value",
    "dict_type": "must be a mapping; write its members as name: value",
    "finite_number": "must be a finite number",
    "too_short": "must not be empty; write at least one",
}


def load_policy(data: bytes, media: Media = "yaml") -> Policy:
    """Raises DocumentError, whose problems have line, JSON pointer and how to mend it, for whatever is not a policy
    that can be published. Pure: the same bytes give the same policy, and a repeated call is answered from memory."""
    return _loaded(bytes(data), media)


def policy_digests(data: bytes, media: Media = "yaml") -> tuple[str, str]:
    """SHA-256 of the bytes, and of the RFC 8785 form of the document as written; raises DocumentError."""
    return sha256_digest(data), sha256_digest(_canonical(_source(data, media)))


@lru_cache(maxsize=256)
def _loaded(data: bytes, media: Media) -> Policy:
    source = _source(data, media)
    canonical = _canonical(source)
    try:
        # As JSON: strict validation takes a list for a tuple there, and nothing else for anything.
        document = PolicyDocument.model_validate_json(canonical)
    except ValidationError as error:
        raise DocumentError(_shape_problems(source, error)) from None
    problems = sorted(
        Problem(line_of(source.lines, pointer), pointer, "error", message)
        for pointer, message in document_problems(document)
    )
    if problems:
        raise DocumentError(problems)
    return Policy(document, sha256_digest(data), sha256_digest(canonical), source.lines)


def _source(data: bytes, media: Media) -> Source:
    source = read_yaml(data) if media == "yaml" else read_json(data)
    if not isinstance(source.value, dict):
        raise refusal(1, "", "is no policy: write a mapping that starts with apiVersion: shipworthy/v1")
    return source


def _canonical(source: Source) -> bytes:
    try:
        return canonicalize(source.value)
    except CanonicalizationError as error:
        message = f"{error.reason}; write it as text, in quotes"
        raise refusal(line_of(source.lines, error.path), error.path, message) from None


def _shape_problems(source: Source, error: ValidationError) -> list[Problem]:
    found = set()
    errors = [
        (_pointer(source.value, each["loc"]), each)
        for each in error.errors(include_url=False, include_input=False)
    ]
    for pointer, each in errors:
        if each["type"] == "too_short" and any(place.startswith(f"{pointer}/") for place, _ in errors):
            continue  # It has items; what is wrong with them is told.
        found.add(Problem(line_of(source.lines, pointer), pointer, "error", _message(each)))
    return sorted(found)


def _pointer(value: Json, location: tuple[int | str, ...]) -> str:
    """The place in the document. A location names the kind of a criterion too, which is no member there; a missing
    member keeps its name."""
    pointer = ""
    for index, part in enumerate(location):
        if index == 2 and location[0] == "criteria":
            continue
        if isinstance(value, dict) and part in value:
            value = value[str(part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        pointer = child(pointer, part)
    return pointer


def _message(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return (
                f"is no member of a policy here; remove it, or correct its name{_like(str(error['loc'][-1]))}"
            )
        case "literal_error":
            return f"must be {context.get('expected')}"
        case "union_tag_invalid" | "union_tag_not_found":
            return f"needs a kind; write kind: and one of {', '.join(KINDS)}"
        case "string_pattern_mismatch":
            return PATTERN_WORDS[str(context["pattern"])]
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            return error["msg"].replace("Input should be", "must be")
        case "value_error":
            return str(context.get("error"))
        case kind:
            return _MESSAGES.get(kind, f"{error['msg'].lower()}; docs/gates.md shows how to write it")


def _like(name: str) -> str:
    near = difflib.get_close_matches(name, _members(), n=1, cutoff=0.65)
    return f" (did you mean {near[0]}?)" if near and near[0] != name else ""


@lru_cache(maxsize=1)
def _members() -> list[str]:
    """The names of all members of a policy."""
    names: set[str] = set()
    parts: list[type[PolicyPart]] = [PolicyPart]
    while parts:
        part = parts.pop()
        parts.extend(part.__subclasses__())
        names.update(field.alias or name for name, field in part.model_fields.items())
    return sorted(names)
