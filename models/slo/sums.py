"""Sums of windows over times: whole months from their sums, what is left from the windows."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Final

from gates.slo.zones import opening, zone


@dataclass(frozen=True, slots=True)
class Sums:
    """`pending` to `excluded` are windows, `good`, `bad` and `unsure` what they count for."""

    pending: int = 0
    predicted: int = 0
    met: int = 0
    met_in_grace: int = 0
    breached: int = 0
    unknown: int = 0
    excluded: int = 0
    good: int = 0
    bad: int = 0
    unsure: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(one + two for one, two in zip(self.figures, other.figures, strict=True)))

    @property
    def figures(self) -> tuple[int, ...]:
        """In the order of the fields. Not `astuple`, which copies deeply and took a tenth of a report."""
        return tuple(getattr(self, name) for name in _NAMES)

    @property
    def text(self) -> str:
        """As `sums_in` reads it."""
        return " ".join(map(str, self.figures))


_NAMES: Final = tuple(field.name for field in fields(Sums))
_STATUSES: Final = _NAMES[:1] + _NAMES[2:7]
_SPACED: Final = " || ' ' || "
_OF_WINDOW: Final = _SPACED.join(
    f"sum(CASE WHEN status = '{name}' THEN 1 ELSE 0 END)" if name in _STATUSES else f"sum({name})"
    for name in _NAMES
)
OF_MONTHS: Final = (
    f"SELECT slo, {_SPACED.join(f'sum({name})' for name in _NAMES)} AS said FROM slo_month "
    "WHERE namespace = :namespace AND slo IN :keys AND month >= :month AND month < :until_month GROUP BY slo"
)
"""By SLO the figures of the months that lie whole in a span, as one text that `sums_in` reads."""


def of_windows(start: str, end: str) -> str:
    """The same of the windows with start ≤ deadline < end; both name parameters."""
    return (
        f"SELECT slo, {_OF_WINDOW} AS said FROM slo_window WHERE namespace = :namespace AND slo IN :keys "
        f"AND deadline_at >= :{start} AND deadline_at < :{end} GROUP BY slo"
    )


def sums_in(text: str) -> Sums:
    """Adds up figures that OF_MONTHS and `of_windows` made, with commas between them; none for an empty text."""
    return sum((Sums(*map(int, each.split())) for each in text.split(",") if each), Sums())


@dataclass(frozen=True, slots=True)
class Span:
    """start ≤ deadline < end, and the zone in which the SLO's dates are meant; None when it was another one once, so
    that months of dates are none of the time."""

    start: datetime
    end: datetime
    time_zone: str | None

    @property
    def months(self) -> tuple[datetime, datetime] | None:
        """When the first month that lies whole in the span begins, and the last one ends; None without one."""
        if self.time_zone is None:
            return None
        first, last = _next_month(self.start, self.time_zone), _month_begin(self.end, self.time_zone)
        return (first, last) if first < last else None


def _month_begin(when: datetime, time_zone: str) -> datetime:
    where = zone(time_zone)
    local = when.astimezone(where).replace(tzinfo=None)
    return opening(local.replace(day=1, hour=0, minute=0, second=0, microsecond=0), where)


def _next_month(when: datetime, time_zone: str) -> datetime:
    """The first month that begins then or later."""
    begin = _month_begin(when, time_zone)
    return begin if begin == when else _month_begin(begin + timedelta(days=32), time_zone)
