"""What a reader takes from bytes: the value, the line of each part, and how plain scalars were written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gates.documents.pointers import Json, parent
from gates.documents.problems import refusal

MAX_BYTES: Final = 1024 * 1024
"""Largest document; the largest public data contract found has 192 KiB."""

MAX_DEPTH: Final = 30
"""Containers within containers. A list within a list is one level here and two in the suite, which canonical JSON
bounds by 64."""

MAX_VALUES: Final = 50_000
"""Values of a document with its aliases written out: what stops a few lines from becoming billions. The largest
public data contract has 6,250."""

MAX_DIGITS: Final = 400
MAX_KEY: Final = 256
"""Characters of a key. Each value below it keeps its whole pointer: long keys would cost the square of the text."""
MAX_POINTERS: Final = 16 * 1024 * 1024
"""Characters of all pointers together; the largest public data contract has a hundredth of it."""
MAX_WRITTEN_OUT: Final = 4 * 1024 * 1024
"""Characters of all texts with aliases written out."""


@dataclass(frozen=True, slots=True)
class Source:
    """`lines` and `texts` are keyed by JSON pointer. `texts` holds the author's writing of plain YAML scalars
    that were read as a number, true, false or null: 1.10 is the number 1.1, but the version "1.10"."""

    value: Json
    lines: Mapping[str, int]
    texts: Mapping[str, str]


def line_of(lines: Mapping[str, int], pointer: str) -> int:
    """The line of a value, or of the nearest container with a known line; counts from 1."""
    while pointer and pointer not in lines:
        pointer = parent(pointer)
    return lines.get(pointer, 1)


def decoded(data: bytes) -> str:
    """The text of a document: UTF-8, at most MAX_BYTES; raises DocumentError."""
    if len(data) > MAX_BYTES:
        raise refusal(1, "", f"has {len(data)} bytes; the limit is {MAX_BYTES}, split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise refusal(line, "", f"byte {error.start} is not UTF-8; save the file as UTF-8") from None


def checked_text(text: str, line: int, pointer: str) -> str:
    """The text, when UTF-8 can hold it: an escape such as \\ud800 can make one that it can't."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise refusal(line, pointer, "has a lone surrogate (\\ud800 to \\udfff); write whole characters")
    return text


def checked_number(text: str, line: int, pointer: str) -> int | float:
    """The number a text writes: exact for integers, else the nearest float; raises DocumentError."""
    if len(text) > MAX_DIGITS:
        raise refusal(
            line, pointer, f"is a number of more than {MAX_DIGITS} digits; quote it to keep it as text"
        )
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if number in (float("inf"), float("-inf")):
        raise refusal(line, pointer, f"{text} is beyond what a number can hold; quote it to keep it as text")
    return number


def checked_key(key: str, line: int, pointer: str) -> str:
    """The key; raises DocumentError for one that is longer than a name."""
    if len(key) > MAX_KEY:
        raise refusal(
            line, pointer, f"has a key of {len(key)} characters, the limit is {MAX_KEY}; shorten it"
        )
    return key


class PointerBudget:
    """Counts the characters of all pointers of one document."""

    def __init__(self) -> None:
        self._spent = 0

    def spend(self, pointer: str, line: int) -> None:
        """Raises DocumentError when the document is nested too deep for how wide it is."""
        self._spent += len(pointer)
        if self._spent > MAX_POINTERS:
            raise refusal(line, "", "is too large for how deep it is nested; flatten it, or shorten its keys")
