"""The body of an `evidence.attested` record: what somebody ran on an artifact, a checkpoint or a snapshot."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from models.fields import MAX_SAFE_INTEGER, Count, Digest, Identifier, Instant, Label, Text, Value


class EvidenceAttested(Value):
    """`kind` says what was run, `subject` on what. Whom it convinces is told by the level of the key, not by it."""

    kind: Identifier = Field(
        description="checkpoint-restore, protected-population, serving-load-test, data-contract or one of your own"
    )
    subject: Digest
    outcome: Literal["passed", "failed", "error"]
    producer: Label = Field(description="what made it: a program with its version, a team")
    produced_at: Instant
    expires_at: Instant | None = None
    report: Digest | None = Field(default=None, description="blob of the report")
    exit_code: Annotated[int, Field(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)] | None = None
    checks: Count | None = Field(default=None, description="how many checks were made")
    rows: Count | None = Field(default=None, description="how many rows were looked at")
    detail: Text | None = None

    @model_validator(mode="after")
    def _passed_something(self) -> Self:
        if self.expires_at is not None and self.expires_at <= self.produced_at:
            raise ValueError("expires before it was produced; `expires_at` must be later than `produced_at`")
        if self.outcome != "passed":
            return self
        if self.exit_code is not None and self.exit_code != 0:
            raise ValueError(
                f"says passed, but the exit code is {self.exit_code}; the outcome is failed or error"
            )
        for name in ("checks", "rows"):
            # An empty suite over an empty table has nothing that fails.
            if getattr(self, name) == 0:
                raise ValueError(f"says passed with 0 {name}; what looked at nothing is an error, not a pass")
        return self
