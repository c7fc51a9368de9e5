"""What is wrong with a document: the place, and a sentence that says how to mend it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

ProblemSeverity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """`pointer` is a JSON pointer into the document ("" = the whole), `line` counts from 1.

    error: a rule can't run as it is written, or can't judge anything. warning: it runs, but probably not as
    meant. info: what the author should know.
    """

    line: int
    pointer: str
    severity: ProblemSeverity
    message: str


class DocumentError(ValueError):
    """The bytes are no document of the kind that was asked for; `problems` has at least one entry."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"line {first.line}, {first.pointer or 'the document'}: {first.message}{more}")
        self.problems = tuple(problems)


def refusal(line: int, pointer: str, message: str) -> DocumentError:
    """The error for one place."""
    return DocumentError([Problem(line, pointer, "error", message)])
