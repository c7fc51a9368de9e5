"""What a worker hands in for a checkpoint that it looked at; it becomes `checkpoint.verified` records, one a level."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from models.fields import Bytes, Count, Digest, Identifier, Instant, Reason, Value
from models.kinds.ingredients import DataPath


class LevelOutcome(Value):
    """One level that was tried. A worker runs no code of a checkpoint, so that `loaded` is the highest it can show."""

    level: Literal["checksummed", "loaded"]
    outcome: Literal["passed", "failed"]
    detail: Reason


class VerificationResult(Value):
    """`manifest` is the digest of what lies there, null when nothing does."""

    checkpoint: Digest
    root: Identifier
    path: DataPath
    manifest: Digest | None
    files: Count
    bytes: Bytes
    checked_at: Instant
    outcomes: Annotated[list[LevelOutcome], Field(min_length=1, max_length=2)]

    @model_validator(mode="after")
    def _bytes_decide(self) -> Self:
        levels = [each.level for each in self.outcomes]
        if levels not in (["checksummed"], ["checksummed", "loaded"]):
            raise ValueError(
                "has `outcomes` that name a level twice or don't begin with the level checksummed"
            )
        is_same = self.manifest == self.checkpoint
        if (self.outcomes[0].outcome == "passed") != is_same:
            raise ValueError(
                "says otherwise than its `manifest`: checksummed passed exactly when that is the checkpoint's digest"
            )
        if not is_same and len(levels) > 1:
            raise ValueError("names the outcome of loading other bytes than those of the checkpoint")
        return self
