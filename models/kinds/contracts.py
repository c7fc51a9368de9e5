"""Bodies of records about data contracts: publications, baselines, their approval, and results of checks.

A result binds the answer to bytes: it names the manifest digest of what was read, the contract's and the suite's
digest, the baseline, the parameters and the engine (docs/api.md, "Contract checks").
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from models.fields import (
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
    Text,
    Value,
)
from models.kinds.baselines import BaselineContent
from models.kinds.ingredients import DataPath, Scalar
from models.patterns import NAME_PATTERN

MAX_LISTED_CHECKS: Final = 2000

ContractName = Annotated[
    str, Field(pattern=NAME_PATTERN, description='letters, digits and . _ : @ -, no "/", at most 128')
]
ContractVersion = Annotated[int, Field(ge=1, le=1_000_000)]
ObjectName = Annotated[str, Field(max_length=256)]
"""Name of a table within a contract; "" where the contract has one that is not named."""
Parameters = Annotated[dict[Label, Scalar], Field(max_length=100)]


class Outcome(StrEnum):
    """What became of a check, best first; only the first one lets anything pass."""

    PASSED = "passed"
    NOT_EVALUATED = "not_evaluated"
    FAILED = "failed"
    ERROR = "error"


WORST_LAST: Final = tuple(Outcome)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of them; `passed` of none."""
    return max(outcomes, key=WORST_LAST.index, default=Outcome.PASSED)


class ContractObject(Value):
    """How many checks one table of a contract was compiled into, and how many rules could not be."""

    name: ObjectName
    checks: Count
    blocking: Count
    not_evaluated: Count
    unjudged: Count = Field(
        default=0, description="of those not evaluated, the blocking ones: none lets a check pass"
    )


class ContractPublished(Value):
    """One version of a contract. `digest` is that of its bytes as they were sent, `suite_digest` that of what they
    were compiled into; both are blobs."""

    name: ContractName
    version: ContractVersion
    format: Literal["odcs", "gx"]
    media_type: Label
    digest: Digest
    size_bytes: Bytes
    suite_digest: Digest
    baseline: Digest | None = Field(default=None, description="the baseline that this version pins")
    objects: Annotated[list[ContractObject], Field(max_length=1000)]


class BaselinePublished(Value):
    """Distributions of one snapshot, to compare later data with. `digest` is that of `baseline` as RFC 8785 JSON."""

    digest: Digest
    baseline: BaselineContent
    root: Identifier
    path: DataPath
    requested_by: Label | None = Field(description="pseudonym of the person who asked for it")


class BaselineApproved(Value):
    """Somebody else than who asked for a baseline says that it may be compared with."""

    baseline: Digest
    reason: Reason


class ContractReference(Value):
    """A version of a contract with the digests that make it that one."""

    name: ContractName
    version: ContractVersion
    digest: Digest
    suite_digest: Digest


class CheckedData(Value):
    """The files that were read, as they were hashed before and after."""

    manifest: Digest = Field(description="manifest digest of the files")
    root: Identifier
    path: DataPath
    format: Label | None = None
    files: Count
    bytes: Bytes
    rows: Count | None = None
    schema_digest: Digest | None = None
    footer_digest: Digest | None = None


class Engine(Value):
    name: Label
    versions: Annotated[dict[Label, Label], Field(max_length=20)] = Field(default_factory=dict)


class Histogram(Value):
    """Shares or counts of the baseline and of the data, bin by bin: `labels` name the bins or `edges` bound them."""

    labels: Annotated[list[Text | int | float | bool | None], Field(max_length=256)] | None = None
    edges: Annotated[list[float | Text], Field(max_length=257)] | None = None
    baseline: Annotated[list[float | None], Field(max_length=258)]
    observed: Annotated[list[float | None], Field(max_length=258)]


class CheckResult(Value):
    """One check. `observed` is a number, a share or a count, never a value of the data."""

    id: Line
    type: Label
    column: Line | None = None
    columns: Annotated[list[Line], Field(max_length=100)] | None = None
    severity: Literal["error", "warning", "info"] = "error"
    blocking: bool
    dimension: Label | None = None
    rule: Text | None = Field(default=None, description="JSON pointer into the contract")
    outcome: Annotated[Outcome, LAX]
    observed: int | float | Annotated[str, Field(max_length=1024)] | None = None
    bound: Text | None = None
    rows: Count | None = None
    unexpected: Count | None = None
    nulls: Count | None = None
    reason: Text | None = None
    histogram: Histogram | None = None


class Counts(Value):
    passed: Count = 0
    failed: Count = 0
    error: Count = 0
    not_evaluated: Count = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.error + self.not_evaluated


class ContractChecked(Value):
    """The result of checking one table of a contract version on exact bytes.

    `checks` lists every check, or, with `checks_blob`, those that did not pass. `outcome` is the worst of the
    blocking ones, or worse: `error` with a `reason` when the whole could not be evaluated, `not_evaluated` when
    nothing that the contract states was judged.
    """

    check: Label | None = Field(default=None, description="id of the work that it is the result of")
    contract: ContractReference
    object: ObjectName
    baseline: Digest | None
    parameters: Parameters = Field(default_factory=dict)
    as_of: Instant
    data: CheckedData
    engine: Engine
    started_at: Instant
    completed_at: Instant
    outcome: Annotated[Outcome, LAX]
    reason: Text | None = None
    counts: Counts
    checks: Annotated[list[CheckResult], Field(max_length=MAX_LISTED_CHECKS)]
    checks_blob: Digest | None = None
    run_id: RunId | None = Field(default=None, description="the run that it was made for")
    transformation: Digest | None = Field(
        default=None, description="the transformation whose output was checked"
    )

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        judged = [check.id for check in self.checks if check.outcome is not Outcome.NOT_EVALUATED]
        if len(set(judged)) != len(judged):
            raise ValueError("lists a check twice; each id stands once")
        for outcome in Outcome:
            listed = sum(check.outcome is outcome for check in self.checks)
            counted = getattr(self.counts, outcome)
            if listed > counted or (self.checks_blob is None and listed != counted):
                raise ValueError(
                    f"counts {counted} checks as {outcome}, but lists {listed}; give all of them, or a `checks_blob`"
                )
        found = worst(check.outcome for check in self.checks if check.blocking)
        if WORST_LAST.index(self.outcome) < WORST_LAST.index(found):
            raise ValueError(
                f'says "{self.outcome}", but the worst of the blocking checks is "{found}"; the outcome is that or a '
                "worse one"
            )
        return self
