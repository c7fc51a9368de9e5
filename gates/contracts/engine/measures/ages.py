"""Freshness: how old the newest time of a column was at the instant the check is said to be of."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged, number
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.sql import identifier
from gates.contracts.engine.table import TIMES
from shipworthy.formats.times import format_instant

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 (local times are counted from it before they get their zone)


def age_at_most(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """as_of minus the newest time, at most max_seconds, and no further in the future than the tolerance.

    Times without zone need `time_zone`; of a local time that clocks showed twice the earlier is taken. A day counts
    from its midnight. Fails without any time.
    """
    column = circumstances.column(kwargs)
    oldest = number(kwargs, "max_seconds")
    tolerance = number(kwargs, "future_tolerance_seconds", 0.0)
    if column.kind not in TIMES:
        raise CheckRefused(
            f"Column {column.name!r} is {column.types[0]}, not a time. Declare and store it as one."
        )
    zone = UTC if column.kind == "aware" else _zone(kwargs.get("time_zone"), column.name)
    as_of = circumstances.as_of

    def judge(facts: Facts) -> Verdict:
        rows, newest = facts.profile.rows, facts.values["newest"]
        if not isinstance(newest, int):
            return Verdict("failed", f"Column {column.name!r} has no time, so no age.", rows=rows)
        try:
            at = (_EPOCH + timedelta(microseconds=newest)).replace(tzinfo=zone).astimezone(UTC)
        except OverflowError:
            return Verdict(
                "failed", f"The newest time of {column.name!r} lies beyond the year 9999.", rows=rows
            )
        age = (as_of - at).total_seconds()
        moments = f"Of {format_instant(as_of)}, the newest time {format_instant(at)}"
        if age < -tolerance:
            sentence = f"{moments} lies {-age:.0f} s in the future; {tolerance:g} s are allowed."
            return judged(False, sentence, observed=age, rows=rows)
        return judged(age <= oldest, f"{moments} was {age:.0f} s old.", observed=age, rows=rows)

    cast = f"CAST({identifier(column.name)} AS {'TIMESTAMPTZ' if column.kind == 'aware' else 'TIMESTAMP'})"
    return Measure(judge, {"newest": f"epoch_us(max({cast}))"})


def _zone(name: object, column: str) -> ZoneInfo:
    if not isinstance(name, str):
        raise CheckRefused(
            f"Column {column!r} holds times without a zone. Say theirs as `time_zone`, such as Europe/Berlin or UTC."
        )
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise CheckRefused(
            f"{name!r} is no time zone of the IANA list. Write one such as Europe/Berlin."
        ) from None
