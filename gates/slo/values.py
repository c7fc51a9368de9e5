"""Types of the values in a definition, each with what to write instead of a wrong one."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Final, cast

from pydantic import BeforeValidator

from gates.slo.calendars import calendar_problem
from gates.slo.definition import Override, Scheduled
from gates.slo.periods import Unit
from gates.slo.ticks import cron_problem
from gates.slo.zones import zone_names

_CLOCK: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
_START: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)")
_LENGTH: Final = re.compile(r"([1-9]\d{0,3})([dwMQY])")
_MONTHLY: Final = re.compile(r"monthly_business_day\((-?[1-9]\d?)\)")
_LABEL: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_UNITS: Final[Mapping[str, Unit]] = {"d": "day", "w": "week", "M": "month", "Q": "quarter", "Y": "year"}
_UNIT_DAYS: Final = {"d": 1, "w": 7, "M": 30, "Q": 91, "Y": 365}
_LONGEST_DAYS: Final = 3653
_FIRST, _LAST = date(1970, 1, 1), date(2100, 12, 31)
"""What calendars and the tz database are good for."""
_MOST_BUSINESS_DAYS: Final = 23
"""A month has never more from Monday to Friday."""


@dataclass(frozen=True, slots=True)
class Named:
    """A schedule as `schedule:` names it; `business_day` for monthly_business_day(n) only."""

    scheduled: Scheduled
    business_day: int = 0


@dataclass(frozen=True, slots=True)
class Length:
    count: int
    unit: Unit


def _text(value: object, example: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be text, in quotes, such as {example}")
    return value


def _of_our_time(day: date) -> date:
    if not _FIRST <= day <= _LAST:
        raise ValueError
    return day


def _clock(value: object) -> time:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(
            f"is the number {value:g}: YAML 1.1 reads 12:30:00 as a number of seconds or minutes; put the time in "
            'quotes, such as "12:30:00"'
        )
    match = _CLOCK.fullmatch(_text(value, '"09:00"'))
    if match is None:
        raise ValueError(f'{value!r:.40} is no local time; write it like "09:00" or "12:30:00"')
    hour, minute, second = match.groups()
    return time(int(hour), int(minute), int(second or 0))


def _date(value: object) -> date:
    text = _text(value, '"2026-11-27"')
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            raise ValueError
        return _of_our_time(date.fromisoformat(text))
    except ValueError:
        raise ValueError(f'{text!r:.40} is no date from 1970 to 2100; write it like "2026-11-27"') from None


def _zone(value: object) -> str:
    name = _text(value, "America/New_York")
    if name in zone_names():
        return name
    near = difflib.get_close_matches(name, zone_names(), n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise ValueError(
        f"{name[:60]!r} is no time zone of the tz database{hint}; write a name such as America/New_York or Etc/UTC"
    )


def _calendar(value: object) -> str:
    if value is False:
        raise ValueError('is false: YAML 1.1 reads the country NO as that; put it in quotes: "NO"')
    code = _text(value, '"US"')
    problem = calendar_problem(code)
    if problem is not None:
        raise ValueError(problem)
    return code


def _cron(value: object) -> str:
    expression = _text(value, '"0 6 * * 1-5"')
    problem = cron_problem(expression)
    if problem is not None:
        raise ValueError(problem)
    return expression


def _schedule(value: object) -> Named:
    name = _text(value, "business_days")
    if name in ("business_days", "weekly", "cron", "dates"):
        return Named(cast(Scheduled, name))
    match = _MONTHLY.fullmatch(name)
    if match is None or abs(int(match[1])) > _MOST_BUSINESS_DAYS:
        raise ValueError(
            f"{name[:40]!r} is no schedule; write business_days, weekly, monthly_business_day(3), "
            "monthly_business_day(-1) for the last, cron, or dates"
        )
    return Named("monthly_business_day", int(match[1]))


def _override(value: object) -> Override:
    if value in ("skip", "run"):
        return Override("skip" if value == "skip" else "run")
    try:
        return Override("by", _clock(value))
    except ValueError as error:
        raise ValueError(f'{error}; an override is skip, run, or a local deadline such as "13:00"') from None


def _length(value: object) -> Length:
    text = _text(value, "1M")
    match = _LENGTH.fullmatch(text)
    if match is None or int(match[1]) * _UNIT_DAYS[match[2]] > _LONGEST_DAYS:
        raise ValueError(
            f"{text[:20]!r} is no length of a period of at most ten years; write a number and d, w, M, Q or Y: "
            "30d, 4w, 1M, 1Q, 1Y"
        )
    return Length(int(match[1]), _UNITS[match[2]])


def _start(value: object) -> datetime:
    text = _text(value, "2026-01-01 00:00:00")
    match = _START.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        start = datetime.fromisoformat(f"{match[1]}T{match[2]}")
        _of_our_time(start.date())
        return start
    except ValueError:
        raise ValueError(
            f"{text[:40]!r} must be a local time like 2026-01-01 00:00:00, without an offset; timeZone says where"
        ) from None


def _labels(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("must be a mapping such as {team: risk-data}")
    labels = {}
    for name, given in value.items():
        texts = given if isinstance(given, list) else [given]
        if not all(isinstance(text, str) and _LABEL.fullmatch(text) for text in texts) or not texts:
            raise ValueError(
                f"{str(name)[:63]!r} must have a value of letters, digits and . _ - in between, at most 63, "
                "or a list of such"
            )
        labels[str(name)] = ", ".join(texts)
    if not isinstance(value.get("team"), str):
        raise ValueError("has no team, so that nobody owns the promise; write labels: {team: risk-data}")
    return labels


ClockTime = Annotated[time, BeforeValidator(_clock)]
LocalDate = Annotated[date, BeforeValidator(_date)]
ZoneName = Annotated[str, BeforeValidator(_zone)]
CalendarCode = Annotated[str, BeforeValidator(_calendar)]
CronExpression = Annotated[str, BeforeValidator(_cron)]
ScheduleName = Annotated[Named, BeforeValidator(_schedule)]
OverrideAction = Annotated[Override, BeforeValidator(_override)]
PeriodLength = Annotated[Length, BeforeValidator(_length)]
LocalStart = Annotated[datetime, BeforeValidator(_start)]
"""Naive, local to the time zone beside it."""
Labels = Annotated[dict[str, str], BeforeValidator(_labels)]
