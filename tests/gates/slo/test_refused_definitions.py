"""What the author of a definition is told when something is wrong with it."""

import json

import pytest

from tests.gates.slo.definitions import FIRST_LINE, make_slo, slo_text
from tests.gates.slo.telling import EXPECT, PLACE, as_json, changed, problems, the_problem


def test_missing_on_missing_is_refused_with_what_to_choose() -> None:
    line, pointer, message = the_problem(slo_text(onMissing=None))
    assert (line, pointer) == (FIRST_LINE - 1, f"{PLACE}/onMissing")
    assert "breach, unknown or exclude (there is no default)" in message


@pytest.mark.parametrize("labels", ["{}", "{tier: gold}", "{team: 12}", "[risk-data]"])
def test_a_promise_without_owner_is_refused(labels: str) -> None:
    line, pointer, message = the_problem(changed("{team: risk-data}", labels))
    assert (line, pointer) == (5, "/metadata/labels")
    assert "team" in message


def test_an_absent_label_is_told_as_an_absent_owner() -> None:
    assert "needs an owner" in the_problem(changed("\n  labels: {team: risk-data}", ""))[2]


@pytest.mark.parametrize(
    ("zone", "told"),
    [
        ("America/NewYork", "did you mean America/New_York?"),
        ("EDT", "is no time zone"),
        ("Local", "is no time zone"),
    ],
)
def test_an_unknown_zone_is_refused(zone: str, told: str) -> None:
    line, pointer, message = the_problem(
        slo_text(expect=f'{{schedule: business_days, timeZone: {zone}, by: "09:00"}}')
    )
    assert (line, pointer) == (FIRST_LINE + 1, f"{PLACE}/expect/timeZone")
    assert told in message


def test_an_unknown_calendar_is_refused() -> None:
    found = the_problem(slo_text(expect=f'{{schedule: business_days, {EXPECT}, calendars: ["US", "UX"]}}'))
    assert found[:2] == (FIRST_LINE + 1, f"{PLACE}/expect/calendars/1")
    assert "'UX' is no calendar" in found[2]


@pytest.mark.parametrize("objective", ["{target: 1.0}", "{target: 1}", "{targetPercent: 100}"])
def test_a_target_of_one_is_told_to_be_an_invariant(objective: str) -> None:
    ratio = {"objective": "ratio", "expect": None, "grace": None, "evidence": "{event: model.registered}"}
    line, pointer, message = the_problem(slo_text(**ratio, objectives=f"[{objective}]"))
    assert pointer.startswith("/spec/objectives/0/target")
    assert line > FIRST_LINE
    assert "kind: Invariant" in message


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('calendars: [NO]', 'is read as true or false by YAML 1.1; put it in quotes: "NO"'),
        ("calendars: [no]", "put it in quotes"),
        ('calendars: [false]', 'YAML 1.1 reads the country NO as that; put it in quotes: "NO"'),
    ],
)  # fmt: skip
def test_the_country_no_must_stand_in_quotes(written: str, told: str) -> None:
    found = the_problem(slo_text(expect=f"{{schedule: business_days, {EXPECT}, {written}}}"))
    assert found[:2] == (FIRST_LINE + 1, f"{PLACE}/expect/calendars/0")
    assert told in found[2]


def test_a_country_that_a_yaml_reader_made_false_is_told_as_such() -> None:
    document = as_json()
    source = document["spec"]["indicator"]["spec"]["ratioMetric"]["raw"]["metricSource"]["spec"]
    source["expect"]["calendars"] = [False]
    assert 'in quotes: "NO"' in the_problem(json.dumps(document).encode(), "json")[2]
    source["expect"] |= {"calendars": ["NO"], "by": 45000}
    assert 'in quotes, such as "12:30:00"' in the_problem(json.dumps(document).encode(), "json")[2]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("by: 12:30:00", 'is read as a number by YAML 1.1; put it in quotes: "12:30:00"'),
        ("by: 45000", "is the number 45000: YAML 1.1 reads 12:30:00 as a number"),
        ('by: "24:00"', 'write it like "09:00" or "12:30:00"'),
        ('by: "9:00"', 'write it like "09:00"'),
        ("by: true", "must be text, in quotes"),
    ],
)
def test_a_time_must_be_a_time(written: str, told: str) -> None:
    found = the_problem(
        slo_text(expect=f"{{schedule: business_days, timeZone: America/New_York, {written}}}")
    )
    assert found[:2] == (FIRST_LINE + 1, f"{PLACE}/expect/by")
    assert told in found[2]


def test_an_ambiguous_word_is_told_where_it_stands() -> None:
    """On one line there may be the same word twice, once in quotes."""
    expect = '{schedule: business_days, timeZone: Etc/UTC, by: "09:00", calendars: ["NO", NO]}'
    assert [pointer for _, pointer, _ in problems(slo_text(expect=expect))] == [f"{PLACE}/expect/calendars/1"]


@pytest.mark.parametrize("at", ["2026-12-24T00:00:00", "2026-12-24", "2026-12-24 00:00"])
def test_a_naive_time_is_refused(at: str) -> None:
    found = the_problem(slo_text(exclusions=f"[{{id: a, from: {at}, to: 2026-12-27T00:00:00Z, reason: r}}]"))
    assert found[1] == f"{PLACE}/exclusions/0/from"
    assert "has no zone" in found[2] or "write it like" in found[2]


def test_overlapping_exclusions_are_refused() -> None:
    text = (
        "\n                - {id: a, from: 2026-12-24T00:00:00Z, to: 2026-12-27T00:00:00Z, reason: r}"
        "\n                - {id: b, from: 2026-12-26T23:59:59Z, to: 2026-12-28T00:00:00Z, reason: r}"
    )
    line, pointer, message = the_problem(slo_text(exclusions=text))
    assert (line, pointer) == (FIRST_LINE + 9, f"{PLACE}/exclusions/1/from")
    assert "overlaps the exclusion 'a'" in message
    assert make_slo(exclusions=text.replace("26T23:59:59Z", "27T00:00:00Z")).exclusions[1].id == "b"


def test_a_backfill_must_say_from_when() -> None:
    assert "starts:" in the_problem(slo_text(backfilled="true"))[2]


# What else can be wrong.


@pytest.mark.parametrize(
    ("expect", "member", "told"),
    [
        ("{schedule: business_days, timeZone: Etc/UTC}", "", "needs one deadline"),
        ('{schedule: business_days, timeZone: Etc/UTC, by: "09:00", within: PT1H}', "", "needs one deadline"),
        ('{schedule: business_days, timeZone: Etc/UTC, opens: "09:00", by: "09:00"}', "/by", "the window opens"),
        ('{schedule: weekly, timeZone: Etc/UTC, by: "09:00"}', "/weekdays", "is missing: schedule weekly needs it"),
        ('{schedule: weekly, timeZone: Etc/UTC, by: "09:00", weekdays: [monday]}', "/weekdays/0", "must be 'mon'"),
        ('{schedule: business_days, timeZone: Etc/UTC, by: "09:00", cron: "0 6 * * *"}', "/cron", "schedule: cron"),
        ('{schedule: cron, timeZone: Etc/UTC, within: PT1H, cron: "0 6 * *"}', "/cron", "must have five fields"),
        ('{schedule: cron, timeZone: Etc/UTC, within: PT1H, cron: "61 6 * * *"}', "/cron", "is no cron expression"),
        ('{schedule: cron, timeZone: Etc/UTC, within: PT1H, cron: "0 0 30 2 *"}', "/cron", "cron"),
        ('{schedule: cron, timeZone: Etc/UTC, within: PT1H, cron: "* * * * *"}', "/cron", "five minutes apart"),
        ('{schedule: cron, timeZone: Etc/UTC, within: PT1H, cron: "0 6 * * *", opens: "06:00"}', "/opens",
         "opens at its tick"),
        ('{schedule: cron, timeZone: Etc/UTC, within: PT1H, cron: "0 6 * * *", overrides: {"2026-11-27": "13:00"}}',
         "/overrides/2026-11-27", "write skip or run"),
        ('{schedule: dates, timeZone: Etc/UTC, by: "09:00", dates: ["2026-11-27"]}', "/covers", "no window before"),
        ('{schedule: dates, timeZone: Etc/UTC, by: "09:00", covers: P1D, dates: ["2026-11-31"]}', "/dates/0",
         "is no date"),
        ('{schedule: daily, timeZone: Etc/UTC, by: "09:00"}', "/schedule", "monthly_business_day(3)"),
        ('{schedule: monthly_business_day(24), timeZone: Etc/UTC, by: "09:00"}', "/schedule", "is no schedule"),
        ('{schedule: business_days, by: "09:00"}', "/timeZone", "means nothing without it"),
        ('{schedule: business_days, timeZone: Etc/UTC, by: "09:00", overrides: {"27.11.2026": skip}}',
         "/overrides/27.11.2026", "is no date"),
        ('{schedule: business_days, timeZone: Etc/UTC, by: "09:00", overrides: {"2026-11-27": later}}',
         "/overrides/2026-11-27", "an override is skip, run"),
        ('{schedule: business_days, timezone: Etc/UTC, timeZone: Etc/UTC, by: "09:00"}', "/timezone",
         "did you mean timeZone?"),
    ],
)  # fmt: skip
def test_a_schedule_that_says_nothing_clear_is_refused(expect: str, member: str, told: str) -> None:
    line, pointer, message = the_problem(slo_text(expect=expect))
    assert (line, pointer) == (FIRST_LINE + 1, f"{PLACE}/expect{member}")
    assert told in message


@pytest.mark.parametrize(
    ("changes", "pointer", "told"),
    [
        ({"expect": None}, f"{PLACE}/expect", "needs a schedule"),
        ({"evidence": "{event: run.resumed}"}, f"{PLACE}/evidence/event", "write snapshot.approved or"),
        ({"evidence": "{event: snapshot.approved, dataset: d}"}, f"{PLACE}/evidence/contract", "needs to know which"),
        ({"evidence": "{event: run.completed, job: j, gate: g}"}, f"{PLACE}/evidence/gate", "told apart by gate"),
        ({"limits": "{maxAge: PT1H}"}, f"{PLACE}/limits/maxAge", "is no limit of a deadline objective"),
        ({"objective": "duration", "evidence": "{event: run.completed, job: j}"}, f"{PLACE}/limits",
         "needs maxDuration"),
        ({"grace": "30m"}, f"{PLACE}/grace", "is no duration"),
        ({"grace": "P1M"}, f"{PLACE}/grace", "is no duration"),
        ({"maxMisses": "-1"}, f"{PLACE}/maxMisses", "greater than or equal to 0"),
        ({"maxMisses": '"1"'}, f"{PLACE}/maxMisses", "whole number, without quotes"),
        ({"maxMiss": "1"}, f"{PLACE}/maxMiss", "did you mean maxMisses?"),
        ({"labels": "{team: risk-data}"}, f"{PLACE}/labels", "stands under metadata"),
        ({"exclusions": "[freeze]"}, f"{PLACE}/exclusions/0", "must say id, from, to and reason"),
        ({"objectives": "[{target: 0}]"}, "/spec/objectives/0/target", "greater than 0"),
        ({"objectives": "[{target: 95}]"}, "/spec/objectives/0/target", "less than 1"),
        ({"objectives": "[{target: .nan}]"}, "/spec/objectives/0/target", "number"),
        ({"objectives": "[{displayName: d}]"}, "/spec/objectives/0", "needs one of target"),
        ({"objectives": "[{target: 0.9}, {target: 0.8}]"}, "/spec/objectives", "1 is the most"),
        ({"objectives": "[{target: 0.9, timeSliceWindow: 5m}]"}, "/spec/objectives/0/timeSliceWindow",
         "nothing is sliced"),
        ({"budgetingMethod": "Timeslices"}, "/spec/budgetingMethod", "must be Occurrences"),
        ({"timeWindow": "[{duration: 1M, isRolling: true}]"}, "/spec/timeWindow/0/duration", "has no fixed length"),
        ({"timeWindow": "[{duration: 30m, isRolling: true}]"}, "/spec/timeWindow/0/duration", "write a number and d"),
        ({"timeWindow": "[{duration: 1M, isRolling: false}]"}, "/spec/timeWindow/0", "needs a calendar"),
        ({"timeWindow": '[{duration: 1M, calendar: {startTime: "2026-01-01T00:00:00Z", timeZone: Etc/UTC}}]'},
         "/spec/timeWindow/0/calendar/startTime", "without an offset"),
        ({"timeWindow": None}, "/spec/timeWindow", "write for example timeWindow"),
        ({"alertPolicies": "[page]"}, f"{PLACE}/alertPolicies", "is no member"),
    ],
)  # fmt: skip
def test_each_wrong_member_is_told_with_its_remedy(
    changes: dict[str, str | None], pointer: str, told: str
) -> None:
    found = the_problem(slo_text(**changes))
    assert found[1] == pointer
    assert told in found[2]


@pytest.mark.parametrize(
    ("old", "new", "pointer", "told"),
    [
        ("openslo/v1", "openslo/v2alpha", "/apiVersion", "must be 'openslo/v1'"),
        ("kind: SLO", "kind: SLI", "/kind", "Invariant (with apiVersion: shipworthy/v1)"),
        ("name: data", "name: Data By 9", "/metadata/name", "at most 63 lower-case letters"),
        ("rawType: success", "rawType: failure", "/spec/indicator/spec/ratioMetric/rawType", "must be 'success'"),
        ("type: training-windows", "type: Prometheus", PLACE.removesuffix("/spec") + "/type", "training-windows"),
        ("      ratioMetric:", "      ratioMetric: 1\n      thresholdMetric:", "/spec/indicator/spec/thresholdMetric",
         "write ratioMetric"),
        ("service: fraud", "service: fraud\n  alertPolicies: [page]", "/spec/alertPolicies", "deploy/prometheus"),
    ],
)  # fmt: skip
def test_other_documents_of_openslo_are_told_what_this_service_reads(
    old: str, new: str, pointer: str, told: str
) -> None:
    found = {place: message for _, place, message in problems(changed(old, new))}
    assert told in found[pointer]


def test_all_problems_of_a_definition_are_told_at_once_by_line() -> None:
    found = problems(slo_text(grace="soon", onMissing="maybe", settle="P1Y", maxMisses="one"))
    assert [line - FIRST_LINE for line, _, _ in found] == [2, 4, 5, 7]


@pytest.mark.parametrize("data", [b"", b"- a", b"a: b\n\xff", b"a: *b", b"{", b"kind: SLO\nkind: SLO"])
def test_what_is_no_document_is_refused(data: bytes) -> None:
    assert problems(data)
