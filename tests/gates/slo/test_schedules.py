"""Expected windows: which there are, when they open, by when they must be met, and which data is theirs."""

from datetime import timedelta
from itertools import pairwise

import pytest

from gates.slo.schedules import windows
from tests.gates.slo.definitions import days_of, make_schedule, make_slo, utc

NEW_YORK = "timeZone: America/New_York"


def test_business_days_leave_out_weekends_holidays_and_what_is_overridden() -> None:
    definition = make_schedule(
        f'{{schedule: business_days, {NEW_YORK}, by: "09:00", calendars: ["US"], '
        'overrides: {"2026-11-27": skip, "2026-11-28": run, "2026-11-30": "07:30"}}'
    )
    found = {window.id: window for window in windows(definition, utc("2026-11-25"), utc("2026-12-01"))}
    # Thursday is Thanksgiving.
    assert list(found) == ["data/2026-11-25", "data/2026-11-28", "data/2026-11-30"]
    assert found["data/2026-11-25"].deadline_local == "2026-11-25T09:00:00-05:00"
    monday = found["data/2026-11-30"]
    assert monday.deadline_utc == utc("2026-11-30T12:30")
    # All data since the window before opened, whatever lies between.
    assert (monday.data_interval.start, monday.data_interval.end) == (
        utc("2026-11-28T05:00"),
        utc("2026-11-30T05:00"),
    )
    assert monday.data_interval.end == monday.opens_at
    assert monday.tzdata_version
    assert monday.holidays_version


@pytest.mark.parametrize(
    ("expect", "start", "end", "expected"),
    [
        ('{schedule: weekly, weekdays: [mon, fri], timeZone: Etc/UTC, by: "09:00"}', "2026-11-01", "2026-11-10",
         ["2026-11-02", "2026-11-06", "2026-11-09"]),
        # A week's window on a holiday is left out.
        ('{schedule: weekly, weekdays: [thu], timeZone: Etc/UTC, by: "09:00", calendars: ["US"]}', "2026-11-19",
         "2026-12-04", ["2026-11-19", "2026-12-03"]),
        # Saturdays are no holidays of a country.
        ('{schedule: weekly, weekdays: [sat], timeZone: Etc/UTC, by: "09:00", calendars: ["US"]}', "2026-11-01",
         "2026-11-09", ["2026-11-07"]),
        ('{schedule: monthly_business_day(3), timeZone: Etc/UTC, by: "09:00", calendars: ["US"]}', "2026-01-01",
         "2026-04-01", ["2026-01-06", "2026-02-04", "2026-03-04"]),
        ('{schedule: monthly_business_day(-1), timeZone: Etc/UTC, by: "09:00", calendars: ["US"]}', "2026-05-01",
         "2026-07-01", ["2026-05-29", "2026-06-30"]),
        ('{schedule: dates, dates: ["2026-12-24", "2026-11-05"], timeZone: Etc/UTC, by: "09:00", covers: P1D}',
         "2026-11-01", "2027-01-01", ["2026-11-05", "2026-12-24"]),
        ('{schedule: cron, cron: "0 6 * * 1-5", timeZone: Etc/UTC, within: PT4H, calendars: ["US"], '
         'overrides: {"2026-11-24": skip}}', "2026-11-23", "2026-11-28",
         ["2026-11-23T06:00+00:00", "2026-11-25T06:00+00:00", "2026-11-27T06:00+00:00"]),
    ],
)  # fmt: skip
def test_each_schedule_gives_its_windows(expect: str, start: str, end: str, expected: list[str]) -> None:
    assert days_of(make_schedule(expect), start, end) == expected


@pytest.mark.parametrize(
    ("expect", "start", "end", "expected"),
    [
        # The deadline of a local time moves with the clock; the length of a window in hours does not stay.
        (f'{{schedule: business_days, {NEW_YORK}, by: "09:00"}}', "2026-03-06", "2026-03-10",
         {"2026-03-06": ("03-06T05:00", "03-06T14:00"), "2026-03-09": ("03-09T04:00", "03-09T13:00")}),
        (f'{{schedule: weekly, weekdays: [sun], {NEW_YORK}, by: "09:00"}}', "2026-03-08", "2026-03-09",
         {"2026-03-08": ("03-08T05:00", "03-08T13:00")}),
        # `within` is elapsed time, also where an hour is left out or comes twice.
        (f"{{schedule: weekly, weekdays: [sun], {NEW_YORK}, within: PT6H}}", "2026-11-01", "2026-11-02",
         {"2026-11-01": ("11-01T04:00", "11-01T10:00")}),
        # From the evening into the next morning.
        ('{schedule: weekly, weekdays: [sat], timeZone: Europe/Berlin, opens: "22:00", by: "06:00"}', "2026-10-24",
         "2026-10-25", {"2026-10-24": ("10-24T20:00", "10-25T05:00")}),
        # Southern hemisphere: the clock goes forward in October.
        ('{schedule: weekly, weekdays: [sun], timeZone: Australia/Sydney, by: "09:00"}', "2026-10-03", "2026-10-04",
         {"2026-10-04": ("10-03T14:00", "10-03T22:00")}),
        # Opening and deadline in the hour that is left out: never a window that ends before it opens.
        (f'{{schedule: weekly, weekdays: [sun], {NEW_YORK}, opens: "02:10", by: "02:20"}}', "2026-03-08",
         "2026-03-09", {"2026-03-08": ("03-08T07:00", "03-08T07:20")}),
        (f'{{schedule: weekly, weekdays: [sun], {NEW_YORK}, by: "02:30", dst: {{gap: skip}}}}', "2026-03-08",
         "2026-03-09", {}),
        (f'{{schedule: weekly, weekdays: [sun], {NEW_YORK}, by: "01:30", dst: {{fold: last}}}}', "2026-11-01",
         "2026-11-02", {"2026-11-01": ("11-01T04:00", "11-01T06:30")}),
        # Chile's clocks change at midnight: the day begins at one.
        ('{schedule: weekly, weekdays: [sun], timeZone: America/Santiago, by: "09:00"}', "2026-09-06", "2026-09-07",
         {"2026-09-06": ("09-06T04:00", "09-06T12:00")}),
    ],
)  # fmt: skip
def test_windows_open_and_close_by_the_local_clock(
    expect: str, start: str, end: str, expected: dict[str, tuple[str, str]]
) -> None:
    found = windows(make_schedule(expect), utc(start), utc(end))
    assert {
        window.id.partition("/")[2]: (f"{window.opens_at:%m-%dT%H:%M}", f"{window.deadline_utc:%m-%dT%H:%M}")
        for window in found
    } == expected


def cron(expression: str, zone: str = "America/New_York", dst: str = "{}") -> str:
    return f'{{schedule: cron, cron: "{expression}", timeZone: {zone}, within: PT30M, dst: {dst}}}'


@pytest.mark.parametrize(
    ("expect", "start", "end", "expected"),
    [
        # 02:30 is left out, read as 03:30; on the day with two 01:30 it comes once.
        (cron("30 2 * * *"), "2026-03-08T05:00", "2026-03-09T04:00", ["2026-03-08T03:30-04:00"]),
        (cron("30 2 * * *", dst="{gap: skip}"), "2026-03-08T05:00", "2026-03-09T04:00", []),
        (cron("30 2,3 * * *"), "2026-03-08T05:00", "2026-03-09T04:00", ["2026-03-08T03:30-04:00"]),
        (cron("30 1 * * *"), "2026-11-01T04:00", "2026-11-02T05:00", ["2026-11-01T01:30-04:00"]),
        (cron("30 1 * * *", dst="{fold: last}"), "2026-11-01T04:00", "2026-11-02T05:00",
         ["2026-11-01T01:30-05:00"]),
        # Samoa had no 30 December 2011: its tick falls on the same hour of the next day, once.
        (cron("0 9 * * *", zone="Pacific/Apia"), "2011-12-29T12:00", "2012-01-01T10:00",
         ["2011-12-29T09:00-10:00", "2011-12-31T09:00+14:00", "2012-01-01T09:00+14:00"]),
    ],
)  # fmt: skip
def test_cron_keeps_to_the_local_clock(expect: str, start: str, end: str, expected: list[str]) -> None:
    assert days_of(make_schedule(expect), start, end) == expected


def test_cron_of_every_hour_counts_elapsed_hours() -> None:
    hourly = make_schedule(cron("0 * * * *"))
    assert len(days_of(hourly, "2026-03-08T05:00", "2026-03-09T04:00")) == 23
    autumn = days_of(hourly, "2026-11-01T04:00", "2026-11-02T05:00")
    assert len(autumn) == len(set(autumn)) == 25
    assert autumn[1:3] == ["2026-11-01T01:00-04:00", "2026-11-01T01:00-05:00"]


def test_data_of_a_cron_window_goes_back_to_the_tick_before() -> None:
    weekdays = make_schedule(cron("0 6 * * 1-5", zone="Etc/UTC"))
    monday = next(windows(weekdays, utc("2026-11-30"), utc("2026-12-01")))
    assert monday.data_interval.start == utc("2026-11-27T06:00")
    assert monday.deadline_utc - monday.opens_at == timedelta(minutes=30)


def test_data_of_whole_days_is_counted_in_local_days() -> None:
    """On a day of 23 hours they are cut at midnight too, where the extract is cut."""
    text = f'{{schedule: weekly, weekdays: [mon], {NEW_YORK}, by: "09:00", covers: P1D}}'
    monday = next(windows(make_schedule(text), utc("2026-03-09"), utc("2026-03-10")))
    assert monday.data_interval.end - monday.data_interval.start == timedelta(hours=23)
    hours = make_schedule(text.replace("P1D", "PT12H"))
    monday = next(windows(hours, utc("2026-03-09"), utc("2026-03-10")))
    assert monday.data_interval.end - monday.data_interval.start == timedelta(hours=12)


def test_adjoining_spans_give_each_window_once() -> None:
    for expect in (
        '{schedule: business_days, timeZone: America/New_York, by: "09:00", calendars: ["US"]}',
        cron("30 1,2 * * *"),
        cron("*/30 * * * *"),
    ):
        definition = make_schedule(expect)
        edges = [utc("2026-03-06") + timedelta(hours=7 * each) for each in range(20)]
        pieces = [window for start, end in pairwise(edges) for window in windows(definition, start, end)]
        assert pieces == list(windows(definition, edges[0], edges[-1]))
        assert len({window.id for window in pieces}) == len(pieces) > 3


def test_no_window_opens_before_the_first_date() -> None:
    definition = make_slo(starts='"2026-11-05"')
    assert days_of(definition, "2026-11-01", "2026-11-07") == ["2026-11-05", "2026-11-06"]
    first = next(windows(definition, utc("2026-11-01"), utc("2026-11-07")))
    assert first.data_interval.start == utc("2026-11-04T05:00")


def test_another_zone_moves_windows_but_keeps_their_names() -> None:
    """A new version with another zone: what was settled is found again under the same name."""
    text = '{schedule: weekly, weekdays: [mon], timeZone: Europe/Berlin, by: "09:00"}'
    before = next(windows(make_schedule(text), utc("2026-11-29"), utc("2026-12-01")))
    after = next(
        windows(
            make_schedule(text.replace("Europe/Berlin", "Asia/Tokyo")), utc("2026-11-29"), utc("2026-12-01")
        )
    )
    assert before.id == after.id == "data/2026-11-30"
    assert before.deadline_utc - after.deadline_utc == timedelta(hours=8)
