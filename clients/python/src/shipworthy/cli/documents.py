"""What is looked over and published the same way: contracts, gate policies, SLO definitions."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import typer
from rich.text import Text

from shipworthy.cli.contract_parts import show_problems
from shipworthy.cli.exits import Exit
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.errors import UsageError
from shipworthy.query.contracts import ContractProblem, problems
from shipworthy.query.errors import FieldProblem, InvalidRequest

CAN_BE_PUBLISHED: Final = Text("✓ can be published", "good")
_LINE: Final = re.compile(r"line (\d+): (.*)", re.DOTALL)
_MEDIA_TYPES: Final = {".yaml": "application/yaml", ".yml": "application/yaml", ".json": "application/json"}


def read_document(file: Path) -> tuple[bytes, str | None]:
    """Its bytes and media type, by which problems get their lines; None leaves it to the service to tell.

    Raises UsageError when it can't be read.
    """
    try:
        return file.read_bytes(), _MEDIA_TYPES.get(file.suffix.lower())
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror}") from error


@contextmanager
def problems_shown(file: Path, *, as_json: bool) -> Iterator[None]:
    """Shows each problem of a document that was refused, and ends with exit code 1; as JSON the refusal goes on."""
    try:
        yield
    except InvalidRequest as error:
        if as_json or not error.problems:
            raise
        show_problems(messages(), str(file), map(_placed, error.problems))
        raise typer.Exit(Exit.NEGATIVE) from error


def _placed(refused: FieldProblem) -> ContractProblem:
    """A refused field of a document as its lint tells it: the service says the line in its sentence."""
    found = _LINE.fullmatch(refused.message)
    line, message = (int(found.group(1)), found.group(2)) if found is not None else (0, refused.message)
    return ContractProblem("error", refused.field, line, message)


def show_looked_over(file: Path, found: Mapping[str, Any], *, as_json: bool) -> None:
    """What a lint found; exit code 1 when the document can't be published."""
    if as_json:
        print_json(dict(found))
    else:
        show_problems(messages(), str(file), problems(found))
        if found["ok"]:
            output().print(CAN_BE_PUBLISHED)
    if not found["ok"]:
        raise typer.Exit(Exit.NEGATIVE)


def show_published(file: Path, found: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(dict(found))
        return
    show_problems(messages(), str(file), problems(found))
    output().print(f"{found['name']} version {found['version']}  {found['document_digest']}")
