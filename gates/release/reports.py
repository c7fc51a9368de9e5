"""Attested reports about a subject: which of them counts, and until when."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from gates.release.context import Context, require_level
from gates.release.facts import Evidence
from gates.release.numbers import Unusable, admit_count
from gates.release.results import Inputs
from gates.release.texts import counted, day, length, short
from gates.release.values import LEVELS, Level


@dataclass(frozen=True, slots=True)
class ReportRule:
    """What a report has to be. `max_age` counts from when it was made, or received when that is earlier: a report
    can't have been made after it was received."""

    kind: str
    level: Level
    max_age: timedelta | None = None
    minimum_checks: int | None = None
    minimum_rows: int | None = None


def good_report(rule: ReportRule, subject: str, context: Context) -> tuple[Evidence, datetime | None]:
    """The passed report about a subject, and when it ends to count. Unusable says what is wrong; code "failed" when
    the report itself says no."""
    report = _latest(rule, subject, context)
    inputs: Inputs = (("evidence", report.record),)
    try:
        return report, _good_until(report, rule, context)
    except Unusable as error:
        raise Unusable(error.code, str(error), error.state, inputs) from None


def _latest(rule: ReportRule, subject: str, context: Context) -> Evidence:
    """The newest that is strong enough, or that says no: a failure counts whoever tells it."""
    found = [
        each
        for each in context.facts.evidence
        if each.kind == rule.kind and each.subject == subject and not each.revoked
    ]
    counting = [
        each
        for each in found
        if each.outcome != "passed" or LEVELS.index(each.level) <= LEVELS.index(rule.level)
    ]
    if found and not counting:
        require_level(found[-1].level, rule.level, f"The {rule.kind} report")
    if not counting:
        raise Unusable("no_evidence", f"There is no {rule.kind} report for {short(subject)}.")
    return max(counting, key=lambda each: (each.received_at, each.outcome != "passed", each.record))


def _good_until(report: Evidence, rule: ReportRule, context: Context) -> datetime | None:
    name = f"The {rule.kind} report"
    if report.outcome == "failed":
        raise Unusable("failed", f"{name} of {day(report.produced_at)} says: failed.")
    if report.outcome == "error":
        raise Unusable("evidence_error", f"{name} of {day(report.produced_at)} ended with an error.")
    require_level(report.level, rule.level, name)
    if report.produced_at > context.now or report.received_at > context.now:
        raise Unusable("future", f"{name} has a time that is yet to come.")
    ends = [] if report.expires_at is None else [report.expires_at]
    if report.expires_at is not None and report.expires_at <= context.now:
        raise Unusable("expired", f"{name} expired at {day(report.expires_at)}.")
    if rule.max_age is not None:
        ends.append(min(report.produced_at, report.received_at) + rule.max_age)
        if ends[-1] <= context.now:
            raise Unusable(
                "stale", f"{name} of {day(report.produced_at)} is older than {length(rule.max_age)}."
            )
    for least, given, word in (
        (rule.minimum_checks, report.checks, "check"),
        (rule.minimum_rows, report.rows, "row"),
    ):
        if least is None:
            continue
        number = admit_count(given, f"The number of {word}s of the {rule.kind} report")
        if number < least:
            raise Unusable(
                "too_few", f"{name} covers {counted(number, word)}; the policy asks for {least:,}."
            )
    return min(ends, default=None)
