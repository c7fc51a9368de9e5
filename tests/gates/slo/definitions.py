"""Definitions for tests, as YAML that changes in the parts that a test is about."""

from datetime import UTC, datetime, timedelta

from gates.slo.definition import Definition
from gates.slo.loading import load_slo
from gates.slo.schedules import ExpectedWindow, Interval, windows

HEAD = """\
apiVersion: openslo/v1
kind: SLO
metadata:
  name: data
  labels: {team: risk-data}
spec:
  service: fraud
  indicator:
    spec:
      ratioMetric:
        rawType: success
        raw:
          metricSource:
            type: training-windows
            spec:
"""
SOURCE = {
    "objective": "deadline",
    "expect": '{schedule: business_days, timeZone: America/New_York, by: "09:00", calendars: ["US"]}',
    "grace": "PT30M",
    "evidence": "{event: snapshot.approved, dataset: events, contract: events}",
    "onMissing": "unknown",
    "settle": "P2D",
    "source": "ingest",
}
TAIL = {
    "timeWindow": "[{duration: 1M, calendar: {startTime: 2026-01-01 00:00:00, timeZone: America/New_York}}]",
    "budgetingMethod": "Occurrences",
    "objectives": "[{target: 0.95}]",
}
FIRST_LINE = HEAD.count("\n") + 1
"""Line of the first member of the source."""


def slo_text(**changes: str | None) -> bytes:
    """A member that is None is left out; unknown members are added to the source."""
    source = SOURCE | {name: value for name, value in changes.items() if name not in TAIL}
    tail = TAIL | {name: value for name, value in changes.items() if name in TAIL}
    lines = [HEAD.rstrip("\n")]
    lines += [f"{' ' * 14}{name}: {value}" for name, value in source.items() if value is not None]
    lines += [f"  {name}: {value}" for name, value in tail.items() if value is not None]
    return ("\n".join(lines) + "\n").encode()


def make_slo(**changes: str | None) -> Definition:
    return load_slo(slo_text(**changes))


def make_schedule(expect: str) -> Definition:
    return make_slo(expect=expect)


def utc(text: str) -> datetime:
    """Of a text without offset, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def days_of(definition: Definition, start: str, end: str) -> list[str]:
    """Names of the windows that open from one UTC time until before another."""
    return [window.id.partition("/")[2] for window in windows(definition, utc(start), utc(end))]


def make_window(deadline: str = "2026-11-03T14:00") -> ExpectedWindow:
    at = utc(deadline)
    opens_at = at - timedelta(hours=9)
    return ExpectedWindow(
        f"data/{at.date()}",
        opens_at,
        at,
        at.isoformat(),
        Interval(opens_at - timedelta(days=1), opens_at),
        "0.109",
        "2026f",
    )
