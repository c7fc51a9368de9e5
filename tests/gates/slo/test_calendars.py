"""Business days against lists that those who set them publish."""

from datetime import date, timedelta

import pytest

from gates.slo.calendars import business_day_of_month, calendar_problem, is_business_day, is_holiday

# Weekdays on which one does not work.
PUBLISHED = {
    # U.S. Office of Personnel Management, "Federal Holidays", 2026 and 2027. Three of 2027 are kept on another day, the
    # last of them for the year that follows.
    ("US", 2026): "01-01 01-19 02-16 05-25 06-19 07-03 09-07 10-12 11-11 11-26 12-25",
    ("US", 2027): "01-01 01-18 02-15 05-31 06-18 07-05 09-06 10-11 11-11 11-25 12-24 12-31",
    # NYSE Group, "Holiday and Early Closings Calendar", 2026: Good Friday, but neither Columbus nor Veterans Day.
    ("XNYS", 2026): "01-01 01-19 02-16 04-03 05-25 06-19 07-03 09-07 11-26 12-25",
    # European Central Bank, "TARGET Services calendar": six days a year, 26 December 2026 is a Saturday.
    ("XECB", 2026): "01-01 04-03 04-06 05-01 12-25",
    # gov.uk, "UK bank holidays", England and Wales, 2026: a substitute for 26 December, a Saturday.
    ("GB-ENG", 2026): "01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-28",
    # Norway, lov om 1. og 17. mai and lov om helligdager; Easter Sunday is 5 April 2026.
    ("NO", 2026): "01-01 04-02 04-03 04-06 05-01 05-14 05-25 12-25",
}


@pytest.mark.parametrize(("code", "year"), PUBLISHED)
def test_days_off_are_those_that_are_published(code: str, year: int) -> None:
    days = [date(year, 1, 1) + timedelta(days=each) for each in range(365)]
    off = [day for day in days if day.weekday() < 5 and not is_business_day(day, (code,))]
    assert " ".join(f"{day:%m-%d}" for day in off) == PUBLISHED[code, year]


@pytest.mark.parametrize(
    ("code", "day", "works"),
    [
        # State Council of China, notice on holidays of 2025: the Saturday after the October holiday is worked.
        ("CN", date(2025, 10, 11), True),
        ("CN", date(2025, 10, 18), False),
        # Saudi Arabia rests on Friday and Saturday.
        ("SA", date(2026, 11, 29), True),
        ("SA", date(2026, 11, 27), False),
    ],
)
def test_weekends_are_those_of_the_calendar(code: str, day: date, works: bool) -> None:
    assert is_business_day(day, (code,)) is works


def test_all_calendars_must_work_and_any_may_have_a_holiday() -> None:
    columbus, good_friday, saturday = date(2026, 10, 12), date(2026, 4, 3), date(2026, 10, 10)
    assert [is_business_day(day, ("US", "XNYS")) for day in (columbus, good_friday)] == [False, False]
    assert is_business_day(columbus, ("XNYS",))
    assert [is_holiday(day, ("US", "XNYS")) for day in (columbus, good_friday, saturday)] == [
        True,
        True,
        False,
    ]
    # Without a calendar nobody has holidays, and weekends are free all the same.
    assert [is_business_day(day, ()) for day in (date(2026, 12, 25), saturday)] == [True, False]


def test_business_days_are_counted_from_both_ends_of_the_month() -> None:
    # 1 January 2026 is a Thursday and a holiday; the month has 20 business days in the US.
    assert business_day_of_month(date(2026, 1, 2), ("US",)) == (1, -20)
    assert business_day_of_month(date(2026, 1, 30), ("US",)) == (20, -1)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("USA", "did you mean US"),
        ("us", "did you mean US"),
        ("US-BY", "US has no part 'BY'; write one of AK"),
        ("VA-X", "VA has no part 'X'; write VA"),
        ("NYSE2", "did you mean NYSE?"),
        ("", "write a country such as US"),
    ],
)
def test_an_unknown_calendar_is_told_with_what_to_write(code: str, told: str) -> None:
    assert told in (calendar_problem(code) or "")


@pytest.mark.parametrize("code", ["US", "US-NY", "DE-BY", "NO", "XNYS", "XECB"])
def test_countries_parts_and_exchanges_are_known(code: str) -> None:
    assert calendar_problem(code) is None
