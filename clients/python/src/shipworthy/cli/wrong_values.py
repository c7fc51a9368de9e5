"""Values of options that can't be read: said with the value, in our words."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import typer
from typer.core import TyperGroup

_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "int_parsing": lambda context: "is no whole number",
    "int_parsing_size": lambda context: "is too large",
    "float_parsing": lambda context: "is no number",
    "greater_than_equal": lambda context: f"is less than {context['ge']}",
    "less_than_equal": lambda context: f"is more than {context['le']:,}",
}
"""By pydantic's error type, of its context."""


class Commands(TyperGroup):
    """All commands; what pydantic says of a value neither shows it nor helps to mend it."""

    def invoke(self, ctx: Any) -> object:  # noqa: ANN401 - its type is private to typer
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            # Pydantic's ValidationError; naming it here would load pydantic with every command.
            details = getattr(error.__cause__, "errors", None)
            if details is not None:
                error.message = _said(details(include_url=False)[0], error.message)
            raise


def _said(first: Mapping[str, Any], message: str) -> str:
    words = _WORDS.get(first["type"])
    if words is not None:
        return f"{first['input']!r} {words(first.get('ctx', {}))}."
    return message.removeprefix("Value error, ")
