"""slaProperties of ODCS: latency and freshness are checked as the age of the data; the others are not about bytes.

Source: docs/service-level-agreement.md of the standard: properties are case-insensitive, `latency` (ly) is
preferred to freshness, elements are written `object.property` and separated by commas.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from gates.contracts.drafting import Draft, Notes
from gates.contracts.kwargs import is_time_zone
from gates.contracts.odcs_members import SLA, refuse_unknown
from gates.contracts.odcs_quality import severity_of
from gates.contracts.suite import About
from gates.documents.pointers import Json, as_list, as_mapping, as_number, as_text, child

FUTURE_TOLERANCE_SECONDS: Final = 300
"""How far the newest row may lie in the future: clocks differ by a few minutes at most."""

_AGES: Final = frozenset({"latency", "ly", "freshness"})
_SECONDS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "wk", "week", "weeks"), 604_800),
    **dict.fromkeys(("y", "yr", "year", "years"), 31_536_000),
}
"""Seconds in a unit; a year is 365 days. Months are refused, and m, which may be either."""

_DURATION: Final = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<min>\d+)M)?(?:(?P<s>\d+)S)?)?", re.ASCII
)


def compile_agreements(notes: Notes, drafts: Sequence[Draft], contract: Mapping[str, Json]) -> None:
    """Age checks of the objects that agreements name. What names no object is listed with every object."""
    for index, each in enumerate(as_list(contract.get("slaProperties"))):
        place = child("", "slaProperties", index)
        agreement = as_mapping(each)
        for draft in drafts:
            refuse_unknown(draft, agreement, place, SLA)
        kind = as_text(agreement.get("property")) or ""
        if kind.lower() not in _AGES:
            reason = f"{kind[:60]!r} is agreed between people; only latency and freshness are checked, as age"
            for draft in drafts:
                draft.leave(place, reason, blocking=False)
            continue
        about = About(
            severity_of(drafts[0], agreement, place),
            "timeliness",
            as_text(agreement.get("description")),
            as_text(agreement.get("id")),
        )
        _age(drafts, agreement, place, as_text(contract.get("slaDefaultElement")), about)


def _age(
    drafts: Sequence[Draft], agreement: Mapping[str, Json], place: str, default: str | None, about: About
) -> None:
    seconds, fault = _seconds(agreement)
    elements = [each.strip() for each in (as_text(agreement.get("element")) or default or "").split(",")]
    if fault is None and elements == [""]:
        fault = "names no element; write the column whose newest value gives the age, as object.property"
    found = [_element(drafts, each) for each in elements]
    if fault is None and None in found:
        fault = (
            f"{elements[found.index(None)][:100]!r} names no object of the contract; write object.property"
        )
    if fault is not None or seconds is None:
        for draft in drafts:
            draft.refuse(place, fault or "has no value", about)
        return
    for target in found:
        if target is None:
            continue
        draft, name = target
        column = draft.column(name, child(place, "element"))
        zone = draft.zones.get(column, "UTC")
        kwargs: dict[str, Json] = {
            "column": column,
            "max_seconds": seconds,
            "time_zone": zone if zone is None or is_time_zone(zone) else "UTC",
            "future_tolerance_seconds": FUTURE_TOLERANCE_SECONDS,
        }
        draft.check(f"age:{column}", "expect_age_to_be_at_most", kwargs, [place], about)


def _seconds(agreement: Mapping[str, Json]) -> tuple[int | float | None, str | None]:
    """The age in seconds, or what is wrong with it."""
    value, unit = agreement.get("value"), as_text(agreement.get("unit"))
    number = as_number(value)
    if isinstance(value, str) and (duration := _DURATION.fullmatch(value)) and any(duration.groups()):
        number = sum(int(count) * _SECONDS[name] for name, count in duration.groupdict().items() if count)
        unit = "s"
    if number is None or number <= 0:
        return (
            None,
            f"value {str(value)[:60]!r} is no age; write a number above 0 with a unit, or a duration (PT24H)",
        )
    if unit is None or unit.lower() not in _SECONDS:
        written = "no unit" if unit is None else f"the unit {unit[:60]!r}"
        return None, f"has {written}; write s, min, h, d, w or y (months differ in length)"
    seconds = number * _SECONDS[unit.lower()]
    return (seconds, None) if seconds < 2**53 else (None, f"value {value!r} is beyond any age; correct it")


def _element(drafts: Sequence[Draft], element: str) -> tuple[Draft, str] | None:
    """The object and column of `object.property`; the object may be left out when there is only one."""
    name, dot, column = element.partition(".")
    for draft in drafts:
        if dot and column and name in draft.names:
            return draft, column
    return (drafts[0], element) if len(drafts) == 1 and not dot and drafts[0].name else None
