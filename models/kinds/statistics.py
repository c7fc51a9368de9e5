"""The body of a `statistics` record: what a worker measured again from the results of an attempt that has closed.

It holds estimates with their standard errors and no interval: an interval depends on the alpha that a policy leaves
the attempt, and is made when a gate is evaluated.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from models.fields import Count, Digest, Label, Text, Value

StandardError = Annotated[float, Field(ge=0)]


class Measured(Value):
    """One metric of the candidate. `successes` of `trials` where it is a proportion; what could not be measured is
    null and `reason` says why."""

    estimate: float | None
    standard_error: StandardError | None
    n: Count
    method: Label
    successes: Count | None = None
    trials: Count | None = None
    reason: Text | None = None

    @model_validator(mode="after")
    def _is_a_share(self) -> Self:
        if (self.successes is None) != (self.trials is None):
            raise ValueError("gives one of `successes` and `trials`, which go together; give both or neither")
        if self.successes is not None and self.trials is not None and self.successes > self.trials:
            raise ValueError(f"has {self.successes} successes in {self.trials} trials; there can't be more")
        return self


class Difference(Value):
    """Candidate − incumbent on the same examples, paired by their id."""

    estimate: float | None
    standard_error: StandardError | None
    n: Count
    method: Label
    candidate: float | None
    incumbent: float | None
    reason: Text | None = None


MeasuredByName = Annotated[dict[Label, Measured], Field(max_length=500)]
DifferenceByName = Annotated[dict[Label, Difference], Field(max_length=500)]


class SliceStatistics(Value):
    """Metrics of the examples whose `dimension` has this value."""

    dimension: Label
    value: Label
    n: Count
    positives: Count | None = None
    metrics: MeasuredByName = Field(default_factory=dict)
    differences: DifferenceByName = Field(default_factory=dict)


class ReportedMetric(Value):
    """What an evaluation said and what came of measuring again; null when that was not possible."""

    repeat: Count
    metric: Label
    reported: float
    recomputed: float | None
    agrees: bool

    @model_validator(mode="after")
    def _agrees_with_something(self) -> Self:
        if self.agrees and self.recomputed is None:
            raise ValueError("says that it agrees, but nothing was recomputed")
        return self


class Disjointness(Value):
    """Whether evaluation and training data have examples in common; `missing` are the data sets nothing is known of."""

    status: Literal["disjoint", "overlap", "unknown"]
    method: Literal["key-sketch", "declared-split", "none"]
    keys: Count = 0
    overlap: Count = 0
    false_positive_rate: Annotated[float, Field(ge=0)] | None = None
    training: Annotated[list[Digest], Field(max_length=1000)] = Field(default_factory=list)
    missing: Annotated[list[Digest], Field(max_length=1000)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_what_was_found(self) -> Self:
        if self.status == "disjoint" and (self.missing or self.overlap or self.method == "none"):
            raise ValueError(
                "says disjoint, but data is missing, keys overlap or nothing was compared; the status is "
                '"overlap" or "unknown" then'
            )
        return self


class Statistics(Value):
    """`slices_blob` holds the slices when they would make the record too large."""

    format: Literal["shipworthy.statistics/1"] = Field(alias="schema")
    attempt: Digest
    candidate: Digest
    incumbent: Digest | None
    dataset: Digest
    protocol_digest: Digest
    evaluations: Annotated[list[Digest], Field(min_length=1, max_length=100)]
    incumbent_evaluations: Annotated[list[Digest], Field(max_length=100)] = Field(default_factory=list)
    engine: Annotated[dict[Label, Label], Field(max_length=50)]
    seed: Count
    resamples: Count
    outcome: Literal["ok", "error"]
    reason: Text | None = None
    rows: Count | None
    positives: Count | None = None
    metrics: MeasuredByName = Field(default_factory=dict)
    differences: DifferenceByName = Field(default_factory=dict)
    slices: Annotated[list[SliceStatistics], Field(max_length=2000)] = Field(default_factory=list)
    slices_blob: Digest | None = None
    repeats: Annotated[dict[Label, list[float | None]], Field(max_length=500)] = Field(default_factory=dict)
    reported: Annotated[list[ReportedMetric], Field(max_length=20_000)] = Field(default_factory=list)
    disjointness: Disjointness | None = None

    @model_validator(mode="after")
    def _gives_a_reason(self) -> Self:
        if self.outcome == "error" and not self.reason:
            raise ValueError(
                'has the outcome "error", so `reason` must say what could not be measured and why'
            )
        return self
