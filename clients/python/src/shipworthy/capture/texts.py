"""Texts as the service takes them: no control characters, within a length. It refuses, so the client cuts."""

import re
from typing import Final

LABEL: Final = 256
LINE: Final = 2048
TEXT: Final = 16384
"""Most characters of a name, of a line such as a path, and of free text."""

# Control characters, line and paragraph separators, bidirectional overrides, and lone surrogates, by which
# Python spells bytes that are no UTF-8.
_NOT_IN_LINE: Final = "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_NOT_IN_TEXT: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
_REPLACEMENT: Final = "\ufffd"


def one_line(value: str, limit: int = LINE) -> str:
    """On one line, at most `limit` characters; may be empty."""
    return shortened(_replaced(_NOT_IN_LINE, value.strip()), limit)


def label(value: str) -> str:
    return one_line(value, LABEL)


def free_text(value: str, limit: int = TEXT) -> str:
    """Line breaks and tabs stay."""
    return shortened(_replaced(_NOT_IN_TEXT, value), limit)


def shortened(value: str, limit: int) -> str:
    return value if len(value) <= limit else value[: limit - 1] + "…"


def sentences(reasons: list[str]) -> str | None:
    """Several reasons as one text; None without any."""
    return free_text("; ".join(reasons)) if reasons else None


def _replaced(unwanted: str, text: str) -> str:
    # What is printable has nothing unwanted in it: nearly all texts, for which no pattern is compiled.
    return text if text.isprintable() else re.sub(unwanted, _REPLACEMENT, text)
