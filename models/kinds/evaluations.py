"""Bodies of records about evaluations: results, and the attempts that are opened before a result is known.

An attempt is one candidate under one protocol on one snapshot. Its id is the digest of its record, and what identifies
it is candidate, dataset, evaluator, config and `retry`: sent again it is the same attempt.
"""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from models.fields import Count, Digest, Identifier, Instant, Label, Line, Reason, RunId, Value
from models.kinds.ingredients import Scalar
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

DEFAULT_TIMEOUT_SECONDS: Final = 86_400

Task = Literal["binary", "multiclass", "regression"]


class Report(Value):
    """An evaluation report kept as a blob until `retain_until`."""

    digest: Digest
    uri: Line | None = None
    retain_until: Instant | None = None


class MetricSummary(Value):
    """Sufficient statistics of one metric: n and, where it has them, mean, sd and counts."""

    n: Count
    mean: float | None = None
    sd: Annotated[float, Field(ge=0)] | None = None
    positives: Count | None = None


Metrics = Annotated[dict[Label, float], Field(max_length=2000)]


class EvaluationSlice(Value):
    """Metrics of one part of the evaluation data, such as country = NO."""

    dimension: Label
    value: Label
    metrics: Metrics
    statistics: dict[Label, MetricSummary] = Field(default_factory=dict)


class EvaluationFact(Value):
    """Measurements on one data snapshot, of one artifact or checkpoint (`subject`) or, without a subject, of the
    training state that a run was in at `step`: most training logs name no digest for what they measured."""

    subject: Digest | None = None
    metrics: Metrics
    evaluator: Digest | None = Field(default=None, description="image digest of the evaluator")
    protocol: dict[str, Scalar | list[Scalar]] = Field(default_factory=dict)
    dataset: Digest | None = Field(default=None, description="snapshot that was evaluated on")
    statistics: Annotated[dict[Label, MetricSummary], Field(max_length=2000)] = Field(default_factory=dict)
    slices: Annotated[list[EvaluationSlice], Field(max_length=2000)] = Field(default_factory=list)
    repeat: Count = 0
    per_example: Digest | None = Field(default=None, description="blob of per-example results")
    report: Report | None = None
    step: Count | None = None
    started_at: Instant | None = None
    completed_at: Instant | None = None


class EvaluationCompleted(EvaluationFact):
    """Measurements that came on their own; with `attempt` they are the result of one of its repeats."""

    run_id: RunId | None = None
    attempt: Digest | None = Field(default=None, description="the attempt that was opened for it")

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if self.subject is None and self.run_id is None:
            raise ValueError(
                "needs `subject`, the digest of what was measured, or `run_id`, the run it was part of"
            )
        if self.attempt is None:
            return self
        for name in ("subject", "dataset", "evaluator"):
            if getattr(self, name) is None:
                raise ValueError(
                    f"is the result of an attempt, so `{name}` must say again what the attempt says"
                )
        if self.per_example is None and not self.statistics:
            raise ValueError(
                "is the result of an attempt, so give `per_example`, the digest of a blob of per-example results, or "
                "`statistics`, from which intervals can be made"
            )
        return self


class EvaluationAttempted(Value):
    """An evaluation that is about to be made, declared before its result is known. `threshold` is the score from which
    on a binary prediction is positive."""

    model: Identifier
    candidate: Digest = Field(description="the artifact that is measured")
    incumbent: Digest | None = Field(default=None, description="the artifact that it is compared with")
    dataset: Digest = Field(description="the snapshot that is evaluated on")
    evaluator: Digest = Field(description="image digest of the evaluator")
    config: Digest = Field(description="digest of the evaluator's configuration")
    task: Task
    threshold: float = 0.5
    repeats: Annotated[int, Field(ge=1, le=100)]
    retry: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    timeout_seconds: Annotated[int, Field(ge=60, le=2_592_000)] = DEFAULT_TIMEOUT_SECONDS

    @model_validator(mode="after")
    def _compares_two(self) -> Self:
        if self.incumbent == self.candidate:
            raise ValueError(
                "compares the candidate with itself; leave `incumbent` out, or name another artifact"
            )
        return self

    @property
    def identity(self) -> str:
        """What makes it this attempt. The model's name is no part of it: another name opens no other attempt."""
        return f"{self.candidate}|{self.dataset}|{self.evaluator}|{self.config}|{self.retry}"

    @property
    def protocol_digest(self) -> str:
        """How both models must have been measured: sha256 of the RFC 8785 form of these four members."""
        return sha256_digest(
            canonicalize(
                {
                    "evaluator": self.evaluator,
                    "config": self.config,
                    "task": self.task,
                    "threshold": self.threshold,
                }
            )
        )


class EvaluationAbandoned(Value):
    """An attempt that ended without all of its results. It counts like any other."""

    attempt: Digest
    reason: Reason


class AttemptsExtended(Value):
    """More attempts on a snapshot than a policy's budget. It counts once two persons said the same."""

    dataset: Digest
    extra: Annotated[int, Field(ge=1, le=1000)]
    reason: Reason
