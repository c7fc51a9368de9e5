"""From the bytes of a contract to what is published of it. No input or output; pure Python, no engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from api.documents import MEDIA_TYPES, media_type_of, refusal
from gates.contracts.suite import CompiledContract
from gates.documents.problems import DocumentError, Problem
from shipworthy.formats.digests import sha256_digest

_WHAT: Final = "contract"


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
    # With the models of the standard: imported with the first contract, they don't stay where there are none.
    from gates.contracts.compiling import compile_contract
    from gates.contracts.document import read_contract
    from gates.contracts.linting import lint_contract

    media_type = media_type_of(data, content_type, _WHAT)
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
        raise refusal(error, _WHAT) from error
