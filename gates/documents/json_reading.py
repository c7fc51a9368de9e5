"""Reads JSON with line numbers: one value, no duplicate keys, no NaN, bounded depth and size."""

from bisect import bisect_right
from json import JSONDecodeError, JSONDecoder
from typing import Final, NoReturn

from gates.documents.pointers import Json, child
from gates.documents.problems import DocumentError, refusal
from gates.documents.source import (
    MAX_DEPTH,
    MAX_VALUES,
    PointerBudget,
    Source,
    checked_key,
    checked_number,
    checked_text,
    decoded,
)

_BLANK: Final = " \t\n\r"


def read_json(data: bytes) -> Source:
    """The document; raises DocumentError with line and place."""
    return _Reader(decoded(data)).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines: dict[str, int] = {}
        self._starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
        self._number = ""
        self._pointers = PointerBudget()
        self._scalars = JSONDecoder(
            parse_int=self._note_number, parse_float=self._note_number, parse_constant=self._refuse_constant
        )

    def read(self) -> Source:
        value = self._value("", 0)
        self._skip_blanks()
        if self._at < len(self._text):
            raise self._refusal("", "more text follows the JSON value; keep one value in the document")
        return Source(value, self._lines, {})

    def _value(self, pointer: str, depth: int) -> Json:
        self._skip_blanks()
        # An object's member keeps the line of its key, which was noted before.
        self._pointers.spend(pointer, self._lines.setdefault(pointer, self._line()))
        if len(self._lines) > MAX_VALUES:
            raise self._refusal(pointer, f"the document has more than {MAX_VALUES} values; split it")
        if depth > MAX_DEPTH:
            raise self._refusal(pointer, f"is nested deeper than {MAX_DEPTH} levels; flatten it")
        match self._text[self._at : self._at + 1]:
            case "{":
                return self._object(pointer, depth)
            case "[":
                return self._array(pointer, depth)
            case _:
                return self._scalar(pointer)

    def _object(self, pointer: str, depth: int) -> Json:
        members: dict[str, Json] = {}
        self._at += 1
        while not self._ends("}", pointer, first=not members):
            self._skip_blanks()
            line = self._line()
            key = self._scalar(pointer) if self._text[self._at : self._at + 1] == '"' else None
            if not isinstance(key, str):
                raise self._refusal(pointer, 'expected a key in double quotes, such as "name"')
            place = child(pointer, checked_key(key, line, pointer))
            if key in members:
                first = self._lines[place]
                raise refusal(
                    line, place, f"the key {key!r} stands already on line {first}; keep one of the two"
                )
            self._lines[place] = line
            self._skip_blanks()
            if self._text[self._at : self._at + 1] != ":":
                raise self._refusal(place, "expected a colon after the key")
            self._at += 1
            members[key] = self._value(place, depth + 1)
        return members

    def _array(self, pointer: str, depth: int) -> Json:
        items: list[Json] = []
        self._at += 1
        while not self._ends("]", pointer, first=not items):
            items.append(self._value(child(pointer, len(items)), depth + 1))
        return items

    def _ends(self, closing: str, pointer: str, *, first: bool) -> bool:
        """Whether the container ends here; steps over its closing sign or over the comma before a member."""
        self._skip_blanks()
        sign = self._text[self._at : self._at + 1]
        if sign == closing:
            self._at += 1
            return True
        if first:
            return False
        if sign != ",":
            raise self._refusal(pointer, f"expected a comma or {closing}")
        self._at += 1
        return False

    def _scalar(self, pointer: str) -> Json:
        self._number = ""
        try:
            value, end = self._scalars.raw_decode(self._text, self._at)
        except JSONDecodeError as error:
            self._at = min(error.pos, len(self._text))
            raise self._refusal(pointer, f"is not JSON: {error.msg}") from None
        line = self._line()
        self._at = end
        if self._number:
            return checked_number(self._number, line, pointer)
        if isinstance(value, str):
            return checked_text(value, line, pointer)
        return value if isinstance(value, bool) else None

    def _note_number(self, text: str) -> None:
        self._number = text

    def _refuse_constant(self, name: str) -> NoReturn:
        raise self._refusal("", f"{name} is not JSON; write null or leave the member out")

    def _skip_blanks(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in _BLANK:
            self._at += 1

    def _line(self) -> int:
        return bisect_right(self._starts, self._at)

    def _refusal(self, pointer: str, message: str) -> DocumentError:
        return refusal(self._line(), pointer, message)
