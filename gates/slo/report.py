"""The report: one entry for each promise, from which the page, the table and the gauges are rendered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Final

from gates.documents.pointers import Json
from gates.slo.counts import Counts
from gates.slo.definition import Definition
from gates.slo.exclusions import Exclusion
from gates.slo.periods import PeriodBounds
from gates.slo.schedules import Interval
from gates.slo.status import SloStatus
from gates.slo.zones import TZDATA_VERSION
from shipworthy.formats.times import format_instant

SCHEMA: Final = "shipworthy.slo-report/1"


@dataclass(frozen=True, slots=True)
class ReportedWindow:
    """A window and the last revision of its outcome; `revision` 0: not judged yet. `backfilled`: it was over when its
    definition was published."""

    id: str
    opens_at: datetime
    deadline_utc: datetime
    deadline_local: str
    status: str
    reason: str | None = None
    revision: int = 0
    lateness_s: float | None = None
    cause: str | None = None
    evidence: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    predicted: bool = False
    backfilled: bool = False


@dataclass(frozen=True, slots=True)
class ReportedSource:
    """A source of evidence; `gaps` within the period."""

    name: str
    alive: bool
    last_seen: datetime | None
    gaps: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class Correction:
    """A revision that came after an outcome had been settled."""

    window: str
    revision: int
    before: str
    after: str
    cause: str | None
    settled_at: datetime


@dataclass(frozen=True, slots=True)
class EarlierVersion:
    """A version before the reported one that promised more, and under which windows of the period were expected."""

    version: int
    published_at: datetime
    target: Fraction
    max_misses: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ReportedSlo:
    """What was made of a promise; equal to itself only. `revision`: number of the published version. `definition`: with
    the strictest target and count of misses that was promised for windows of the period; `earlier` are the versions
    which promised that. `backfilled_until`: when it was first published, where windows of the period were over by
    then."""

    definition: Definition
    revision: int
    closed: bool
    counts: Counts
    status: SloStatus
    exclusions: Sequence[Exclusion] = ()
    corrections: Sequence[Correction] = ()
    earlier: Sequence[EarlierVersion] = ()
    backfilled_until: datetime | None = None


def report_json(
    *, generated_at: datetime, as_of: datetime, version: str, commit: str | None
) -> dict[str, Json]:
    """The report without its SLOs. `as_of`: only what had been received by then was counted."""
    return {
        "schema": SCHEMA,
        "generated_at": format_instant(generated_at),
        "as_of": format_instant(as_of),
        "evaluated_by": {"version": version, "commit": commit},
        "tzdata": TZDATA_VERSION,
        "slos": [],
    }


MOVING: Final = ("period", "last_evaluated_at", "sources", "windows")
"""Members of a promise's JSON that are not of its ReportedSlo: what time changes by itself, and its windows."""


def slo_json(slo: ReportedSlo, **moving: Json) -> dict[str, Json]:
    """One promise; members that MOVING names are as they are given, else null. `burn` and `forecast` are not computed,
    and null."""
    definition, status = slo.definition, slo.status
    return {
        "definition": {"id": definition.name, "revision": slo.revision, "digest": definition.digest},
        "kind": definition.kind,
        "display_name": definition.display_name,
        "service": definition.service,
        "team": definition.team,
        "objective": definition.objective,
        "period": moving.get("period"),
        "status": status.state,
        "sli_low": _number(status.low),
        "sli_high": _number(status.high),
        "target": float(definition.target),
        "max_misses": definition.max_misses,
        "budget": {
            "total": float(status.budget.total),
            "used": status.budget.used,
            "remaining": float(status.budget.remaining),
        },
        "burn": None,
        "counts": counts_json(slo.counts),
        "coverage": _number(status.coverage),
        "last_evaluated_at": moving.get("last_evaluated_at"),
        "sources": moving.get("sources"),
        "windows": moving.get("windows"),
        "exclusions": [_exclusion(each) for each in slo.exclusions],
        "corrections": [_correction(each) for each in slo.corrections],
        "backfilled_until": time_json(slo.backfilled_until),
        "earlier": [_earlier(each) for each in slo.earlier],
        "forecast": None,
        "sentence": status.sentence,
    }


def period_json(name: str, bounds: PeriodBounds, *, closed: bool) -> dict[str, Json]:
    return {
        "name": name,
        "from": format_instant(bounds.start),
        "to": format_instant(bounds.end),
        "timezone": bounds.time_zone,
        "closed": closed,
    }


def counts_json(counts: Counts) -> dict[str, Json]:
    """`expected` is the sum of the others."""
    return {
        "expected": counts.judged + counts.pending + counts.excluded,
        "met": counts.good - counts.met_in_grace,
        "met_in_grace": counts.met_in_grace,
        "breached": counts.bad,
        "unknown": counts.unknown,
        "excluded": counts.excluded,
        "pending": counts.pending,
    }


def window_json(window: ReportedWindow, layer: str) -> dict[str, Json]:
    """`layer`: where a miss shows; null for a window that was not missed."""
    return {
        "id": window.id,
        "opens_at": format_instant(window.opens_at),
        "deadline_utc": format_instant(window.deadline_utc),
        "deadline_local": window.deadline_local,
        "status": window.status,
        "reason": window.reason,
        "revision": window.revision,
        "lateness_s": window.lateness_s,
        "evidence": list(window.evidence),
        "run_ids": list(window.run_ids),
        "cause": window.cause,
        "layer": layer if window.status in ("breached", "unknown") or window.predicted else None,
        "predicted": window.predicted,
        "backfilled": window.backfilled,
    }


def source_json(source: ReportedSource) -> Json:
    gaps: list[Json] = [
        {"from": format_instant(gap.start), "to": format_instant(gap.end)} for gap in source.gaps
    ]
    return {
        "name": source.name,
        "alive": source.alive,
        "last_seen": time_json(source.last_seen),
        "gaps": gaps,
    }


def _exclusion(exclusion: Exclusion) -> Json:
    return {
        "id": exclusion.id,
        "reason": exclusion.reason,
        "approver": exclusion.approver,
        "from": time_json(exclusion.start),
        "to": time_json(exclusion.end),
        "windows": list(exclusion.windows),
        "recorded_at": format_instant(exclusion.recorded_at),
        "retroactive": exclusion.retroactive,
        "planned": exclusion.planned,
    }


def _correction(correction: Correction) -> Json:
    return {
        "window": correction.window,
        "revision": correction.revision,
        "before": correction.before,
        "after": correction.after,
        "cause": correction.cause,
        "settled_at": format_instant(correction.settled_at),
    }


def _earlier(version: EarlierVersion) -> Json:
    return {
        "revision": version.version,
        "published_at": format_instant(version.published_at),
        "target": float(version.target),
        "max_misses": version.max_misses,
    }


def _number(share: Fraction | None) -> float | None:
    return None if share is None else float(share)


def time_json(when: datetime | None) -> str | None:
    return None if when is None else format_instant(when)
