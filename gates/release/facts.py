"""What is known about a release, as the service gathered it: the only input of a decision beside the policy and now.

The document is kept with the decision, so that anybody can evaluate it again. Its shape is checked as a whole:
when a part of it is malformed, no criterion can be judged, whichever part it is. Numbers stay as they came
(`object`) until a criterion lets them in through `gates.release.numbers`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from gates.release.statistics_facts import Statistics
from gates.release.values import Digest, Grade, Instant, Items, Level, Line, Name, Part

SCHEMA = "shipworthy.facts/1"
Person = Annotated[str, Field(min_length=1, max_length=512)]
"""The pseudonym of an owning person, as in the envelope of a record."""

DatasetName = Annotated[str, Field(min_length=1, max_length=769)]
"""Namespace, "/" and name."""


class Checksum(Part):
    outcome: Literal["passed", "failed"]
    level: Level
    at: Instant
    expires_at: Instant | None = None
    record: Digest


class Artifact(Part):
    digest: Digest
    size_bytes: object = None
    serialization: str | None = None
    records: Items[Digest] = ()
    checksum: Checksum | None = None
    checkpoint: Digest | None = None
    """The checkpoint that the artifact was made from: a restore of it speaks for the artifact."""


class PolicyReference(Part):
    name: str
    version: int
    digest: Digest
    document_digest: Digest
    owner: Person | None
    record: Digest
    revoked: bool


class Snapshot(Part):
    role: Name
    digest: Digest
    grade: Grade
    record: Digest
    revoked: bool
    contested: bool


class Git(Part):
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None
    dirty: bool | None


class TrainingRun(Part):
    run_id: Name
    record: Digest
    owner: Person | None
    owners: Items[Person] = ()
    """All who made the artifact: who started the run, and whose key recorded it."""
    family_digest: Digest | None = None
    recipe_digest: Digest | None = None
    git: Git | None = None
    image: Digest | None = None
    snapshots: Items[Snapshot]


class Incumbent(Part):
    artifact: Digest | None
    how: Literal["promotion", "observed", "decision", "none"]
    record: Digest | None


class Attempt(Part):
    id: Digest
    number: object
    state: Literal["open", "closed", "abandoned"]
    opened_at: Instant
    level: Level
    candidate: Digest
    dataset: Digest
    evaluator: Digest
    config: Digest
    protocol_digest: Digest
    incumbent: Digest | None
    revoked: bool


class Extension(Part):
    records: Items[Digest]
    extra: object
    owners: Items[Person]
    reason: str


class Attempts(Part):
    count: object
    other_namespaces: object = None
    extensions: Items[Extension]


class Evaluation(Part):
    record: Digest
    registered: bool


class Dataset(Part):
    digest: Digest
    dataset: DatasetName
    row_count: object = None
    record: Digest
    received_at: Instant
    revoked: bool
    contested: bool


class OtherRun(Part):
    """A run of the same family or recipe that was measured under the same protocol."""

    run_id: Name
    seeds_digest: Digest | None
    artifact: Digest
    record: Digest
    rests_on: Items[Digest] = ()
    """The attempt and its results, which the statistics in `record` were made of."""
    level: Level
    dataset: Digest
    protocol_digest: Digest
    metrics: dict[str, object]


class Evidence(Part):
    kind: str
    subject: Digest
    outcome: Literal["passed", "failed", "error"]
    level: Level
    produced_at: Instant
    received_at: Instant
    expires_at: Instant | None
    checks: object = None
    rows: object = None
    record: Digest
    revoked: bool


class Review(Part):
    """Bound to one artifact, policy version and target: it says nothing about any other."""

    record: Digest
    action: Literal["request", "approve", "deny"]
    owner: Person | None
    groups: Items[str]
    artifact: Digest
    gate: str
    policy_version: int
    to: str
    at: Instant
    expires_at: Instant | None
    revoked: bool


class Waiver(Part):
    record: Digest
    criterion: str
    owner: Person | None
    artifact: Digest
    gate: str
    policy_version: int
    to: str
    starts_at: Instant
    expires_at: Instant
    revoked: bool


class Facts(Part):
    schema_name: Annotated[Literal["shipworthy.facts/1"], Field(alias="schema")]
    namespace: Line
    model: Name
    to: Name
    version: str | None = None
    artifact: Artifact
    policy: PolicyReference
    training_run: TrainingRun | None
    incumbent: Incumbent
    attempt: Attempt | None
    attempts: Attempts
    evaluations: Items[Evaluation]
    statistics: Statistics | None
    dataset: Dataset | None
    family: Items[OtherRun]
    """The newest first, as `repeats`."""
    repeats: Items[OtherRun]
    evidence: Items[Evidence]
    reviews: Items[Review]
    waivers: Items[Waiver]
    contested: Items[Digest] = ()
    """Records of all the above that somebody contested; data says so itself."""
    flags: Items[Literal["business-conditions-changed"]]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A document that is no facts; `place` is where, `why` what is wrong there."""

    place: str
    why: str


def read_facts(document: Mapping[str, object]) -> Facts | Malformed:
    """Never raises: a document that can't be read is a fact too, and blocks."""
    try:
        return Facts.model_validate(dict(document) if isinstance(document, Mapping) else document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return Malformed("/".join(str(part) for part in first["loc"]), first["msg"])
