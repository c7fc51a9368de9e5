"""What is wrong with `expect`, the schedule of a definition."""

from collections.abc import Iterator
from datetime import time

from gates.slo.definition import Scheduled
from gates.slo.document import Expect

_OWN: dict[str, Scheduled] = {"weekdays": "weekly", "cron": "cron", "dates": "dates"}
"""Members that one schedule needs and the others don't know."""


def expect_problems(expect: Expect) -> Iterator[tuple[str, str]]:
    """Pointer below `expect` ("" = itself), and how to mend it."""
    scheduled = expect.schedule.scheduled
    for member, owner in _OWN.items():
        given = getattr(expect, member) is not None
        if scheduled == owner and not given:
            yield f"/{member}", f"is missing: schedule {owner} needs it; write for example {_example(member)}"
        if scheduled != owner and given:
            yield f"/{member}", f"belongs to schedule: {owner}; remove it, or write schedule: {owner}"
    if (expect.by is None) == (expect.within is None):
        yield "", 'needs one deadline: by, a local time such as "09:00", or within, elapsed time such as PT6H'
    if expect.opens is not None and expect.by is not None and expect.by == expect.opens:
        yield (
            "/by",
            "is the time at which the window opens; write a later one, or an earlier one for the next day",
        )
    if scheduled == "cron":
        yield from _of_cron(expect)
    elif scheduled == "dates" and expect.covers is None:
        yield (
            "/covers",
            "is missing: the first of the dates has no window before; write for example covers: P1D",
        )
    for day, override in (expect.overrides or {}).items():
        if override.by is not None and override.by == (expect.opens or time(0)):
            yield f"/overrides/{day.isoformat()}", "is the time at which the window opens; write a later one"


def _of_cron(expect: Expect) -> Iterator[tuple[str, str]]:
    if expect.opens is not None:
        yield "/opens", "a cron window opens at its tick; remove it"
    for day, override in (expect.overrides or {}).items():
        if override.action == "by":
            yield f"/overrides/{day.isoformat()}", "a day of cron may have many windows; write skip or run"


def _example(member: str) -> str:
    return {"weekdays": "[mon]", "cron": '"0 6 * * 1-5"', "dates": '["2026-11-27"]'}[member]
