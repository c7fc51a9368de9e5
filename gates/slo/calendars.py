"""Business days: weekends and holidays of countries, their parts, and exchanges, from the package `holidays`.

The package is imported with the first calendar that is asked for: it takes 45 MB and half a second.
"""

import difflib
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from holidays import HolidayBase

HOLIDAYS_VERSION: Final = version("holidays")
"""Stored with each window: lists of holidays are corrected, and made longer, by later versions."""

_ONE_DAY: Final = timedelta(days=1)
_SATURDAY: Final = 5


def calendar_problem(code: str) -> str | None:
    """What is wrong with the code of a calendar, or None. Known are countries (US), their parts (US-NY, DE-BY) and
    exchanges by their market identifier code (XNYS, XETR; XECB are the days of TARGET)."""
    country, dash, part = code.partition("-")
    if not dash and (country in _countries() or country in _exchanges()):
        return None
    if country in _countries():
        parts = _countries()[country]
        if part in parts:
            return None
        known = ", ".join(parts[:12]) + (", …" if len(parts) > 12 else "")
        return f"{country} has no part {part[:20]!r}; " + (
            f"write one of {known}" if parts else f"write {country}"
        )
    near = difflib.get_close_matches(code.upper(), [*_countries(), *_exchanges()], n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return (
        f"{code[:40]!r} is no calendar{hint}; write a country such as US, a part of one such as US-NY, "
        "or an exchange such as XNYS"
    )


def is_business_day(day: date, calendars: Sequence[str]) -> bool:
    """Whether all calendars work on it; without any, Monday to Friday. Working weekends are business days."""
    if not calendars:
        return day.weekday() < _SATURDAY
    return all(day in _working_days(code, day.year) for code in calendars)


def is_holiday(day: date, calendars: Sequence[str]) -> bool:
    """Whether one of the calendars has a holiday then; weekends are none."""
    return any(day in _holidays(code, day.year) for code in calendars)


def business_day_of_month(day: date, calendars: Sequence[str]) -> tuple[int, int]:
    """Which business day of its month a business day is, counted from 1 from the start and from -1 from the end."""
    first = day.replace(day=1)
    after = (first + timedelta(days=32)).replace(day=1)
    all_days = [first + _ONE_DAY * offset for offset in range((after - first).days)]
    found = [each for each in all_days if is_business_day(each, calendars)]
    at = found.index(day)
    return at + 1, at - len(found)


@lru_cache(maxsize=4096)
def _working_days(code: str, year: int) -> frozenset[date]:
    calendar = _calendar(code, year)
    start = date(year, 1, 1)
    days = (start + _ONE_DAY * offset for offset in range((date(year, 12, 31) - start).days + 1))
    return frozenset(day for day in days if calendar.is_working_day(day))


@lru_cache(maxsize=4096)
def _holidays(code: str, year: int) -> frozenset[date]:
    return frozenset(day for day in _calendar(code, year) if day.year == year)


def _calendar(code: str, year: int) -> "HolidayBase":
    import holidays

    # The neighbours too: New Year's Day that falls on a Saturday may be kept in the year before.
    years = (year - 1, year, year + 1)
    country, _, part = code.partition("-")
    if country in _countries():
        return holidays.country_holidays(country, subdiv=part or None, years=years, expand=False)
    return holidays.financial_holidays(code, years=years, expand=False)


@lru_cache(maxsize=1)
def _countries() -> dict[str, list[str]]:
    import holidays

    # By their two letters: the codes of three letters would be a second name for the same.
    return {code: parts for code, parts in holidays.list_supported_countries().items() if len(code) == 2}


@lru_cache(maxsize=1)
def _exchanges() -> frozenset[str]:
    import holidays

    return frozenset(code for code in holidays.list_supported_financial() if len(code) == 4)
