"""From what Python programs hold to JSON that the service takes. Nothing here raises for a value it doesn't
know."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from enum import Enum
from typing import Final, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Body: TypeAlias = dict[str, Json]

MAX_SAFE_INTEGER: Final = 2**53 - 1
MAX_DEPTH: Final = 24
"""Deeper values become text; the service takes 32 levels, the envelope needs some of them."""

_STRICT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode(value: object) -> bytes:
    """One line of JSON. Raises TypeError or ValueError for what is not JSON; `plain` makes anything JSON."""
    # Lone surrogates (names of files that are not UTF-8) have no UTF-8 form: they become "?".
    return _STRICT.encode(value).encode("utf-8", "replace")


def plain(value: object, depth: int = 0) -> Json:
    """The value as JSON: numbers of numpy and of tensors by their `item()`, NaN and infinities as "NaN",
    "Infinity", "-Infinity", integers beyond 2^53 - 1 as digits, what is unknown as its text."""
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, Enum):
        return plain(value.value, depth + 1) if depth < MAX_DEPTH else str(value)
    if isinstance(value, int):
        return int(value) if abs(value) <= MAX_SAFE_INTEGER else str(int(value))
    if isinstance(value, float):
        return finite(float(value))
    if depth >= MAX_DEPTH:
        return _text(value)
    if isinstance(value, Mapping):
        return {str(name): plain(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items: Iterable[object] = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [plain(each, depth + 1) for each in items]
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    item = getattr(value, "item", None)
    if callable(item):
        try:
            return plain(item(), MAX_DEPTH)
        except (TypeError, ValueError, RuntimeError):
            pass  # An array or tensor of several elements: its text says which.
    return _text(value)


def as_body(value: Json) -> Body:
    """The value as an object. Raises TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError(f"expected a JSON object, not {type(value).__name__}")
    return value


def finite(number: float) -> float | str:
    """The number, or the name JSON has no number for."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def first_line(text: str, limit: int = 500) -> str:
    """The first line without control characters, at most `limit` characters."""
    line = next(iter(text.splitlines()), "")
    return "".join(each if each.isprintable() else " " for each in line)[:limit]


def _text(value: object) -> str:
    return first_line(str(value), 1000)
