"""What came of a window, as far as is known at a time. Pure: the order of the evidence plays no part."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from gates.slo.definition import Definition
from gates.slo.exclusions import Exclusion, excluding
from gates.slo.heartbeats import HeartbeatCoverage
from gates.slo.schedules import ExpectedWindow

WindowStatus: TypeAlias = Literal["pending", "met", "met_in_grace", "breached", "unknown", "excluded"]
BreachReason: TypeAlias = Literal["late", "never", "failed", "unresolved"]


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """`at`: when it occurred (the run's end, the record of the passed contract); `recorded_at`: when it was received.
    `good`: what was promised. Not good and `final`: the last attempt ended without success; not good and not final: an
    attempt that still goes on or will be repeated. `record`: digest of the record. `measured`: seconds, for objectives
    with a limit (duration, resume-loss, queue-delay); good items above the limit count as failed."""

    at: datetime
    recorded_at: datetime
    good: bool
    record: str
    final: bool = False
    run_id: str | None = None
    measured: float | None = None


@dataclass(frozen=True, slots=True)
class WindowOutcome:
    """`reason` for breached only. `lateness_s`: seconds after the deadline, of the first success; None without one.
    `predicted`: still pending, but its last attempt has failed. `cause`: late_evidence (came after the window had been
    judged without it), in_progress (an attempt was still running), no_evidence (source proven alive),
    source_not_proven, before_its_data (a success, from before the window's data was complete), over_limit,
    exclusion:<id>, or None."""

    status: WindowStatus
    reason: BreachReason | None = None
    lateness_s: float | None = None
    cause: str | None = None
    evidence: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    predicted: bool = False


def judge(
    window: ExpectedWindow,
    definition: Definition,
    evidence: Sequence[EvidenceItem],
    coverage: HeartbeatCoverage | None,
    exclusions: Sequence[Exclusion],
    now: datetime,
) -> WindowOutcome:
    """Facts received after `now` play no part, nor does a success from before the window's data was complete: whatever
    it says that it covers, it can't have known it. `coverage`: of the source from opens_at to deadline + grace; None
    when the definition names no source."""
    known = [each for each in evidence if each.recorded_at <= now]
    judged_at = window.deadline_utc + definition.grace
    if not known and not exclusions:
        # Where many fall due together nothing came of most: there is nothing to compare.
        return (
            WindowOutcome("pending") if now < judged_at else _by_absence(definition, coverage, judged_at, now)
        )
    limit = definition.limit
    possible = [each for each in known if not each.good or each.at >= window.data_interval.end]
    successes = [each for each in possible if each.good and not _is_over(each, limit)]
    failures = [each for each in possible if not each.good or _is_over(each, limit)]
    digests, runs = _named(known)
    exclusion = excluding(exclusions, window, now)
    if exclusion is not None:
        return WindowOutcome("excluded", None, None, f"exclusion:{exclusion.id}", digests, runs)
    if successes:
        return _by_success(window, judged_at, successes, digests, runs)
    failed = any(each.final or _is_over(each, limit) for each in failures)
    cause = "over_limit" if any(_is_over(each, limit) for each in failures) else None
    if now < judged_at:
        return WindowOutcome("pending", None, None, cause, digests, runs, predicted=failed)
    if failed:
        return WindowOutcome("breached", "failed", None, cause, digests, runs)
    if failures:
        return WindowOutcome("breached", "late", None, "in_progress", digests, runs)
    absent = _by_absence(definition, coverage, judged_at, now)
    # All that is known came too early, and is named so that somebody who asks why finds it.
    return replace(absent, cause="before_its_data", evidence=digests, run_ids=runs) if known else absent


def _by_success(
    window: ExpectedWindow,
    judged_at: datetime,
    successes: Sequence[EvidenceItem],
    digests: tuple[str, ...],
    runs: tuple[str, ...],
) -> WindowOutcome:
    """The first success counts; a later one can't make it worse. Whether it came in time is a question of when it
    occurred, not of when it was received."""
    first = min(each.at for each in successes)
    lateness_s = max(0.0, (first - window.deadline_utc).total_seconds())
    in_time = [each for each in successes if each.at <= judged_at]
    if not in_time:
        return WindowOutcome("breached", "late", lateness_s, None, digests, runs)
    status: WindowStatus = "met" if first <= window.deadline_utc else "met_in_grace"
    as_good = [each for each in in_time if status == "met_in_grace" or each.at <= window.deadline_utc]
    # At the moment of judgement itself it still counted.
    cause = "late_evidence" if min(each.recorded_at for each in as_good) > judged_at else None
    return WindowOutcome(status, None, lateness_s, cause, digests, runs)


def _by_absence(
    definition: Definition, coverage: HeartbeatCoverage | None, judged_at: datetime, now: datetime
) -> WindowOutcome:
    if coverage is not None and coverage.proves_life:
        return WindowOutcome("breached", "never", None, "no_evidence")
    match definition.on_missing:
        case "breach":
            return WindowOutcome("breached", "never", None, "source_not_proven")
        case "exclude":
            return WindowOutcome("excluded", None, None, "source_not_proven")
        case "unknown" if now < judged_at + definition.settle:
            return WindowOutcome("unknown", None, None, "source_not_proven")
        case _:
            return WindowOutcome("breached", "unresolved", None, "source_not_proven")


def _is_over(item: EvidenceItem, limit: timedelta | None) -> bool:
    return (
        item.good and limit is not None and (item.measured is None or item.measured > limit.total_seconds())
    )


def _named(items: Iterable[EvidenceItem]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    in_order = sorted(items, key=lambda each: (each.at, each.record))
    digests = dict.fromkeys(each.record for each in in_order)
    runs = dict.fromkeys(each.run_id for each in in_order if each.run_id is not None)
    return tuple(digests), tuple(runs)
