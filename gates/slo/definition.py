"""What was promised: an SLO or an Invariant as everything else reads it. `loading` makes it from a document."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from gates.release.values import Level
from gates.slo.periods import Period

Kind: TypeAlias = Literal["SLO", "Invariant"]
Objective: TypeAlias = Literal[
    "deadline", "duration", "freshness", "ratio", "retention", "resume-loss", "queue-delay"
]
OnMissing: TypeAlias = Literal["breach", "unknown", "exclude"]
Event: TypeAlias = Literal[
    "snapshot.approved",
    "run.completed",
    "evaluation.completed",
    "decision.passed",
    "report.retained",
    "model.registered",
    "run.resumed",
    "checkpoint.verified",
    "run.started",
]
Scheduled: TypeAlias = Literal["business_days", "weekly", "monthly_business_day", "cron", "dates"]
CheckpointLevel: TypeAlias = Literal["written", "complete", "checksummed", "loaded", "restore_tested"]

CHECKPOINT_LEVELS: Final[tuple[CheckpointLevel, ...]] = (
    "written",
    "complete",
    "checksummed",
    "loaded",
    "restore_tested",
)
"""Weakest first."""

WINDOWED: Final[frozenset[Objective]] = frozenset({"deadline", "duration", "retention", "queue-delay"})
"""Objectives that are counted by expected windows. Freshness is counted by slices of five minutes, ratio and
resume-loss by events."""

BOUND_BY_INTERVAL: Final[frozenset[Objective]] = frozenset({"deadline", "duration"})
"""Objectives whose evidence belongs to the window whose data interval it covers; that of the others belongs to the
window or period in which it occurred."""

LAYERS: Final[Mapping[Event, str]] = {
    "snapshot.approved": "data",
    "run.completed": "training",
    "evaluation.completed": "evaluation",
    "decision.passed": "release",
    "report.retained": "evaluation",
    "model.registered": "release",
    "run.resumed": "training",
    "checkpoint.verified": "checkpoint",
    "run.started": "scheduler",
}
"""The layer in which a miss shows."""


@dataclass(frozen=True, slots=True)
class Override:
    """What one local date does otherwise: no window (skip), a window on a holiday (run), or another local deadline."""

    action: Literal["skip", "run", "by"]
    by: time | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """When windows open, and by when they must be met. All clock times are local to `time_zone`.

    A window opens at `opens` of its local date (cron: at the tick). Its deadline is the first local `by` after that, or
    `within` (elapsed time) later. Exactly one of the two is given. `covers`: how much data its interval holds, which
    ends when the window opens; None: all since the window before opened.
    """

    scheduled: Scheduled
    time_zone: str
    opens: time = time(0)
    by: time | None = None
    within: timedelta | None = None
    covers: timedelta | None = None
    weekdays: tuple[int, ...] = ()
    """weekly: 0 = Monday."""
    business_day: int = 0
    """monthly_business_day: 1 = the first of the month, -1 = the last."""
    cron: str = ""
    dates: tuple[date, ...] = ()
    calendars: tuple[str, ...] = ()
    overrides: Mapping[date, Override] | None = None
    gap: Literal["shift_forward", "skip"] = "shift_forward"
    """A local time that a clock change leaves out is read with the offset before it (02:30 becomes 03:30), or
    dropped."""
    fold: Literal["first", "last"] = "first"
    """Which one of a local time that a clock change brings twice."""


@dataclass(frozen=True, slots=True)
class EvidenceRule:
    """What counts: the event, and what it must be about. None: any."""

    event: Event
    bound_by: Literal["data-interval"] | None = None
    dataset: str | None = None
    contract: str | None = None
    job: str | None = None
    gate: str | None = None
    model: str | None = None
    level: Level = "trusted_runner"
    """Least level of evidence that can be produced by a client: contract results, evaluations, verified checkpoints."""
    checkpoint_level: CheckpointLevel | None = None
    """freshness: least level of the checkpoint."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The one limit of an objective that measures something; the others are None."""

    max_duration: timedelta | None = None
    """duration: from the start of the first attempt to the successful end."""
    max_age: timedelta | None = None
    """freshness: since the checkpoint's training-state time."""
    max_loss: timedelta | None = None
    """resume-loss: steps lost × step time."""
    p95: timedelta | None = None
    """queue-delay: 95th percentile of start − submission, by team and priority."""


@dataclass(frozen=True, slots=True)
class PlannedExclusion:
    """A span that the author took out in the definition. It excludes only windows that open after the definition was
    published: what is over is taken out by an approver (record `slo.excluded`)."""

    id: str
    start: datetime
    end: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Definition:
    """`target` lies between 0 and 1 for an SLO and is 1 for an Invariant. `digest` is that of the bytes,
    `document_digest` that of their RFC 8785 form; `lines` is keyed by JSON pointer."""

    name: str
    kind: Kind
    display_name: str
    description: str
    service: str
    team: str
    objective: Objective
    target: Fraction
    max_misses: int | None
    on_missing: OnMissing
    grace: timedelta
    settle: timedelta
    expect: Schedule | None
    """None for objectives that are not WINDOWED."""
    evidence: EvidenceRule
    source: str | None
    """Name of the source whose heartbeats prove that an absence is one."""
    period: Period
    limits: Limits
    labels: Mapping[str, str]
    exclusions: tuple[PlannedExclusion, ...]
    backfilled: bool
    starts: date | None
    """First local date of a window; None: from publication on."""
    digest: str
    document_digest: str
    lines: Mapping[str, int]

    @property
    def time_zone(self) -> str:
        """The zone in which dates of this promise are meant."""
        return self.expect.time_zone if self.expect is not None else self.period.time_zone

    @property
    def layer(self) -> str:
        return LAYERS[self.evidence.event]

    @property
    def limit(self) -> timedelta | None:
        """What `measured` of an evidence item must not exceed; None when nothing is measured."""
        limits = self.limits
        return next(
            (
                each
                for each in (limits.max_duration, limits.max_loss, limits.p95, limits.max_age)
                if each is not None
            ),
            None,
        )
