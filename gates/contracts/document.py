"""A contract as its author wrote it: Open Data Contract Standard v3 (YAML or JSON), or a GX 1.x suite (JSON)."""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from open_data_contract_standard.model import OpenDataContractStandard
from pydantic import ValidationError

from gates.documents.json_reading import read_json
from gates.documents.pointers import Json, as_list, as_mapping, as_text, child, parent, resolve
from gates.documents.problems import DocumentError, Problem, refusal
from gates.documents.source import Source, line_of
from gates.documents.yaml_reading import read_yaml

_SHAPES: Final[Mapping[str, str]] = {
    "bool_type": "must be true or false, without quotes",
    "string_type": "must be a text; put it in quotes",
    "int_type": "must be a whole number, without quotes",
    "float_type": "must be a number, without quotes",
    "list_type": "must be a list; write each item on a line that starts with a dash",
    "dict_type": "must be a mapping; write its members as name: value",
    "model_type": "must be a mapping; write its members as name: value",
    "too_short": "must hold two numbers, the smaller first",
    "too_long": "must hold two numbers, the smaller first",
}
"""What to write, for each kind of error of the standard's models."""

MAX_AGREEMENTS: Final = 20_000
_VERSION: Final = re.compile(r"v?3\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class ContractDocument:
    """A contract whose shape was checked. `value` is read, never changed; `lines` is keyed by JSON pointer."""

    format: Literal["odcs", "gx"]
    media: Literal["yaml", "json"]
    value: Mapping[str, Json]
    lines: Mapping[str, int]

    def line(self, pointer: str) -> int:
        """The line of a value, or of the nearest container with a known line; counts from 1."""
        return line_of(self.lines, pointer)


def read_contract(data: bytes, media: Literal["yaml", "json"]) -> ContractDocument:
    """The document of these bytes; raises DocumentError, each problem with its line and how to mend it.

    A GX suite may come as YAML too: what it is shows in its members. Suites of Great Expectations 0.18 are
    refused: their expectations have other defaults, so that the same text would judge otherwise.
    """
    source = read_yaml(data) if media == "yaml" else read_json(data)
    if not isinstance(source.value, dict):
        raise refusal(1, "", "is no contract: write a mapping that starts with `kind: DataContract`")
    if "expectations" in source.value or "expectation_suite_name" in source.value:
        _require_gx_suite(source)
        return ContractDocument("gx", media, source.value, source.lines)
    if "kind" in source.value or "apiVersion" in source.value:
        source = _odcs(source)
        return ContractDocument("odcs", media, as_mapping(source.value), source.lines)
    if "dataContractSpecification" in source.value:
        message = "is a Data Contract Specification; convert it to the Open Data Contract Standard v3"
        raise refusal(
            line_of(source.lines, "/dataContractSpecification"), "/dataContractSpecification", message
        )
    message = (
        "is neither an Open Data Contract Standard v3 document (kind: DataContract, apiVersion: v3.1.0) "
        "nor a Great Expectations 1.x suite (name, expectations)"
    )
    raise refusal(1, "", message)


def _require_gx_suite(source: Source) -> None:
    value = as_mapping(source.value)
    meta = as_mapping(value.get("meta"))
    written_by = as_text(meta.get("great_expectations_version"))
    old = next((key for key in ("expectation_suite_name", "data_asset_type") if key in value), None)
    if old is None and written_by is not None and written_by.startswith("0."):
        old = "meta/great_expectations_version"
    expectations = value.get("expectations")
    for index, each in enumerate(as_list(expectations)):
        if old is None and "expectation_type" in as_mapping(each):
            old = f"expectations/{index}/expectation_type"
    if old is not None:
        message = (
            "this is a suite of Great Expectations 0.18 or older, whose defaults differ from 1.x; "
            "load it with Great Expectations 1.x, look its expectations over and save it again"
        )
        raise refusal(line_of(source.lines, f"/{old}"), f"/{old}", message)
    problems = [
        Problem(line_of(source.lines, place), place, "error", "is no expectation; write {type, kwargs}")
        for place, each in ((child("/expectations", n), e) for n, e in enumerate(as_list(expectations)))
        if not isinstance(each, dict)
    ]
    if not isinstance(expectations, list):
        problems = [
            Problem(line_of(source.lines, "/expectations"), "/expectations", "error", "must be a list")
        ]
    if problems:
        raise DocumentError(problems)


def _odcs(source: Source) -> Source:
    """The source with its shape checked, and text where the standard wants text (`version: 1.10`)."""
    value = as_mapping(source.value)
    if value.get("kind", "DataContract") != "DataContract":
        raise refusal(line_of(source.lines, "/kind"), "/kind", "must be DataContract")
    version = value.get("apiVersion")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        message = f"is {version!r}; only v3 of the standard is read, write v3.1.0"
        raise refusal(line_of(source.lines, "/apiVersion"), "/apiVersion", message)
    _require_bounded_agreements(source)
    problems = _shape_problems(source)
    if any(problem.pointer in source.texts for problem in problems):
        source = _as_written(source, {problem.pointer for problem in problems})
        problems = _shape_problems(source)
    if problems:
        raise DocumentError(problems)
    return source


def _require_bounded_agreements(source: Source) -> None:
    """Agreements are listed with every object: their number times that of the objects is what compiling writes."""
    value = as_mapping(source.value)
    members = sum(len(as_mapping(each)) for each in as_list(value.get("slaProperties")))
    objects = len(as_list(value.get("schema")))
    if members * objects > MAX_AGREEMENTS:
        message = f"has {members} members for {objects} objects; the limit of the product is {MAX_AGREEMENTS}, split it"
        raise refusal(line_of(source.lines, "/slaProperties"), "/slaProperties", message)


def _shape_problems(source: Source) -> list[Problem]:
    try:
        # Strict: a quoted "yes" is no boolean, and a rule that hangs on it must not be lost.
        OpenDataContractStandard.model_validate(source.value, strict=True)
    except ValidationError as error:
        found = []
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            # An unknown top-level member is not a fault of shape: lint tells it, like unknown members below.
            if each["type"] == "extra_forbidden":
                continue
            pointer = _pointer_of(source.value, each["loc"])
            message = _SHAPES.get(each["type"], f"{each['msg'].lower()}; see the standard for this member")
            found.append(Problem(line_of(source.lines, pointer), pointer, "error", message))
        return sorted(set(found))
    return []


def _pointer_of(value: Json, location: tuple[int | str, ...]) -> str:
    """The place of a model's error. Its location names union branches too, which the document doesn't have."""
    pointer = ""
    for part in location:
        if isinstance(value, dict) and part in value:
            value = value[str(part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            continue
        pointer = child(pointer, part)
    return pointer


def _as_written(source: Source, pointers: set[str]) -> Source:
    changed = copy.deepcopy(source.value)
    for pointer in pointers & source.texts.keys():
        holder = resolve(changed, parent(pointer))
        name = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        if isinstance(holder, dict) and source.texts[pointer]:
            holder[name] = source.texts[pointer]
        elif isinstance(holder, list):
            holder[int(name)] = source.texts[pointer]
    return replace(source, value=changed)
