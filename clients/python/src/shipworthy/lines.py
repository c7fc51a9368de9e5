"""Lines of `log()`: the only ones that a training loop writes at every step."""

from typing import Final

from shipworthy.values import encode, plain

_MAX_NAMES: Final = 1000
_heads: dict[str, str] = {}
"""Names as they stand in a line, `"loss":`. A loop has the same ones at each step."""


def log_line(step: int | None, at: float, values: dict[str, object]) -> bytes:
    """`at` is seconds since 1970, kept to the millisecond. NaN and infinities become their names as text."""
    text = _numbers(values)
    if text is None:
        try:
            text = encode(values)
        except (TypeError, ValueError, RecursionError):
            text = encode(plain(values))
    number = "null" if step is None else str(step)
    return b'{"log":{"step":%b,"t":%.3f,"values":%b}}\n' % (number.encode(), at, text)


def _numbers(values: dict[str, object]) -> bytes | None:
    """The same text as `encode` makes, in a third of its time; None when not all values are finite numbers."""
    parts = []
    for name, value in values.items():
        # The exact types: a subclass may have a text of its own. The difference is NaN unless the float is finite.
        if type(value) is not int and not (type(value) is float and value - value == 0):
            return None
        head = _heads.get(name)
        if head is None:
            if len(_heads) >= _MAX_NAMES:
                _heads.clear()
            head = _heads[name] = encode(name).decode() + ":"
        parts.append(f"{head}{value!r}")
    return f"{{{','.join(parts)}}}".encode()
