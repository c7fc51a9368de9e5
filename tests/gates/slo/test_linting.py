"""What an author is told about a definition that could be published."""

from gates.documents.problems import Problem
from gates.slo.linting import lint
from tests.gates.slo.definitions import FIRST_LINE, make_slo, utc

NOW = utc("2026-11-30T02:00")


def told(severity: str, **changes: str | None) -> list[Problem]:
    return [each for each in lint(make_slo(**changes), NOW) if each.severity == severity]


def test_the_next_deadlines_are_shown_with_the_versions_they_rest_on() -> None:
    (note,) = told("info", maxMisses="1")
    assert "2026-11-30T09:00:00-05:00, 2026-12-01T09:00:00-05:00, 2026-12-02" in note.message
    assert "(holidays " in note.message
    assert note.line == FIRST_LINE + 1


def test_the_next_deadline_is_that_of_the_window_that_is_open_where_it_is_promised() -> None:
    """As the service expects them: models.slo.definitions.Published.since."""
    daily = (
        '{schedule: weekly, weekdays: [mon, tue, wed, thu, fri, sat, sun], timeZone: Etc/UTC, by: "23:59:59"}'
    )
    changes = {"expect": daily, "starts": '"2026-11-30"', "maxMisses": "1"}
    now = utc("2026-11-30T17:26")
    for backfilled, first in (("true", "2026-11-30T23:59:59"), (None, "2026-12-01T23:59:59")):
        definition = make_slo(**changes, backfilled=backfilled)
        (note,) = [each for each in lint(definition, now) if each.severity == "info"]
        assert f"the next deadlines are {first}+00:00, " in note.message


def test_windows_in_the_past_must_be_backfilled() -> None:
    (problem,) = told("error", starts='"2026-11-25"')
    assert problem.pointer.endswith("/starts")
    assert "write 2026-11-30 or later, or backfilled: true" in problem.message
    assert told("error", starts='"2026-11-25"', backfilled="true") == []
    # Nothing was due between then and now: a weekend.
    assert told("error", starts='"2026-11-28"') == []
    assert told("error", starts='"2026-12-01"') == []


def test_events_of_the_past_must_be_backfilled_too() -> None:
    ratio = {"objective": "ratio", "expect": None, "grace": None, "evidence": "{event: model.registered}"}
    assert len(told("error", **ratio, starts='"2026-11-01"')) == 1
    assert told("error", **ratio, starts='"2026-11-29"') == []


def test_a_backfill_has_a_limit() -> None:
    hourly = '{schedule: cron, cron: "0 * * * *", timeZone: Etc/UTC, within: PT30M}'
    (problem,) = told("error", starts='"2024-01-01"', backfilled="true", expect=hourly)
    assert "more than 10,000 past windows" in problem.message
    assert told("error", starts='"2026-01-01"', backfilled="true", expect=hourly) == []


def test_a_schedule_that_is_over_can_promise_nothing() -> None:
    over = '{schedule: dates, dates: ["2026-11-01"], covers: P1D, timeZone: Etc/UTC, by: "09:00"}'
    assert ["no window opens" in each.message for each in told("error", expect=over)] == [True]


def test_few_windows_are_better_counted() -> None:
    # November 2026 has 19 business days in the US.
    (warning,) = told("warning")
    assert (
        "19 windows a calendar month at 95 % allow 0.95 misses: one miss uses more than all"
        in warning.message
    )
    assert told("warning", maxMisses="1") == []
    hourly = '{schedule: cron, cron: "0 * * * *", timeZone: Etc/UTC, within: PT30M}'
    assert told("warning", expect=hourly) == []
    (some,) = told("warning", objectives="[{target: 0.9}]")
    assert "allow 1.9 misses: one miss uses 52.63 % of them" in some.message


def test_an_override_that_changes_nothing_is_told() -> None:
    expect = (
        '{schedule: business_days, timeZone: Etc/UTC, by: "09:00", calendars: ["US"], overrides: '
        '{"2026-11-26": skip, "2026-12-24": run, "2026-11-28": run, "2026-12-23": "13:00"}}'
    )
    found = {each.pointer[-10:]: each.message for each in told("warning", expect=expect, maxMisses="1")}
    assert list(found) == ["2026-11-26", "2026-12-24"]
    assert "no business day anyway" in found["2026-11-26"]


def test_weak_evidence_is_told() -> None:
    (level,) = told(
        "warning",
        maxMisses="1",
        evidence="{event: snapshot.approved, dataset: d, contract: c, level: self_reported}",
    )
    assert "whoever trains the model" in level.message
    (source,) = told("warning", maxMisses="1", source=None)
    assert "a run that never starts is unknown, not missed" in source.message
    assert told("warning", maxMisses="1", source=None, onMissing="breach") == []


def test_an_exclusion_of_the_past_excludes_nothing() -> None:
    (warning,) = told(
        "warning",
        maxMisses="1",
        exclusions="[{id: a, from: 2026-11-01T00:00:00Z, to: 2026-11-02T00:00:00Z, reason: r}]",
    )
    assert "an approver can exclude what is past" in warning.message


def test_what_would_flatter_or_never_end_is_told() -> None:
    (silent,) = told("warning", maxMisses="1", onMissing="exclude")
    assert "stops the heartbeats of ingest" in silent.message
    (patient,) = told("warning", maxMisses="1", grace="P1D")
    assert patient.pointer.endswith("/grace")
    every_five = '{schedule: cron, cron: "*/5 * * * *", timeZone: Etc/UTC, within: PT5M}'
    ten_years = "[{duration: 10Y, calendar: {startTime: 2026-01-01 00:00:00, timeZone: Etc/UTC}}]"
    (endless,) = told("error", expect=every_five, timeWindow=ten_years)
    assert "more than 30,000 windows a 10 calendar years" in endless.message
    assert told("error", expect=every_five) == []
