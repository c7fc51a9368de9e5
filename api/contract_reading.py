"""From the bytes of a contract to what is published of it. No input or output; pure Python, no engine."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from gates.contracts.compiling import compile_contract
from gates.contracts.document import read_contract
from gates.contracts.linting import lint_contract
from gates.contracts.suite import CompiledContract
from gates.documents.problems import DocumentError, Problem
from models.errors import FieldProblem, InvalidInput
from shipworthy.formats.digests import sha256_digest

MEDIA_TYPES: Final[Mapping[str, Literal["yaml", "json"]]] = {
    "application/yaml": "yaml",  # RFC 9512
    "application/x-yaml": "yaml",
    "text/yaml": "yaml",
    "text/x-yaml": "yaml",
    "application/json": "json",
}
MAX_PROBLEMS: Final = 200
_JSON: Final = re.compile(rb"\s*[\[{]")


@dataclass(frozen=True, slots=True)
class ReadContract:
    """A contract as it was sent and what it is compiled into; `problems` is what lint has to say of it."""

    format: Literal["odcs", "gx"]
    media_type: str
    data: bytes
    digest: str
    compiled: CompiledContract
    problems: Sequence[Problem]

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The tables of the contract, each with the numbers of its rules."""
        return [
            {
                "name": each.name,
                "checks": len(each.checks),
                "blocking": sum(check.about.blocking for check in each.checks),
                "not_evaluated": len(each.not_evaluated),
                "unjudged": sum(rule.blocking for rule in each.not_evaluated),
            }
            for each in self.compiled.objects
        ]

    @property
    def is_sound(self) -> bool:
        """Whether every rule can be checked as it is written. One that can't is listed as not evaluated, so that a
        contract that is not sound may be published: no data passes it."""
        return all(problem.severity != "error" for problem in self.problems)


def read(data: bytes, content_type: str | None) -> ReadContract:
    """Raises DocumentError for bytes that are no contract, InvalidInput for another kind of content."""
    media_type = _media_type(data, content_type)
    document = read_contract(data, MEDIA_TYPES[media_type])
    return ReadContract(
        format=document.format,
        media_type=media_type,
        data=data,
        digest=sha256_digest(data),
        compiled=compile_contract(document),
        problems=lint_contract(document),
    )


def read_for_publishing(data: bytes, content_type: str | None) -> ReadContract:
    """Raises InvalidInput, one problem for each place that has to be mended."""
    try:
        return read(data, content_type)
    except DocumentError as error:
        raise _refusal(error.problems) from error


def problem_json(problem: Problem) -> dict[str, Any]:
    return {
        "severity": problem.severity,
        "pointer": problem.pointer,
        "line": problem.line,
        "message": problem.message,
    }


def _refusal(problems: Sequence[Problem]) -> InvalidInput:
    """The error for bytes that are no contract."""
    first = problems[0]
    more = f"; {len(problems) - 1} more in this contract" if len(problems) > 1 else ""
    return InvalidInput(
        f"line {first.line}, {first.pointer or 'the contract'} {first.message}{more}",
        problems=[
            FieldProblem(each.pointer, f"line {each.line}: {each.message}")
            for each in problems[:MAX_PROBLEMS]
        ],
    )


def _media_type(data: bytes, content_type: str | None) -> str:
    given = (content_type or "").partition(";")[0].strip().lower()
    if given in ("", "application/octet-stream"):
        return "application/json" if _JSON.match(data) else "application/yaml"
    if given not in MEDIA_TYPES:
        raise InvalidInput(
            f"a contract is sent as {', '.join(MEDIA_TYPES)}; this Content-Type is none of them",
            problems=[FieldProblem("", "has another Content-Type than application/yaml or application/json")],
        )
    return given
