"""How candidate and incumbent must have been measured, and the digest that says so in one word."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field

from gates.release.values import Digest, Duration, Line, Name, PolicyPart, Task
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize


class EvaluationData(PolicyPart):
    id: Line
    """Name of the data set; the digest decides."""
    snapshot: Digest
    max_age: Duration | None = None
    """Since the service received the snapshot."""
    disjoint_from_training: Literal["required", "reported"] = "required"
    """reported: shown in the decision, asks for nothing."""
    minimum_rows: Annotated[int, Field(ge=1)]


class IncumbentRule(PolicyPart):
    resolve: Literal["alias"]
    alias: Name
    on_none: Literal["first-release", "block"]
    """first-release: comparisons ask people instead; block: they are errors like any other missing value."""


class AttemptRule(PolicyPart):
    count_per: Literal["dataset-snapshot"]
    budget: Annotated[int, Field(ge=1, le=1000)]
    alpha: Annotated[float, Field(gt=0, le=0.2)]
    """The chance, over all attempts together, that a criterion passes by luck."""
    spending: Literal["harmonic-square"]
    on_budget_spent: Literal["block"]


class Protocol(PolicyPart):
    evaluator: Digest
    config: Digest
    task: Task = "binary"
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Where a score becomes the positive class. Part of the protocol: recall at threshold 0 is always 1."""
    dataset: EvaluationData
    incumbent: IncumbentRule
    attempts: AttemptRule

    @property
    def digest(self) -> str:
        return protocol_digest(self.evaluator, self.config, self.task, self.threshold)


@lru_cache(maxsize=256)
def protocol_digest(evaluator: str, config: str, task: str, threshold: float) -> str:
    """What must be equal for two measurements to be comparable: SHA-256 of the RFC 8785 form of these members. An
    attempt of a task that has no threshold carries the default one."""
    document: Mapping[str, str | float] = {
        "evaluator": evaluator,
        "config": config,
        "task": task,
        "threshold": threshold,
    }
    return sha256_digest(canonicalize(document))
