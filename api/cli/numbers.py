"""Whole numbers as options: a slip is answered with what was given and what may be."""

from collections.abc import Callable

import typer


def whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    """The `parser` of an option. A default passes it as well."""

    def parse(text: str) -> int:
        digits = str(text)
        if not (digits.isascii() and digits.isdigit() and lowest <= int(digits[:20]) <= highest):
            raise typer.BadParameter(
                f"{digits[:80]!r} is not taken; give a whole number from {lowest} to {highest}"
            )
        return int(digits)

    return parse
