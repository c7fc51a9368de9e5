"""The part of the facts that a worker computed: estimates with their standard errors, as its record has them."""

from typing import Annotated, Literal

from pydantic import Field

from gates.release.values import Digest, Instant, Items, Level, Part


class Reported(Part):
    repeat: object
    metric: str
    reported: object
    recomputed: object
    agrees: bool


class Measured(Part):
    """An estimate of a metric. `successes` of `trials` where it is a proportion."""

    estimate: object
    standard_error: object
    n: object
    method: str
    successes: object = None
    trials: object = None


class Difference(Part):
    """Candidate − incumbent, paired on the examples."""

    estimate: object
    standard_error: object
    n: object
    method: str
    candidate: object
    incumbent: object


class Slice(Part):
    dimension: str
    value: str
    n: object
    positives: object = None
    metrics: dict[str, Measured]
    differences: dict[str, Difference]


class Disjointness(Part):
    status: Literal["disjoint", "overlap", "unknown"]
    method: Literal["key-sketch", "declared-split", "none"]
    keys: object = None
    overlap: object = None
    false_positive_rate: object = None
    training: Items[Digest]
    missing: Items[Digest]


class Statistics(Part):
    """What a worker computed when the attempt closed."""

    schema_name: Annotated[Literal["shipworthy.statistics/1"], Field(alias="schema")]
    attempt: Digest
    candidate: Digest
    incumbent: Digest | None
    dataset: Digest
    protocol_digest: Digest
    evaluations: Annotated[Items[Digest], Field(min_length=1)]
    incumbent_evaluations: Items[Digest] = ()
    seed: object = None
    outcome: Literal["ok", "error"]
    reason: str | None = None
    rows: object
    metrics: dict[str, Measured]
    differences: dict[str, Difference]
    slices: Items[Slice]
    reported: Items[Reported]
    disjointness: Disjointness
    record: Digest
    level: Level
    received_at: Instant
    revoked: bool
