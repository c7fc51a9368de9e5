"""What is asked of workers, what they say, and how work is shown."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from models.fields import LAX, Count, Digest, Identifier, Instant, Label, Reason, RunId, Value, instant_text
from models.kinds.contracts import ContractName, ContractVersion, ObjectName, Parameters
from models.kinds.ingredients import DataPath
from models.patterns import LINE_PATTERN, TOKEN_PATTERN
from models.work.states import WorkItem, WorkKind

MAX_WAIT_SECONDS = 30


class Target(Value):
    """The data: a snapshot that was recorded with its location, or a path beneath a registered root."""

    snapshot: Digest | None = None
    root: Identifier | None = None
    path: DataPath | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.root is None) != (self.path is None):
            raise ValueError("gives one of `root` and `path`, which go together; give both or neither")
        return self


class CheckRequest(Target):
    """A check of one table of a contract. `as_of` is the moment at which ages are told; by default that of the
    request."""

    contract: ContractName
    version: ContractVersion | None = Field(
        default=None, description="refused when it is not the current one"
    )
    object: ObjectName | None = Field(default=None, description="may be left out when the contract has one")
    baseline: Digest | None = Field(default=None, description="refused when it is not the one that is pinned")
    as_of: Instant | None = None
    parameters: Parameters = Field(default_factory=dict)
    run_id: RunId | None = None
    transformation: Digest | None = Field(
        default=None, description="the transformation whose output is checked"
    )

    @model_validator(mode="after")
    def _names_data(self) -> Self:
        if self.snapshot is None and self.root is None and self.transformation is None:
            raise ValueError("names no data; give `snapshot`, `root` and `path`, or `transformation`")
        return self


Columns = Annotated[list[Label], Field(max_length=500)]


class BaselineRequest(Target):
    """A baseline to be made: bins and quantiles of `numbers`, the values of `labels` with their counts."""

    numbers: Columns = Field(default_factory=list)
    labels: Columns = Field(default_factory=list)
    bins: Annotated[int, Field(ge=2, le=100)] = 10

    @model_validator(mode="after")
    def _something_to_measure(self) -> Self:
        if self.snapshot is None and self.root is None:
            raise ValueError("names no data; give `snapshot`, or `root` and `path`")
        if not self.numbers and not self.labels:
            raise ValueError("names no column; give `numbers` or `labels`")
        if set(self.numbers) & set(self.labels):
            raise ValueError("names a column both as number and as label; choose one")
        return self


class VerificationRequest(Value):
    """A checkpoint that a worker is to look at; where it lies is said here or was recorded with it."""

    checkpoint: Digest
    root: Identifier | None = None
    path: DataPath | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.root is None) != (self.path is None):
            raise ValueError("gives one of `root` and `path`, which go together; give both or neither")
        return self


Lease = Annotated[str, Field(pattern=TOKEN_PATTERN, description="the token that the claim answered")]


class Claim(Value):
    """What a worker can do, where it can read, and how long it waits for work. Without roots it gets work that reads
    none, such as statistics."""

    kinds: Annotated[list[Annotated[WorkKind, LAX]], Field(min_length=1, max_length=10)]
    roots: Annotated[list[Identifier], Field(max_length=1000)]
    wait_seconds: Annotated[float, Field(ge=0, le=MAX_WAIT_SECONDS)] = 0
    lease: Lease | None = Field(
        default=None,
        description="a random token that the worker chose: sent again, it gives the work that it gave before",
    )


class ReportedProgress(Value):
    done: Count | None = None
    total: Count | None = None
    text: Annotated[str, Field(max_length=256, pattern=LINE_PATTERN)] | None = None


class Renewal(Value):
    lease: Lease
    progress: ReportedProgress | None = None


class WorkError(Value):
    """Why there is no result; with `retry` it is tried again, at most three times in all."""

    code: Identifier
    message: Reason
    retry: bool


class Completion(Value):
    """A result, the body of the record that it becomes, or an error."""

    lease: Lease
    result: dict[str, Any] | None = None
    error: WorkError | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.result is None) == (self.error is None):
            raise ValueError("give either `result` or `error`")
        return self


def work_json(item: WorkItem, now: datetime) -> dict[str, Any]:
    """Work as answers show it; whoever was given a lease knows it, nobody else is told."""
    state, reason = item.state_at(now)
    return {
        "id": item.id,
        "kind": item.kind,
        "state": state,
        "reason": reason,
        "attempt": item.attempt,
        "requested_at": instant_text(item.created_at),
        "finished_at": instant_text(item.finished_at),
        "progress": {
            "done": item.progress_done,
            "total": item.progress_total,
            "text": item.progress_text,
        },
        "record": item.record,
    }
