"""A filter of a page that takes one of the fixed words: another word would list everything and look like an answer."""

from collections.abc import Mapping

from api.web.words import Word
from models.errors import FieldProblem, InvalidInput


def chosen(name: str, given: str, words: Mapping[str, Word]) -> str | None:
    """An empty filter, as forms send it, is none. Raises InvalidInput."""
    if not given:
        return None
    if given not in words:
        raise refused(name, f"“{given}” does not exist; it is one of {', '.join(words)}")
    return given


def refused(name: str, message: str) -> InvalidInput:
    """What is wrong with a part of the address."""
    return InvalidInput(f"/query/{name} {message}", problems=[FieldProblem(f"/query/{name}", message)])
