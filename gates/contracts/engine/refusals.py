"""Why something could not be judged. No message holds a value of the data: results are kept and shown."""

import re
from typing import Final

_QUOTED: Final = re.compile(r"""'[^'\n]*'?|"[^"\n]*"?|`[^`\n]*`?""")
_LONGEST: Final = 240


class CheckRefused(Exception):
    """This check can't be judged. `reason` is a sentence that says what to change."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DataUnreadable(CheckRefused):
    """The files can't be read as the table that they are said to be; so no check can be judged."""


def without_values(message: str) -> str:
    """The first line of a library's message with all that stood in quotes taken out: it may be a value."""
    first = message.strip().partition("\n")[0]
    return _QUOTED.sub("…", first)[:_LONGEST]
