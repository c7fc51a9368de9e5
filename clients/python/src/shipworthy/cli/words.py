"""Numbers, times and digests as people read them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

_UNITS: Final = (("y", 365 * 86400), ("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
_SIZES: Final = ("KiB", "MiB", "GiB", "TiB", "PiB")
_DIGEST_DIGITS: Final = 12


def short_digest(digest: str) -> str:
    """`sha256:` and twelve digits: enough to tell things apart in one picture. `--json` has all of them."""
    return digest[: len("sha256:") + _DIGEST_DIGITS]


def moment(when: datetime | None) -> str:
    """UTC to the minute; "–" when it is not known."""
    return "–" if when is None else when.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def span(seconds: float) -> str:
    """The largest unit that fits, with the next one where that is less than ten: "2 h 5 min", "34 s"."""
    remaining = max(int(seconds), 0)
    for index, (unit, size) in enumerate(_UNITS):
        count, rest = divmod(remaining, size)
        if count == 0 and size > 1:
            continue
        if count < 10 and index + 1 < len(_UNITS):
            below, below_size = _UNITS[index + 1]
            lesser = rest // below_size
            return f"{count} {unit} {lesser} {below}" if lesser else f"{count} {unit}"
        return f"{count} {unit}"
    return "0 s"


def size(count: int) -> str:
    """Bytes with a binary unit."""
    if count < 1024:
        return f"{count} B"
    power = min((count.bit_length() - 1) // 10, len(_SIZES))
    value = count / 1024**power
    return f"{value:.0f} {_SIZES[power - 1]}" if value >= 10 else f"{value:.1f} {_SIZES[power - 1]}"


def count(number: int, one: str, many: str | None = None) -> str:
    """ "1 run", "3 runs"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def shown(items: Sequence[str], limit: int) -> str:
    """The first `limit` items in a row, and how many more there are."""
    more = len(items) - limit
    return ", ".join(items[:limit]) + (f" … {more} more" if more > 0 else "")


def number(value: float) -> str:
    """A metric or hyperparameter: six digits, integers whole."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
