"""Lines of `log()`: the only ones that a training loop writes at every step."""

from shipworthy.values import encode, plain


def log_line(step: int | None, at: float, values: dict[str, object]) -> bytes:
    """`at` is seconds since 1970, kept to the millisecond. NaN and infinities become their names as text."""
    try:
        text = encode(values)
    except (TypeError, ValueError, RecursionError):
        text = encode(plain(values))
    number = "null" if step is None else str(step)
    return b'{"log":{"step":%b,"t":%.3f,"values":%b}}\n' % (number.encode(), at, text)
