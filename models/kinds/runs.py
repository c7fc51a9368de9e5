"""Bodies of the facts about a run itself: what it is, what it read, what happened to it."""

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from models.fields import LAX, Count, Digest, Identifier, Instant, Label, RunId, Text, Value
from models.keys.records import Redactable
from models.kinds.facts import ArtifactFact, CheckpointFact, Snapshot
from models.kinds.ingredients import (
    Code,
    Config,
    DatasetName,
    Environment,
    Hardware,
    Interval,
    Seeds,
    Transformation,
)


class Input(Value):
    """What a run read, under a role: a snapshot in full, or the digest of something recorded elsewhere."""

    role: Identifier = Field(description="train, validation, test, base_model, tokenizer …")
    snapshot: Snapshot | None = None
    digest: Digest | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.snapshot is None) == (self.digest is None):
            raise ValueError(
                "needs either `snapshot` (the data in full) or `digest` (recorded elsewhere), not both"
            )
        return self


class RunState(StrEnum):
    """States that a pipeline may report; `lost` and `unknown` are computed when read."""

    QUEUED = "queued"
    RUNNING = "running"
    EVALUATING = "evaluating"
    CHECKPOINTING = "checkpointing"
    PREEMPTED = "preempted"
    RESUMED = "resumed"
    COMPLETED = "completed"
    FAILED = "failed"
    ABORTED = "aborted"


TERMINAL_STATES = frozenset({RunState.COMPLETED, RunState.FAILED, RunState.ABORTED})


class RunEventFact(Value):
    """Something that happened at a time: a state, the start of attempt n, a phase, a note."""

    type: Literal["state", "attempt.started", "phase", "note"]
    at: Instant
    state: Annotated[RunState, LAX] | None = None
    attempt: Annotated[int, Field(ge=1, le=100000)] = 1
    phase: Label | None = None
    step: Count | None = None
    process: Label | None = None
    sequence: Count | None = None
    reason: Text | None = None
    text: Text | None = None
    blob: Digest | None = None

    @model_validator(mode="after")
    def _has_its_value(self) -> Self:
        needed = {"state": "state", "phase": "phase"}.get(self.type)
        if needed is not None and getattr(self, needed) is None:
            raise ValueError(f'is of type "{self.type}" and so needs `{needed}`')
        if self.type == "note" and self.text is None and self.blob is None:
            raise ValueError('is of type "note" and so needs `text` or `blob`')
        return self


class Heartbeat(Value):
    """Whether progress is promised, and after how many seconds of silence a run counts as lost."""

    expected: bool = True
    limit_seconds: Annotated[int, Field(ge=1, le=30 * 86400)] = 600


class ResumedFrom(Value):
    """The checkpoint that training went on from, and the run that made it when it was another one."""

    checkpoint: Digest
    run_id: RunId | None = None


class RedactedPerson(Value):
    """A person as records name one: a pseudonym that compares, and a digest whose value can be erased."""

    owner: Label
    who: Redactable


class RunFact(Value):
    """A run's identity and ingredients. Parts may come later, in a second post that only adds."""

    run_id: RunId
    job: DatasetName
    pipeline: Label | None = None
    team: Label | None = None
    parent_run_id: RunId | None = None
    priority: Label | None = None
    experiment: Label | None = None
    initiated_by: RedactedPerson | Label | None = Field(
        default=None,
        description="the person: sent as an address, stored as a pseudonym and a redactable digest",
    )
    started_at: Instant | None = None
    data_interval: Interval | None = None
    resumed_from: ResumedFrom | None = None
    heartbeat: Heartbeat | None = None
    tags: Annotated[dict[Label, Text], Field(max_length=500)] = Field(default_factory=dict)
    inputs: Annotated[list[Input], Field(max_length=1000)] = Field(default_factory=list)
    transformations: Annotated[list[Transformation], Field(max_length=500)] = Field(default_factory=list)
    code: Code | None = None
    environment: Environment | None = None
    config: Config | None = None
    hardware: Hardware | None = None
    seeds: Seeds | None = None


class RunEvent(RunEventFact):
    run_id: RunId


class RunRegistered(RunFact):
    """One registration: the run, and what it did and made as far as that is known when it is registered."""

    events: Annotated[list[RunEventFact], Field(max_length=5000)] = Field(default_factory=list)
    checkpoints: Annotated[list[CheckpointFact], Field(max_length=5000)] = Field(default_factory=list)
    artifacts: Annotated[list[ArtifactFact], Field(max_length=1000)] = Field(default_factory=list)


KEPT: Final = {"events": "run.event", "checkpoints": "checkpoint.saved", "artifacts": "artifact"}
"""Lists that a registration's record keeps, by the kind of record that each element is when it comes alone."""
