"""How numbers, digests and times are written in sentences."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta


def figure(number: float) -> str:
    """At most six significant digits: 0.9132, 12, 0.000304; large whole numbers with commas."""
    if abs(number) >= 1000 and float(number).is_integer():
        return f"{int(number):,}"
    text = f"{number:.6g}"
    return "0" if text == "-0" else text


def span(low: float, high: float) -> str:
    return f"{figure(low)} to {figure(high)}"


def short(digest: str) -> str:
    """The start of a digest, for people; never for comparing."""
    return digest[:19] + "…"


def day(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def length(duration: timedelta) -> str:
    seconds = int(duration.total_seconds())
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds % unit == 0:
            count = seconds // unit
            return f"{count:,} {name}{'' if count == 1 else 's'}"
    raise AssertionError("every whole number of seconds is divisible by one")


def joined(words: Sequence[str], last: str = "and") -> str:
    """a, b and c."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
