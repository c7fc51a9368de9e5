"""Time zones of the tz database, and what a local time means on the days when clocks change.

Rules come from the package tzdata alone, never from the machine: every process that judges a window reads the same, and
the version that is stored with a window is the version it was made by.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo

import tzdata

TZDATA_VERSION: Final = tzdata.IANA_VERSION
"""Such as 2026f."""

Gap: TypeAlias = Literal["shift_forward", "skip"]
Fold: TypeAlias = Literal["first", "last"]


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """All names, links such as US/Eastern too."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


@lru_cache(maxsize=1024)
def zone(name: str) -> ZoneInfo:
    """ValueError for a name that the tz database does not have."""
    if name not in zone_names():
        raise ValueError(f"{name[:80]!r} is no time zone of the tz database")
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def instant(local: datetime, where: ZoneInfo, gap: Gap, fold: Fold) -> datetime | None:
    """The UTC time of a naive local time. One that a clock change leaves out is read with the offset before it, as RFC
    5545 (3.3.5) does, or is None; of one that comes twice `fold` says which."""
    first = local.replace(tzinfo=where, fold=0).astimezone(UTC)
    if _wall(first, where) != local:
        return None if gap == "skip" else first
    return local.replace(tzinfo=where, fold=1).astimezone(UTC) if fold == "last" else first


def opening(local: datetime, where: ZoneInfo, fold: Fold = "first") -> datetime:
    """The UTC time from which on the clock shows at least this naive local time: where a clock change leaves it
    out, the moment of the change. Days begin by it, in zones too that change at midnight."""
    before = local.replace(tzinfo=where, fold=0).astimezone(UTC)
    if _wall(before, where) == local:
        return local.replace(tzinfo=where, fold=1).astimezone(UTC) if fold == "last" else before
    # Read with the offset after the change it lies before it, and the other way round.
    low, high = local.replace(tzinfo=where, fold=1).astimezone(UTC), before
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
        if _wall(middle, where) >= local:
            high = middle
        else:
            low = middle
    return high


def local_text(when: datetime, where: ZoneInfo) -> str:
    """RFC 3339 with the offset of the zone, such as 2026-11-27T09:00:00-05:00."""
    return when.astimezone(where).isoformat(timespec="seconds")


def _wall(when: datetime, where: ZoneInfo) -> datetime:
    return when.astimezone(where).replace(tzinfo=None, fold=0)
