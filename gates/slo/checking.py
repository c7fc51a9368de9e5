"""What is wrong with a definition beyond the shape of its document."""

from collections.abc import Iterator
from typing import TypeAlias

from gates.slo.building import target
from gates.slo.definition import BOUND_BY_INTERVAL, WINDOWED
from gates.slo.document import (
    INVARIANT_SOURCE,
    SLO_SOURCE,
    Document,
    InvariantDocument,
    SloDocument,
    TimeWindow,
    TrainingWindows,
    metric_source,
)
from gates.slo.expecting import expect_problems
from gates.slo.vocabulary import EVENTS, FILTERS, LIMITS

_Found: TypeAlias = Iterator[tuple[str, str]]
"""JSON pointer, and a sentence that says how to mend it."""


def document_problems(document: Document) -> list[tuple[str, str]]:
    """A definition with any is refused."""
    is_slo = isinstance(document, SloDocument)
    place = SLO_SOURCE if is_slo else INVARIANT_SOURCE
    source = metric_source(document)
    found = [(f"{place}/{member}", message) for member, message in _source_problems(source)]
    found += [
        (f"/spec/timeWindow/0{member}", message)
        for member, message in _period_problems(document.spec.time_window[0])
    ]
    if isinstance(document, InvariantDocument):
        if source.max_misses is not None:
            found.append((f"{place}/maxMisses", "an Invariant allows no miss; remove it, or write kind: SLO"))
    else:
        found += _target_problems(document)
        found += _budgeting_problems(document, source)
    return found


def _target_problems(document: SloDocument) -> _Found:
    place, objective = "/spec/objectives/0", document.spec.objectives[0]
    if (objective.target is None) == (objective.target_percent is None):
        yield place, "needs one of target (such as 0.95) and targetPercent (95); write one of them"
        return
    member = "target" if objective.target is not None else "targetPercent"
    share = target(document)
    if share == 1:
        yield (
            f"{place}/{member}",
            "must be less than 1: OpenSLO knows no promise without misses; for one write apiVersion: shipworthy/v1 and "
            "kind: Invariant",
        )
    elif not 0 < share < 1:
        most = "1" if member == "target" else "100"
        yield f"{place}/{member}", f"must be greater than 0 and less than {most}"


def _budgeting_problems(document: SloDocument, source: TrainingWindows) -> _Found:
    objective = document.spec.objectives[0]
    if source.objective != "freshness":
        if document.spec.budgeting_method != "Occurrences":
            yield (
                "/spec/budgetingMethod",
                f"must be Occurrences for a {source.objective} objective, which counts",
            )
        for member, given in (
            ("timeSliceTarget", objective.time_slice_target),
            ("timeSliceWindow", objective.time_slice_window),
        ):
            if given is not None:
                yield (
                    f"/spec/objectives/0/{member}",
                    "belongs to Timeslices, and nothing is sliced here; remove it",
                )
        return
    if document.spec.budgeting_method != "Timeslices":
        yield (
            "/spec/budgetingMethod",
            "must be Timeslices for a freshness objective, with timeSliceWindow: 5m",
        )
    if objective.time_slice_window not in (None, "5m"):
        yield "/spec/objectives/0/timeSliceWindow", "must be 5m: age is judged every five minutes"
    if objective.time_slice_target not in (None, 1.0):
        yield (
            "/spec/objectives/0/timeSliceTarget",
            "must be 1: a slice has one age, which is good or bad as a whole",
        )


def _period_problems(window: TimeWindow) -> _Found:
    rolling = window.is_rolling if window.is_rolling is not None else window.calendar is None
    if rolling and window.calendar is not None:
        yield "/calendar", "a rolling window has no calendar; remove it, or write isRolling: false"
    if not rolling and window.calendar is None:
        yield "", "needs a calendar with startTime and timeZone, or isRolling: true"
    if rolling and window.duration.unit not in ("day", "week"):
        yield (
            "/duration",
            f"a rolling {window.duration.unit} has no fixed length; write days or weeks such as 30d, or give it a "
            "calendar",
        )


def _source_problems(source: TrainingWindows) -> _Found:
    windowed = source.objective in WINDOWED
    if windowed and source.expect is None:
        yield (
            "expect",
            f"is missing: a {source.objective} objective needs a schedule of the windows that are expected",
        )
    if not windowed:
        yield from _not_windowed(source)
    yield from _evidence_problems(source)
    yield from _limit_problems(source)
    if source.expect is not None:
        for member, message in expect_problems(source.expect):
            yield f"expect{member}", message
    if source.backfilled and source.starts is None:
        yield (
            "backfilled",
            'says that past windows are judged too; write from which date on: starts: "2026-01-01"',
        )
    yield from _exclusion_problems(source)


def _not_windowed(source: TrainingWindows) -> _Found:
    what = "slices of the time in which runs are live" if source.objective == "freshness" else "events"
    for member, given in (
        ("expect", source.expect),
        ("grace", source.grace),
        ("exclusions", source.exclusions or None),
    ):
        if given is not None:
            yield member, f"a {source.objective} objective counts {what}, not windows; remove it"


def _evidence_problems(source: TrainingWindows) -> _Found:
    evidence, possible = source.evidence, EVENTS[source.objective]
    if evidence.event not in possible:
        yield "evidence/event", f"can't show a {source.objective} objective; write {' or '.join(possible)}"
        return
    if evidence.bound_by is not None and source.objective not in BOUND_BY_INTERVAL:
        yield (
            "evidence/boundBy",
            f"evidence of a {source.objective} objective belongs to the time at which it occurred; remove boundBy",
        )
    filters = FILTERS[evidence.event]
    given = evidence.model_dump(by_alias=True, exclude_none=True, exclude={"event", "bound_by"})
    for name in filters.required:
        if name not in given:
            yield f"evidence/{name}", f"is missing: {evidence.event} needs to know which {name}; write it"
    for name in given:
        if name not in (*filters.required, *filters.optional):
            known = ", ".join((*filters.required, *filters.optional))
            yield (
                f"evidence/{name}",
                f"{evidence.event} is not told apart by {name}, but by {known}; remove it",
            )


def _limit_problems(source: TrainingWindows) -> _Found:
    needed = LIMITS.get(source.objective)
    given = source.limits.model_dump(by_alias=True, exclude_none=True)
    if needed is not None and needed not in given:
        yield (
            "limits",
            f"needs {needed}: without it nothing tells good from bad; write limits: {{{needed}: PT2H}}",
        )
    for name in given:
        if name != needed:
            instead = f"write {needed}" if needed else "remove it"
            yield f"limits/{name}", f"is no limit of a {source.objective} objective; {instead}"


def _exclusion_problems(source: TrainingWindows) -> _Found:
    seen: set[str] = set()
    for index, each in enumerate(source.exclusions):
        place = f"exclusions/{index}"
        if each.start >= each.end:
            yield f"{place}/to", "must be later than from"
        if each.id in seen:
            yield f"{place}/id", f"{each.id!r} is already the id of another exclusion; choose another one"
        seen.add(each.id)
        for other in source.exclusions[:index]:
            if each.start < other.end and other.start < each.end:
                yield (
                    f"{place}/from",
                    f"overlaps the exclusion {other.id!r}, so that two reasons would hold for one window; let one end "
                    "where the other begins",
                )
