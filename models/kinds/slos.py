"""Bodies of records about service-level objectives: definitions, the windows that they expect, what became of each
window, and what is left out.

Only definitions and exclusions come from persons. Expected windows and outcomes are the service's own: what it expected
before it could know, and what it made of the evidence, revision by revision.
"""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, JsonValue, model_validator

from models.fields import Bytes, Count, Digest, Instant, Label, Reason, RunId, Value
from models.kinds.ingredients import Interval, Scalar
from models.patterns import DAY_PATTERN, NAME_PATTERN, WINDOW_PATTERN

MAX_EXPECTED_AT_ONCE: Final = 200
"""Windows of one record: some 80 KiB of the 256 that a record may have."""
MAX_SETTLED_AT_ONCE: Final = 100
"""Outcomes of one record: some 50 KiB, unless they name much evidence."""

SloName = Annotated[
    str, Field(pattern=NAME_PATTERN, description='letters, digits and . _ : @ -, no "/", at most 128')
]
SloVersion = Annotated[int, Field(ge=1, le=2**31 - 1)]
WindowId = Annotated[str, Field(min_length=3, max_length=640, pattern=WINDOW_PATTERN)]
Day = Annotated[str, Field(pattern=DAY_PATTERN, description="a date where the SLO is")]
Person = Annotated[str, Field(min_length=1, max_length=64, description="pseudonym")]

WindowStatus = Literal["pending", "met", "met_in_grace", "breached", "unknown", "excluded"]
BreachReason = Literal["late", "never", "failed", "unresolved"]


class SloPublished(Value):
    """One version of a definition. `digest` is that of its bytes as they were sent, which are a blob; `definition` is
    the document in them, `document_digest` that of its RFC 8785 form. The members between are what lists show."""

    name: SloName
    version: SloVersion
    media_type: Label
    digest: Digest
    document_digest: Digest
    size_bytes: Bytes
    kind: Literal["SLO", "Invariant"]
    objective: Label
    service: Label
    team: Label
    target: Annotated[str, Field(max_length=64, description="a decimal number, exact")]
    max_misses: Count | None = None
    definition: dict[str, JsonValue]


class ExpectedWindow(Value):
    """Something is expected by `deadline`, and is waited for until `due`. `day` is the deadline's local date, by which
    windows are summed; `backfilled` says that the deadline had passed when the window was written down; `about` is the
    record of an event that made the window, `run_id` the run of a slice."""

    id: WindowId
    opens_at: Instant
    deadline: Instant
    due: Instant
    deadline_local: Label
    day: Day
    data_interval: Interval | None = None
    holidays: Label | None = None
    tzdata: Label | None = None
    backfilled: bool = False
    run_id: RunId | None = None
    about: Digest | None = None


class WindowsExpected(Value):
    """Windows of a definition's version, in the order of their deadlines. `until` is how far ahead of time the calendar
    is written down with it, None for windows that events made; `withdrawn` are windows of an earlier version that this
    one no longer expects."""

    slo: SloName
    version: SloVersion
    chunk: Label
    until: Instant | None = None
    windows: Annotated[list[ExpectedWindow], Field(max_length=MAX_EXPECTED_AT_ONCE)]
    withdrawn: Annotated[list[WindowId], Field(max_length=MAX_EXPECTED_AT_ONCE)] = Field(default_factory=list)


class Slices(Value):
    """How many slices of time were good, bad, or nobody knows."""

    good: Count
    bad: Count
    unknown: Count


class WindowSettled(Value):
    """What became of a window, by the evidence that was in the log. `revision` counts from 1; `look_again` is when time
    alone may change it; `restatement` says that the SLO's settling time was over. `measured` are the figures that the
    outcome rests on, with units in their names."""

    slo: SloName
    version: SloVersion
    window: WindowId
    revision: Annotated[int, Field(ge=1, le=2**31 - 1)]
    status: WindowStatus
    reason: BreachReason | None = None
    lateness_seconds: float | None = None
    cause: Label | None = None
    layer: Label | None = None
    predicted: bool = False
    restatement: bool = False
    slices: Slices | None = None
    evidence: Annotated[list[Digest], Field(max_length=100)] = Field(default_factory=list)
    run_ids: Annotated[list[RunId], Field(max_length=100)] = Field(default_factory=list)
    measured: Annotated[dict[Label, Scalar], Field(max_length=50)] = Field(default_factory=dict)
    look_again: Instant | None = None
    judged_at: Instant


class WindowsSettled(Value):
    """Outcomes that were found together, of windows of any SLOs: all are stored or none."""

    windows: Annotated[list[WindowSettled], Field(min_length=1, max_length=MAX_SETTLED_AT_ONCE)]

    @model_validator(mode="after")
    def _names_each_window_once(self) -> Self:
        if len({each.window for each in self.windows}) < len(self.windows):
            raise ValueError("names a window twice; give each window one outcome")
        return self


class Exclusion(Value):
    """Windows that count for nothing: those of which any part lies in [`from`, `to`), or those that are named. Without
    `retroactive` a window whose deadline had passed when this was recorded keeps counting."""

    slo: SloName
    from_: Instant | None = Field(default=None, alias="from")
    to: Instant | None = None
    windows: Annotated[list[WindowId], Field(min_length=1, max_length=100)] | None = None
    reason: Reason
    retroactive: bool = False

    @model_validator(mode="after")
    def _names_windows(self) -> Self:
        if (self.from_ is None) != (self.to is None):
            raise ValueError("gives one end of a time; give both `from` and `to`, or `windows`")
        if (self.from_ is None) == (self.windows is None):
            raise ValueError(
                "leaves out either a time (`from` and `to`) or named `windows`; give one of the two"
            )
        if self.from_ is not None and self.to is not None and self.to <= self.from_:
            raise ValueError("ends before it begins; `to` must be later than `from`")
        return self


class SloExcluded(Exclusion):
    """`by` is the person who took it upon himself."""

    by: Person
