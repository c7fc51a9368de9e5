"""Which time's data a run is for: by that, and not by when it ran, it counts for a promise."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from shipworthy.errors import UsageError
from shipworthy.formats.times import format_instant, parse_instant
from shipworthy.values import Json

VARIABLE: Final = "SHIPWORTHY_DATA_INTERVAL"
_EXAMPLE: Final = "2026-11-29T00:00:00Z/2026-11-30T00:00:00Z"

Interval = str | Sequence[str | datetime]
"""START/END as text, or the two of them as texts or aware datetimes."""


def data_interval(given: Interval | None, environ: Mapping[str, str]) -> Json:
    """The member `data_interval` of a run: what is given, else what the variable says; None when neither says
    anything. Raises UsageError for what is no time from a start up to a later end, each with a zone."""
    named = "data_interval"
    if given is None:
        given, named = environ.get(VARIABLE) or None, VARIABLE
    if given is None:
        return None
    ends = given.split("/") if isinstance(given, str) else list(given)
    if len(ends) != 2:
        raise UsageError(f"{named} {str(given)[:120]!r}: write START/END, such as {_EXAMPLE}")
    try:
        start, end = map(_instant, ends)
    except ValueError as error:
        raise UsageError(f"{named}: {error}") from None
    if end <= start:
        raise UsageError(f"{named} {str(given)[:120]!r}: ends before it begins; write START/END")
    return {"start": format_instant(start), "end": format_instant(end)}


def _instant(given: str | datetime) -> datetime:
    if isinstance(given, str):
        # Airflow writes a space between date and clock.
        return parse_instant(given.strip().replace(" ", "T", 1))
    return parse_instant(format_instant(given))
