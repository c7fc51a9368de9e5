"""What the service refused, said of the options and arguments that carried it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shipworthy.cli.calls import in_commands
from shipworthy.query.errors import KeyRefused, NotFound, Refused
from shipworthy.settings import read_settings

_OPTIONS: Final[Mapping[str, str]] = {
    "expires_at": "expires",
    "family_digest": "family",
    "from": "start",
    "job_namespace": "job",
    "object": "table",
    "recipe_digest": "recipe",
    "run_id": "run",
    "started_after": "since",
    "target": "to",
}
"""Fields that have another name on the command line."""
_FIELD: Final = re.compile(r"(/[\w/-]+) (.*)", re.DOTALL)
_NOUN: Final = re.compile(r"no (?:such version of (?:this|an?) )?(\w+)", re.IGNORECASE)
_TOKEN_MISSING: Final = (
    "SHIPWORTHY_TOKEN is not set, and the service asks for a key; have one made with: "
    "shipworthy-server keys create --role ROLE"
)
_IN_PATH: Final = "/path/"


@dataclass(frozen=True, slots=True)
class Parameter:
    """An option or argument of the command that was called. `shown` is how its help names it, `value` what was given or
    its default."""

    name: str
    shown: str
    value: object
    is_argument: bool


def translated(error: Refused, arguments: Sequence[str]) -> str:
    """The refusal in one sentence; `arguments` are those of the command line that met it."""
    if isinstance(error, KeyRefused):
        return _of_key(error)
    given = tuple(_parameters(arguments))
    urls = [each.value for each in given if each.name == "url" and isinstance(each.value, str)]
    url = urls[0] if urls else read_settings().url
    said = in_commands(_of_field(error.detail, given), url, _name(given))
    if not isinstance(error, NotFound):
        return said
    subject = _subject(error.detail, given)
    return said if subject is None or subject in said else f"{subject}: {said}"


def _of_key(error: KeyRefused) -> str:
    if error.code == "token_missing":
        return _TOKEN_MISSING
    return error.detail.replace("the token is", "the key in SHIPWORTHY_TOKEN is", 1)


def _of_field(detail: str, given: Sequence[Parameter]) -> str:
    found = _FIELD.fullmatch(detail)
    if found is None:
        return detail
    pointer, message = found.groups()
    parameter = _parameter(pointer, given)
    if parameter is None:
        return detail
    value = "" if parameter.value in (None, ()) else f" {str(parameter.value)!r}"
    return f"{parameter.shown}{value}: {message}"


def _parameter(pointer: str, given: Sequence[Parameter]) -> Parameter | None:
    """The one that carried a field; what stands in the path of a call and has no name of its own here is the first
    argument."""
    field = pointer.removeprefix("/query/").removeprefix(_IN_PATH).strip("/").partition("/")[0]
    for name in (field, _OPTIONS.get(field)):
        for each in given:
            if each.name == name:
                return each
    if pointer.startswith(_IN_PATH):
        return next((each for each in given if each.is_argument), None)
    return None


def _subject(detail: str, given: Sequence[Parameter]) -> str | None:
    """What was not found, as it was given: by the option that has the name of the thing, else the first argument."""
    noun = _NOUN.match(detail)
    wanted = noun.group(1).lower() if noun is not None else ""
    for each in sorted(given, key=lambda each: (each.name != wanted, not each.is_argument)):
        if isinstance(each.value, str) and (each.name == wanted or each.is_argument):
            return each.value
    return None


def _name(given: Sequence[Parameter]) -> str | None:
    """Of the contract, gate or SLO that a command is about."""
    for each in given:
        if isinstance(each.value, str) and each.name in ("name", "gate", "window"):
            return each.value.partition("/")[0]
    return None


def _parameters(arguments: Sequence[str]) -> Iterator[Parameter]:
    """Of the command that is named, read again as it was when it began; none where that is not possible."""
    import typer

    from shipworthy.cli.commands import commands

    command: Any = typer.main.get_command(commands(arguments))
    rest = list(arguments)
    while hasattr(command, "commands"):
        place = next((place for place, each in enumerate(rest) if each in command.commands), None)
        if place is None:
            return
        command, rest = command.commands[rest[place]], rest[place + 1 :]
    values = command.make_context(command.name, rest, resilient_parsing=True).params
    for each in command.params:
        is_argument = each.param_type_name == "argument"
        shown = (each.metavar or each.name.upper()) if is_argument else max(each.opts, key=len)
        yield Parameter(each.name, shown, values.get(each.name), is_argument)
