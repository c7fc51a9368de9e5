"""Words that one YAML reader takes for text and another for something else.

This service reads NO as the text NO. Readers of YAML 1.1, which most tools around OpenSLO are, take it for false, and
12:30:00 for 45000. A definition that says two things is refused until its author puts such words in quotes.
"""

import re
from typing import Final

import yaml
from yaml.tokens import KeyToken, ScalarToken, Token

from gates.documents.pointers import resolve
from gates.documents.problems import Problem
from gates.documents.source import Source

_LOADER: Final = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_BOOLEAN: Final = re.compile(r"y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF")
"""https://yaml.org/type/bool.html, less what YAML 1.2 reads as a boolean too."""
_MOST: Final = 20
_SEXAGESIMAL: Final = re.compile(r"[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
"""https://yaml.org/type/int.html and float.html."""


def ambiguous_problems(data: bytes, source: Source) -> list[Problem]:
    """One for each such value, the first _MOST of them. `data` is YAML that `source` was read from."""
    found = []
    before: Token | None = None
    taken: list[str] = []
    for token in yaml.scan(data, Loader=_LOADER):
        # A key is what it is: the names of members are known.
        reading = None if isinstance(before, KeyToken) else _reading(token)
        if isinstance(token, ScalarToken) and reading is not None:
            pointer = _pointer(source, token, taken)
            taken.append(pointer)
            if token.plain:
                message = f'is read as {reading} by YAML 1.1; put it in quotes: "{token.value}"'
                found.append(Problem(token.start_mark.line + 1, pointer, "error", message))
        if len(taken) == _MOST:
            break
        before = token
    return found


def _reading(token: Token) -> str | None:
    """What YAML 1.1 makes of the text of a scalar; None for text."""
    if not isinstance(token, ScalarToken):
        return None
    if _BOOLEAN.fullmatch(token.value):
        return "true or false"
    return "a number" if _SEXAGESIMAL.fullmatch(token.value) else None


def _pointer(source: Source, token: ScalarToken, taken: list[str]) -> str:
    """The value that the token wrote: the first one of this text on its line that no token before has taken."""
    line = token.start_mark.line + 1
    for pointer, at in source.lines.items():
        if at == line and pointer not in taken and resolve(source.value, pointer) == token.value:
            return pointer
    return ""
