"""The documents in which promises are written: `kind: SLO` of OpenSLO v1, and our `Invariant`."""

from datetime import timedelta
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from gates.release.values import Duration, Instant, Level, Line
from gates.slo.definition import CheckpointLevel, Event, Objective, OnMissing
from gates.slo.values import (
    CalendarCode,
    ClockTime,
    CronExpression,
    Labels,
    LocalDate,
    LocalStart,
    OverrideAction,
    PeriodLength,
    ScheduleName,
    ZoneName,
)

SLO_SOURCE: Final = "/spec/indicator/spec/ratioMetric/raw/metricSource/spec"
INVARIANT_SOURCE: Final = "/spec/metricSource/spec"

DnsName = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
Text = Annotated[str, Field(max_length=1050)]
"""OpenSLO's limit of a description."""
ListName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,255}$")]


class SloPart(BaseModel):
    """Base of all parts: frozen, nothing coerced, members named as in YAML, unknown ones refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, alias_generator=to_camel
    )


class Dst(SloPart):
    gap: Literal["shift_forward", "skip"] = "shift_forward"
    fold: Literal["first", "last"] = "first"


class Expect(SloPart):
    schedule: ScheduleName
    time_zone: ZoneName
    opens: ClockTime | None = None
    by: ClockTime | None = None
    within: Duration | None = None
    covers: Duration | None = None
    weekdays: (
        Annotated[list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]], Field(min_length=1)] | None
    ) = None
    cron: CronExpression | None = None
    dates: Annotated[list[LocalDate], Field(min_length=1, max_length=2000)] | None = None
    calendars: Annotated[list[CalendarCode], Field(max_length=20)] | None = None
    overrides: Annotated[dict[LocalDate, OverrideAction], Field(max_length=1000)] | None = None
    dst: Dst = Dst()


class EvidencePart(SloPart):
    event: Event
    bound_by: Literal["data-interval"] | None = None
    dataset: ListName | None = None
    contract: ListName | None = None
    job: ListName | None = None
    gate: ListName | None = None
    model: ListName | None = None
    level: Level | None = None
    checkpoint_level: CheckpointLevel | None = None


class LimitsPart(SloPart):
    max_duration: Duration | None = None
    max_age: Duration | None = None
    max_loss: Duration | None = None
    p95: Duration | None = None


class ExclusionPart(SloPart):
    id: DnsName
    # `from` is a word of Python.
    start: Annotated[Instant, Field(alias="from")]
    end: Annotated[Instant, Field(alias="to")]
    reason: Line


class TrainingWindows(SloPart):
    """`spec` of the metric source `training-windows`."""

    objective: Objective
    expect: Expect | None = None
    grace: Duration | None = None
    evidence: EvidencePart
    on_missing: OnMissing
    settle: Duration = timedelta(days=2)
    max_misses: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    limits: LimitsPart = LimitsPart()
    source: ListName | None = None
    starts: LocalDate | None = None
    backfilled: bool = False
    exclusions: Annotated[list[ExclusionPart], Field(max_length=500)] = []


class MetricSource(SloPart):
    type: Literal["training-windows"]
    spec: TrainingWindows


class Raw(SloPart):
    metric_source: MetricSource


class RatioMetric(SloPart):
    """OpenSLO's precomputed ratio: good ÷ total of what this service counts."""

    counter: bool | None = None
    raw_type: Literal["success"]
    raw: Raw


class IndicatorSpec(SloPart):
    description: Text | None = None
    ratio_metric: RatioMetric


class Metadata(SloPart):
    name: DnsName
    display_name: Line | None = None
    labels: Labels
    annotations: dict[str, str] | None = None


class IndicatorMetadata(SloPart):
    name: DnsName
    display_name: Line | None = None


class Indicator(SloPart):
    metadata: IndicatorMetadata | None = None
    spec: IndicatorSpec


class CalendarPart(SloPart):
    start_time: LocalStart
    time_zone: ZoneName


class TimeWindow(SloPart):
    duration: PeriodLength
    calendar: CalendarPart | None = None
    is_rolling: bool | None = None


class ObjectivePart(SloPart):
    display_name: Line | None = None
    target: float | None = None
    target_percent: float | None = None
    time_slice_target: float | None = None
    time_slice_window: str | None = None


TimeWindows = Annotated[list[TimeWindow], Field(min_length=1, max_length=1)]


class SloSpec(SloPart):
    description: Text | None = None
    service: DnsName
    indicator: Indicator
    time_window: TimeWindows
    budgeting_method: Literal["Occurrences", "Timeslices"]
    objectives: Annotated[list[ObjectivePart], Field(min_length=1, max_length=1)]


class InvariantSpec(SloPart):
    description: Text | None = None
    service: DnsName
    metric_source: MetricSource
    time_window: TimeWindows


class SloDocument(SloPart):
    api_version: Literal["openslo/v1"]
    kind: Literal["SLO"]
    metadata: Metadata
    spec: SloSpec


class InvariantDocument(SloPart):
    api_version: Literal["shipworthy/v1"]
    kind: Literal["Invariant"]
    metadata: Metadata
    spec: InvariantSpec


Document: TypeAlias = SloDocument | InvariantDocument


def metric_source(document: Document) -> TrainingWindows:
    """What both kinds have in common."""
    if isinstance(document, InvariantDocument):
        return document.spec.metric_source.spec
    return document.spec.indicator.spec.ratio_metric.raw.metric_source.spec
