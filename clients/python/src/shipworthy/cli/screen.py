"""Where commands write: results on standard output, everything else on standard error.

Colours only for a terminal and never with NO_COLOR; what is piped is neither coloured nor cut nor wrapped.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

_PIPED_WIDTH: Final = 100_000
_TABLE_WIDTH: Final = 160
_THEME: Final = Theme(
    {
        "good": "green",
        "weak": "yellow",
        "bad": "red",
        "dim": "bright_black",
        "name": "bold",
        "part": "cyan",
    }
)


def output() -> Console:
    """Standard output. Digests and counts are not to be coloured by guess, so highlighting is off."""
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(theme=_THEME, highlight=False, markup=False, emoji=False, width=width)


def messages() -> Console:
    """Standard error."""
    width = None if sys.stderr.isatty() else _PIPED_WIDTH
    return Console(theme=_THEME, highlight=False, markup=False, emoji=False, stderr=True, width=width)


def has_room(console: Console) -> bool:
    """Whether a table reads better than lines: on a wide terminal. In a pipe its columns are as wide as their longest
    cell, which no log shows in one line."""
    return console.is_terminal and console.width >= _TABLE_WIDTH


def indented(start: Text, text: Text) -> Table:
    """The text beside its start, wrapped to the right of it."""
    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(start, text)
    return grid


def print_json(document: Mapping[str, Any] | list[Any]) -> None:
    """A document as it came, for programs."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
