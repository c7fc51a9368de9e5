"""Sentences with their arithmetic: what was counted, what is allowed, what is used, and which windows it was."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Final

from gates.release.texts import joined
from gates.slo.counts import Budget, Counts, Miss, SloState
from gates.slo.definition import Definition, Objective

MOST_NAMED: Final = 6
"""Dates that are named for one reason; the report lists all."""

_NOUNS: Final[Mapping[Objective, tuple[str, str]]] = {
    "deadline": ("window", "on time"),
    "duration": ("window", "on time"),
    "retention": ("check", "found the report"),
    "queue-delay": ("window", "within the limit"),
    "freshness": ("slice", "fresh"),
    "ratio": ("event", "good"),
    "resume-loss": ("resumption", "within the limit"),
}
_REASONS: Final = {
    "late": "late",
    "never": "never ran",
    "failed": "failed",
    "unresolved": "never explained",
    "unknown": "unknown",
}


def status_sentence(
    counts: Counts,
    definition: Definition,
    state: SloState,
    budget: Budget,
    misses: Sequence[Miss],
    *,
    evaluated_recently: bool,
) -> str:
    """Such as "27 of 30 windows on time, target 95 %: 1.5 misses allowed, 3 used; late: 3 and 9 Nov, never ran: 17
    Nov"."""
    noun, good = _NOUNS[definition.objective]
    if state == "no_data":
        return _no_data(counts, noun, evaluated_recently)
    total = counts.judged
    opening = f"{counts.good:,} of {_counted(total, noun)} {good}, target {percent(definition.target)}"
    parts = [f"{opening}: {_allowed(budget)}, {budget.used:,} used"]
    named = _named(misses)
    if named:
        parts.append(named)
    if counts.unknown:
        parts.append(f"{counts.unknown:,} unknown, counted as missed")
    if counts.pending:
        failed = f", {counts.predicted:,} of them failed already" if counts.predicted else ""
        parts.append(f"{counts.pending:,} still pending{failed}")
    if counts.excluded:
        parts.append(f"{counts.excluded:,} excluded")
    return "; ".join(parts)


def loosened_sentence(version: int, definition: Definition, since: datetime) -> str:
    """That a later version asks for less than what the period is judged by: "version 2 asks for 90 % since 28 Nov, what
    was promised before holds until its windows are out of the period"."""
    most = definition.max_misses
    misses = "" if most is None else f" and at most {most:,} {'miss' if most == 1 else 'misses'}"
    return (
        f"version {version} asks for {percent(definition.target)}{misses} since {since.day} {since:%b}, what was "
        "promised before holds as long as the period has windows of it"
    )


def backfilled_sentence(since: datetime) -> str:
    """That windows were promised when their outcome could be known."""
    return f"what was over by {since.day} {since:%b} was promised afterwards"


def percent(share: Fraction) -> str:
    """Exact to four decimals of a percent: 95 %, 99.95 %."""
    return f"{_decimal(share * 100)} %"


def days(names: Sequence[str]) -> str:
    """ISO dates as people write them: "3 and 9 Nov", "30 Nov and 2 Dec"; at most MOST_NAMED."""
    dates = sorted({date.fromisoformat(name[:10]) for name in names})
    words = []
    for index, each in enumerate(dates[:MOST_NAMED]):
        following = dates[index + 1] if index + 1 < min(len(dates), MOST_NAMED) else None
        same = following is not None and (following.year, following.month) == (each.year, each.month)
        words.append(str(each.day) if same else f"{each.day} {each:%b}")
    more = len(dates) - MOST_NAMED
    return joined([*words, f"{more} more days"]) if more > 0 else joined(words)


def _no_data(counts: Counts, noun: str, evaluated_recently: bool) -> str:
    if counts.judged:
        return f"not evaluated lately: {_counted(counts.judged, noun)} were judged before that; look at the service"
    pending = f"; {counts.pending:,} still pending" if counts.pending else ""
    excluded = f"; {counts.excluded:,} excluded" if counts.excluded else ""
    late = "" if evaluated_recently else "; not evaluated lately: wait a minute, then look at the service"
    return f"no {noun} was judged in this period yet{pending}{excluded}{late}"


def _allowed(budget: Budget) -> str:
    if budget.total == 0:
        return "no miss allowed"
    return f"{_decimal(budget.total)} {'miss' if budget.total == 1 else 'misses'} allowed"


def _named(misses: Sequence[Miss]) -> str:
    by_reason: dict[str, list[str]] = {}
    for miss in misses:
        by_reason.setdefault(miss.reason, []).append(miss.day)
    known = [(word, by_reason[reason]) for reason, word in _REASONS.items() if reason in by_reason]
    return ", ".join(f"{word}: {days(names)}" for word, names in known)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _decimal(number: Fraction) -> str:
    """At most four decimals; one that is longer is cut off, so that 99.99999 % is never shown as 100 %."""
    whole, part = divmod(int(abs(number) * 10_000), 10_000)
    text = f"{whole:,}.{part:04d}".rstrip("0").rstrip(".")
    return f"-{text}" if number < 0 else text
