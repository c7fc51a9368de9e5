"""Instants on the wire: RFC 3339 in UTC with milliseconds and "Z"."""

import re
from datetime import UTC, datetime
from typing import Final

_INSTANT: Final = r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,18}))?([Zz]|[+-]\d\d:\d\d)?"
"""Compiled at the first use, not when a training program starts, which only writes times."""


def format_instant(when: datetime) -> str:
    """Such as 2026-05-01T12:00:00.000Z; microseconds are cut off. ValueError when `when` has no zone."""
    if when.utcoffset() is None:
        raise ValueError(f"the time {when.isoformat()} has no zone; make it aware, such as by tzinfo=UTC")
    return when.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_instant(text: str) -> datetime:
    """Aware UTC time of an RFC 3339 text with "Z" or an offset.

    ValueError when the text is no such time, has no zone, says more than microseconds, or lies outside the years 1 to
    9999 in UTC.
    """
    match = re.fullmatch(_INSTANT, text, re.ASCII)
    if match is None:
        raise ValueError(f"{text[:80]!r} is not an RFC 3339 time; write it like 2026-05-01T12:00:00.000Z")
    date, clock, fraction, zone = match.groups()
    if zone is None:
        raise ValueError(f"{text!r} has no zone; end it with Z or an offset such as +02:00")
    microseconds = (fraction or "").rstrip("0").ljust(6, "0")
    if len(microseconds) > 6:
        raise ValueError(f"{text!r} says more than microseconds; give at most six digits after the point")
    try:
        offset = "+00:00" if zone in "Zz" else zone
        return datetime.fromisoformat(f"{date}T{clock}.{microseconds}{offset}").astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is not a time in UTC: {error}; correct date, clock or offset") from None
