"""Bounds of instants and days. A zone has to be on both sides or on neither; a bare day is the whole day."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.table import Column

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def lower_bound(value: object, strict: bool, column: Column) -> tuple[datetime, bool]:
    """The instant that values start at, and whether it is excluded. "After a day" starts with the next day."""
    instant, whole_day = _instant(value, column)
    return (instant + timedelta(days=1), False) if whole_day and strict else (instant, strict)


def upper_bound(value: object, strict: bool, column: Column) -> tuple[datetime, bool]:
    """The instant that values end at, and whether it is excluded. "Up to a day" includes all of that day."""
    instant, whole_day = _instant(value, column)
    return (instant + timedelta(days=1), True) if whole_day and not strict else (instant, strict)


def microseconds(instant: datetime) -> int:
    """Since 1970 in UTC; a time without zone is counted as if it were UTC."""
    aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def _instant(value: object, column: Column) -> tuple[datetime, bool]:
    """The time a bound names, and whether it names a whole day. Naive for naive columns and days, else aware."""
    if not isinstance(value, str):
        raise CheckRefused(
            f"Column {column.name!r} holds times; write its bounds as texts such as 2019-01-31T00:00:00."
        )
    text = value.strip()
    whole_day = _DAY.fullmatch(text) is not None
    try:
        instant = datetime.combine(date.fromisoformat(text), datetime.min.time()) if whole_day else None
        instant = instant or datetime.fromisoformat(text)
    except ValueError:
        raise CheckRefused(
            f"A bound of column {column.name!r} is no ISO 8601 day or time. Write it such as 2019-01-31T00:00:00."
        ) from None
    if column.kind == "aware" and instant.tzinfo is None:
        raise CheckRefused(
            f"Column {column.name!r} holds times with a zone, and its bound names none. "
            "Write it such as 2019-01-31T00:00:00Z."
        )
    if column.kind != "aware" and instant.tzinfo is not None:
        raise CheckRefused(
            f"Column {column.name!r} holds times without a zone, and its bound names one. "
            "Leave out the zone, or record the times with theirs."
        )
    return instant, whole_day
