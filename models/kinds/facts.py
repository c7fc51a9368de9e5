"""Bodies of the facts about what runs read and write: snapshots, checkpoints, artifacts, versions of models.

A `…Fact` is what a request nests under its run; the class that adds the `run_id` is the body of a record of its own.
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from models.fields import (
    DISTINCT,
    LAX,
    Bytes,
    Count,
    Digest,
    Identifier,
    Instant,
    Label,
    Line,
    Reason,
    RunId,
    Seconds,
    Text,
    Value,
)
from models.kinds.ingredients import (
    DatasetName,
    DataVersion,
    Grade,
    Interval,
    Location,
)
from models.patterns import NAME_PATTERN

IMMUTABLE_STORES = frozenset({"iceberg", "delta", "lakefs", "dvc", "git", "object_version"})


class KeySketch(Value):
    """Keys of the rows, so that two data sets can be compared without either: a blob of sorted unique 64-bit keys
    (shipworthy.formats.key_sketch) made from these columns."""

    blob: Digest
    count: Count
    columns: Annotated[list[Label], Field(min_length=1, max_length=50), DISTINCT]


class Split(Value):
    """The part of a whole that the data is. Two parts of different name, of the same whole by the same method, have no
    row in common, as far as that is believed."""

    name: Label = Field(description="train, test …")
    of: Label = Field(description="digest of the whole, or the name of the data set")
    method: Line = Field(description="how it was divided, with the seed")


class Snapshot(Value):
    """Data as it was read. `digest` is the manifest digest; without one the version names it."""

    dataset: DatasetName
    grade: Annotated[Grade, LAX]
    digest: Digest | None = None
    version: DataVersion | None = None
    extraction: Interval | None = None
    row_count: Count | None = None
    size_bytes: Bytes | None = None
    schema_digest: Digest | None = None
    footer_digest: Digest | None = Field(default=None, description="of the Parquet footers")
    uri: Line | None = None
    location: Location | None = None
    key_sketch: KeySketch | None = None
    split: Split | None = None
    reason: Text | None = Field(default=None, description="why the version is not known")

    @model_validator(mode="after")
    def _grade_is_earned(self) -> Self:
        if self.grade in (Grade.CONTENT, Grade.MANIFEST) and self.digest is None:
            raise ValueError(
                f'is graded "{self.grade}" and so needs `digest`, the sha256 of the file manifest'
            )
        if self.grade is Grade.STORE and (self.version is None or self.version.kind not in IMMUTABLE_STORES):
            kinds = ", ".join(sorted(IMMUTABLE_STORES))
            raise ValueError(f'is graded "store" and so needs a `version` of kind {kinds}')
        if self.grade in (Grade.SAMPLED, Grade.DECLARED) and self.version is None and self.digest is None:
            raise ValueError(f'is graded "{self.grade}" and so needs a `version` or a `digest`')
        if self.grade is Grade.NONE and (self.version is not None or self.digest is not None):
            raise ValueError(
                'is graded "none", which says that nothing identifies the data; grade what is given "declared"'
            )
        return self


class CheckpointPart(StrEnum):
    MODEL = "model"
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    RNG = "rng"
    DATA_POSITION = "data_position"


CheckpointParts = Annotated[list[Annotated[CheckpointPart, LAX]], Field(max_length=5), DISTINCT]


class CheckpointLevel(StrEnum):
    """How far a checkpoint is proven, weakest first."""

    WRITTEN = "written"
    COMPLETE = "complete"
    CHECKSUMMED = "checksummed"
    LOADED = "loaded"
    RESTORE_TESTED = "restore_tested"


LEVEL_ORDER = tuple(CheckpointLevel)


class CheckpointFact(Value):
    """A saved training state. `trained_until` is the training-state time, from which its age counts."""

    digest: Digest = Field(description="manifest digest")
    step: Count
    trained_until: Instant
    save_started_at: Instant | None = None
    save_completed_at: Instant | None = None
    duration_seconds: Seconds | None = None
    size_bytes: Bytes | None = None
    uri: Line | None = None
    location: Location | None = None
    retain_until: Instant | None = None
    contains: CheckpointParts = Field(default_factory=list)
    level: Literal["written", "complete", "checksummed"] = "written"
    parent: Digest | None = None

    @model_validator(mode="after")
    def _ends_after_it_began(self) -> Self:
        started, completed = self.save_started_at, self.save_completed_at
        if started is not None and completed is not None and completed < started:
            raise ValueError("was saved before saving began; `save_completed_at` must not be earlier")
        return self


class ArtifactFact(Value):
    """A product of a run: the model, its tokenizer, a report."""

    digest: Digest = Field(description="manifest digest")
    role: Identifier = "model"
    uri: Line | None = None
    location: Location | None = None
    size_bytes: Bytes | None = None
    serialization: Label | None = None
    checkpoint: Digest | None = Field(default=None, description="the checkpoint it was made from")


class ModelVersionFact(Value):
    """Binds a registry's name and version to an artifact digest."""

    model: Identifier
    version: Annotated[str, Field(pattern=NAME_PATTERN)]
    artifact: Digest
    registry: Identifier = "default"
    tags: Annotated[dict[Label, Text], Field(max_length=200)] = Field(default_factory=dict)


class CheckpointSaved(CheckpointFact):
    run_id: RunId


class Artifact(ArtifactFact):
    run_id: RunId


class ModelVersion(ModelVersionFact):
    run_id: RunId


class CheckpointVerified(Value):
    """The outcome of looking at a checkpoint: `level` was reached, or was tried and failed."""

    checkpoint: Digest
    level: Annotated[CheckpointLevel, LAX]
    outcome: Literal["passed", "failed"]
    checked_at: Instant
    contains: CheckpointParts = Field(default_factory=list)
    method: Text | None = None
    detail: Text | None = None


class Revocation(Value):
    """Takes a record back: its bytes stay, every view shows it as revoked or contested from then on."""

    record: Digest
    effect: Literal["revoked", "contested"]
    reason: Reason
