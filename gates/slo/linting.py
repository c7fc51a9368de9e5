"""What the author of a definition should know before it is published, and what stops it at this moment."""

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from fractions import Fraction
from itertools import islice
from typing import Final, TypeAlias

from gates.documents.problems import Problem, ProblemSeverity
from gates.documents.source import line_of
from gates.slo.calendars import HOLIDAYS_VERSION, is_business_day
from gates.slo.definition import Definition, Schedule
from gates.slo.document import INVARIANT_SOURCE, SLO_SOURCE
from gates.slo.periods import period_at
from gates.slo.schedules import due_windows, windows
from gates.slo.sentences import percent
from gates.slo.zones import TZDATA_VERSION, opening, zone

_SHOWN: Final = 3
MOST_BACKFILLED: Final = 10_000
"""Windows that one definition may have judged that were over when it was published."""
MOST_AHEAD: Final = 30_000
"""Windows of a calendar period, all of which are written down ahead of time: five minutes apart for a quarter."""
_FEW: Final = 60
"""Windows of a period below which one miss is a large share of what is allowed."""
_HORIZON: Final = timedelta(days=400)

_Note: TypeAlias = tuple[str, ProblemSeverity, str]


def lint(definition: Definition, now: datetime) -> list[Problem]:
    """Sorted by line. One of severity error stops publication at `now`: windows in the past without backfilled:
    true."""
    place = SLO_SOURCE if definition.kind == "SLO" else INVARIANT_SOURCE
    found = [
        Problem(line_of(definition.lines, place + member), place + member, severity, message)
        for member, severity, message in (
            *_of_past(definition, now),
            *_of_schedule(definition, now),
            *_of_evidence(definition),
            *_of_silence(definition),
            *_of_exclusions(definition, now),
        )
    ]
    return sorted(found)


def _of_past(definition: Definition, now: datetime) -> Iterator[_Note]:
    """Windows that are over can't be promised any more."""
    starts = definition.starts
    if starts is None:
        return
    where = zone(definition.time_zone)
    begin = opening(datetime.combine(starts, time(0)), where)
    if definition.backfilled:
        if (
            definition.expect is not None
            and _count(definition, begin, now, MOST_BACKFILLED) == MOST_BACKFILLED
        ):
            yield (
                "/starts",
                "error",
                f"asks for more than {MOST_BACKFILLED:,} past windows; write a later date",
            )
        return
    if definition.expect is None:
        is_past = begin < now - timedelta(days=1)
    else:
        is_past = any(window.deadline_utc <= now for window in islice(windows(definition, begin, now), 1))
    if is_past:
        tomorrow = now.astimezone(where).date() + timedelta(days=1)
        yield (
            "/starts",
            "error",
            f"lies in the past, so that windows would be promised after they were over; write {tomorrow.isoformat()} "
            "or later, or backfilled: true, with which the report marks them",
        )


def _of_schedule(definition: Definition, now: datetime) -> Iterator[_Note]:
    schedule = definition.expect
    if schedule is None:
        return
    # What opened before its publication is expected only where the definition says that it reaches back.
    since = (
        opening(datetime.combine(definition.starts, time(0)), zone(definition.time_zone))
        if (definition.starts is not None and definition.backfilled)
        else now
    )
    coming = list(islice(due_windows(definition, since, now, now + _HORIZON), _SHOWN))
    if not coming:
        yield (
            "/expect",
            "error",
            "no window opens within 400 days from now; correct the schedule or the overrides",
        )
        return
    named = ", ".join(window.deadline_local for window in coming)
    yield (
        "/expect",
        "info",
        f"the next deadlines are {named} (holidays {HOLIDAYS_VERSION}, tzdata {TZDATA_VERSION})",
    )
    yield from _of_overrides(schedule)
    if schedule.scheduled == "cron" and not definition.period.is_rolling:
        bounds = period_at(definition.period, now)
        if _count(definition, bounds.start, bounds.end, MOST_AHEAD + 1) > MOST_AHEAD:
            yield (
                "/expect/cron",
                "error",
                f"expects more than {MOST_AHEAD:,} windows a {definition.period.name}; write a rarer schedule or a "
                "shorter timeWindow",
            )
    first = coming[0]
    if definition.grace > first.deadline_utc - first.opens_at:
        yield (
            "/grace",
            "warning",
            "is longer than the window itself, so that what comes in the next one still counts for this; write a "
            "shorter one, or a later deadline",
        )
    yield from _of_budget(definition, coming[0].opens_at)


def _of_overrides(schedule: Schedule) -> Iterator[_Note]:
    if schedule.scheduled != "business_days":
        return
    for day, override in (schedule.overrides or {}).items():
        works = is_business_day(day, schedule.calendars)
        if works == (override.action == "run"):
            message = "is a business day already" if works else "is no business day anyway"
            yield (
                f"/expect/overrides/{day.isoformat()}",
                "warning",
                f"{message}; the override changes nothing, look at the date",
            )


def _of_budget(definition: Definition, first: datetime) -> Iterator[_Note]:
    """SRE workbook, ch. 5: over few windows a rate says little, one miss is most of the budget."""
    if definition.kind == "Invariant":
        return
    bounds = period_at(definition.period, first)
    start, end = (
        (bounds.start, bounds.end) if bounds.id != "rolling" else (first, first + (bounds.end - bounds.start))
    )
    count = _count(definition, start, end, _FEW)
    allowed = (1 - definition.target) * count
    if not 0 < count < _FEW or definition.max_misses is not None:
        return
    allowed_text = f"{float(allowed):.4g}"
    share = "more than all" if allowed < 1 else f"{percent(Fraction(round(10_000 / allowed), 10_000))}"
    yield (
        "",
        "warning",
        f"{count} windows a {definition.period.name} at {percent(definition.target)} allow {allowed_text} misses: one "
        f"miss uses {share} of them; say how many you mean with maxMisses",
    )


def _of_evidence(definition: Definition) -> Iterator[_Note]:
    if definition.evidence.level == "self_reported":
        yield "/evidence/level", "warning", "takes what whoever trains the model reports about it"
    if (
        definition.source is None
        and definition.on_missing != "breach"
        and definition.evidence.bound_by is not None
    ):
        yield (
            "/onMissing",
            "warning",
            f"without a source that sends heartbeats no absence is ever proven: a run that never starts is "
            f"{'unknown' if definition.on_missing == 'unknown' else 'excluded'}, not missed; name a source, "
            "or write breach",
        )


def _of_silence(definition: Definition) -> Iterator[_Note]:
    if definition.source is not None and definition.on_missing == "exclude":
        yield (
            "/onMissing",
            "warning",
            f"whoever stops the heartbeats of {definition.source} takes what was missed meanwhile out of count; write "
            "unknown, which counts as missed once it settles",
        )


def _of_exclusions(definition: Definition, now: datetime) -> Iterator[_Note]:
    for index, each in enumerate(definition.exclusions):
        if each.end <= now:
            yield (
                f"/exclusions/{index}",
                "warning",
                "is over, and takes out nothing: a definition excludes only what opens after its publication; an "
                "approver can exclude what is past",
            )


def _count(definition: Definition, start: datetime, end: datetime, most: int) -> int:
    return sum(1 for _ in islice(windows(definition, start, end), most))
