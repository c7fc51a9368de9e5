"""From a document of the right shape to a definition."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time, timedelta
from fractions import Fraction

from gates.slo.definition import (
    BOUND_BY_INTERVAL,
    Definition,
    EvidenceRule,
    Limits,
    PlannedExclusion,
    Schedule,
)
from gates.slo.document import (
    Document,
    EvidencePart,
    Expect,
    InvariantDocument,
    TimeWindow,
    TrainingWindows,
    metric_source,
)
from gates.slo.periods import Period

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Digests:
    """Of the bytes, and of the RFC 8785 form of the document."""

    data: str
    document: str


def build(document: Document, digests: Digests, lines: Mapping[str, int]) -> Definition:
    """The document has no problems left (`checking.document_problems`)."""
    source, metadata, spec = metric_source(document), document.metadata, document.spec
    return Definition(
        name=metadata.name,
        kind=document.kind,
        display_name=metadata.display_name or metadata.name,
        description=spec.description or "",
        service=spec.service,
        team=metadata.labels["team"],
        objective=source.objective,
        target=target(document),
        max_misses=source.max_misses,
        on_missing=source.on_missing,
        grace=source.grace or timedelta(0),
        settle=source.settle,
        expect=None if source.expect is None else schedule(source.expect),
        evidence=_evidence(source),
        source=source.source,
        period=period(spec.time_window[0]),
        limits=Limits(**source.limits.model_dump(by_alias=False)),
        labels=metadata.labels,
        exclusions=tuple(
            PlannedExclusion(each.id, each.start, each.end, each.reason) for each in source.exclusions
        ),
        backfilled=source.backfilled,
        starts=source.starts,
        digest=digests.data,
        document_digest=digests.document,
        lines=lines,
    )


def target(document: Document) -> Fraction:
    """As written in decimals: 0.95 is 19/20, not the binary number next to it."""
    if isinstance(document, InvariantDocument):
        return Fraction(1)
    objective = document.spec.objectives[0]
    if objective.target is not None:
        return Fraction(repr(objective.target))
    return Fraction(repr(objective.target_percent)) / 100


def schedule(expect: Expect) -> Schedule:
    return Schedule(
        scheduled=expect.schedule.scheduled,
        time_zone=expect.time_zone,
        opens=expect.opens or time(0),
        by=expect.by,
        within=expect.within,
        covers=expect.covers,
        weekdays=tuple(sorted({_WEEKDAYS.index(day) for day in expect.weekdays or ()})),
        business_day=expect.schedule.business_day,
        cron=expect.cron or "",
        dates=tuple(sorted(set(expect.dates or ()))),
        calendars=tuple(dict.fromkeys(expect.calendars or ())),
        overrides=dict(expect.overrides or {}),
        gap=expect.dst.gap,
        fold=expect.dst.fold,
    )


def period(window: TimeWindow) -> Period:
    length, calendar = window.duration, window.calendar
    if calendar is None:
        return Period(length.count, length.unit, is_rolling=True)
    return Period(length.count, length.unit, False, calendar.time_zone, calendar.start_time)


def _evidence(source: TrainingWindows) -> EvidenceRule:
    part: EvidencePart = source.evidence
    bound = source.objective in BOUND_BY_INTERVAL
    return EvidenceRule(
        event=part.event,
        bound_by="data-interval" if bound else None,
        dataset=part.dataset,
        contract=part.contract,
        job=part.job,
        gate=part.gate,
        model=part.model,
        level=part.level or "trusted_runner",
        checkpoint_level=part.checkpoint_level,
    )
