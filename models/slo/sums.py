"""Sums of windows over times, for many SLOs at once: whole months from their sums, what is left from the windows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, case, func, select
from sqlmodel import col

from gates.slo.zones import opening, zone
from models.among import among
from models.bulk import sql_table
from models.slo.tables import SloMonth, SloWindow

_MONTH: Final = sql_table(SloMonth).columns


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


_NAMES: Final = tuple(field.name for field in fields(Sums))
_STATUSES: Final = _NAMES[:1] + _NAMES[2:7]


@dataclass(frozen=True, slots=True)
class Span:
    """start ≤ deadline < end, and the zone in which the SLO's dates are meant; None when it was another one once, so
    that months of dates are none of the time."""

    start: datetime
    end: datetime
    time_zone: str | None


def sums_over(connection: Connection, namespace: str, spans: Mapping[str, Span]) -> dict[str, Sums]:
    """By the name of the SLO. A statement or two for each different span, however many SLOs have it."""
    found: dict[str, Sums] = {}
    by_span: dict[Span, list[str]] = defaultdict(list)
    for name, span in spans.items():
        by_span[span].append(name)
    for span, names in by_span.items():
        for slo, sums in _over(connection, namespace, names, span):
            known = found.get(slo)
            found[slo] = sums if known is None else known + sums
    return found


def _over(
    connection: Connection, namespace: str, names: Sequence[str], span: Span
) -> Iterator[tuple[str, Sums]]:
    if span.time_zone is None:
        yield from _of_windows(connection, namespace, names, span.start, span.end)
        return
    first, last = _next_month(span.start, span.time_zone), _month_begin(span.end, span.time_zone)
    if first >= last:
        yield from _of_windows(connection, namespace, names, span.start, span.end)
        return
    where = zone(span.time_zone)
    months = (first.astimezone(where).strftime("%Y-%m"), last.astimezone(where).strftime("%Y-%m"))
    query = (
        select(_MONTH["slo"], *(func.sum(_MONTH[name]) for name in _NAMES))
        .where(
            col(SloMonth.namespace) == namespace,
            among(col(SloMonth.slo), names),
            col(SloMonth.month) >= months[0],
            col(SloMonth.month) < months[1],
        )
        .group_by(_MONTH["slo"])
    )
    yield from _rows(connection.execute(query))
    for start, end in ((span.start, first), (last, span.end)):
        if start < end:
            yield from _of_windows(connection, namespace, names, start, end)


def _of_windows(
    connection: Connection, namespace: str, names: Sequence[str], start: datetime, end: datetime
) -> Iterator[tuple[str, Sums]]:
    status = col(SloWindow.status)
    counted = {name: func.sum(case((status == name, 1), else_=0)) for name in _STATUSES}
    counted |= {
        name: func.sum(sql_table(SloWindow).columns[name]) for name in ("predicted", "good", "bad", "unsure")
    }
    query = (
        select(col(SloWindow.slo), *(counted[name] for name in _NAMES))
        .where(
            col(SloWindow.namespace) == namespace,
            among(col(SloWindow.slo), names),
            col(SloWindow.deadline_at) >= start,
            col(SloWindow.deadline_at) < end,
        )
        .group_by(col(SloWindow.slo))
    )
    yield from _rows(connection.execute(query))


def _rows(rows: Iterable[Any]) -> Iterator[tuple[str, Sums]]:
    for slo, *sums in rows:
        # PostgreSQL sums bigints as numeric.
        yield slo, Sums(*(int(each) for each in sums))


def _month_begin(when: datetime, time_zone: str) -> datetime:
    where = zone(time_zone)
    local = when.astimezone(where).replace(tzinfo=None)
    return opening(local.replace(day=1, hour=0, minute=0, second=0, microsecond=0), where)


def _next_month(when: datetime, time_zone: str) -> datetime:
    """The first month that begins then or later."""
    begin = _month_begin(when, time_zone)
    return begin if begin == when else _month_begin(begin + timedelta(days=32), time_zone)
