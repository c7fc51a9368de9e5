"""Bodies of records about release gates: policies, reviews, waivers, break-glass and decisions.

Whoever approves is named in the body by pseudonym and groups as the service found them under the key: two persons who
say the same words are two records, and whoever checks offline sees who they were.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from models.fields import Bytes, Count, Digest, Identifier, Instant, Label, Line, Reason, Seconds, Text, Value
from models.patterns import NAME_PATTERN

GateName = Annotated[
    str, Field(pattern=NAME_PATTERN, description='letters, digits and . _ : @ -, no "/", at most 128')
]
GateVersion = Annotated[int, Field(ge=1, le=2**31 - 1)]
Target = Annotated[Identifier, Field(description='"registration", an alias or a stage of the registry')]
VersionName = Annotated[str, Field(pattern=NAME_PATTERN)]
CriterionId = Annotated[str, Field(min_length=1, max_length=128)]
Person = Annotated[str, Field(min_length=1, max_length=64, description="pseudonym")]
Groups = Annotated[list[Label], Field(max_length=100)]
Facts = dict[str, JsonValue]
"""A JSON object whose members docs/gates.md lists; what judges it reads it strictly."""


class AppliesTo(Value):
    """Where the gate stands. `valid_for_seconds` is how long a pass may be used for promotion."""

    model: Identifier
    to: Target
    valid_for_seconds: Seconds | None = None


class GatePublished(Value):
    """One version of a policy. `digest` is that of its bytes as they were sent, which are a blob, `document_digest`
    that of the RFC 8785 form of the document in them."""

    name: GateName
    version: GateVersion
    media_type: Label
    digest: Digest
    document_digest: Digest
    size_bytes: Bytes
    applies_to: AppliesTo
    criteria: Annotated[list[CriterionId], Field(min_length=1, max_length=1000)]
    reason: Text | None = None


class Judged(Value):
    """What a review, a waiver or a decision is bound to: nothing of it survives another artifact or policy version."""

    gate: GateName
    policy_version: GateVersion
    model: Identifier
    artifact: Digest
    to: Target


class Review(Judged):
    """What a person says of a decision. `expires_at` None leaves the time that the policy gives."""

    decision: Digest
    reason: Reason
    expires_at: Instant | None = None
    by: Person | None
    groups: Groups


class Waiver(Judged):
    """A person takes responsibility for one criterion that this artifact does not meet."""

    criterion: CriterionId
    reason: Reason
    expires_at: Instant
    by: Person
    groups: Groups


class BreakGlassAsked(Value):
    """A person wants an artifact to go to a place in spite of its gate; with a second person's it is decided."""

    model: Identifier
    version: VersionName | None = None
    artifact: Digest
    to: Target
    reason: Reason
    expires_at: Instant
    by: Person


class DecidedArtifact(Value):
    digest: Digest
    size_bytes: Bytes | None


class DecidedGate(Value):
    """The policy that decided; `owner` is the person who published it."""

    name: GateName
    version: GateVersion
    digest: Digest
    document_digest: Digest
    owner: Person | None


class InputReference(Value):
    """A record that was read. `key` is that of its actor: a pass falls with the key of what it rests on."""

    role: Label
    record: Digest
    key: Label


class AsOf(Value):
    """A head of the log which every input is older than; `root` is `sha256:` and hex."""

    origin: Label
    size: Count
    root: Digest


class Predicate(Value):
    """The decision itself."""

    type: Literal["gate", "break_glass"]
    mode: Literal["enforce", "shadow"]
    verdict: Literal["passed", "review_required", "blocked", "break_glass"]
    sentence: Text
    namespace: Label
    model: Identifier
    version: VersionName | None
    to: Target
    artifact: DecidedArtifact
    training_run: Facts | None
    incumbent: Facts | None
    gate: DecidedGate | None
    protocol_digest: Digest | None
    attempt: Facts | None
    criteria: list[Facts]
    counts: dict[Label, Count]
    warnings: list[CriterionId]
    triggers: list[Label]
    inputs: list[InputReference]
    facts: Digest | None
    reviews: list[Facts]
    waivers: list[Facts]
    separation: Facts
    unblocks: list[Text]
    evaluator: Facts
    evaluated_at: Instant
    valid_until: Instant | None
    supersedes: Digest | None
    as_of: AsOf = Field(alias="asOf")


class Subject(Value):
    name: Identifier
    digest: dict[Label, Label]


class Statement(Value):
    """An in-toto Statement v1."""

    type: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: Annotated[list[Subject], Field(min_length=1, max_length=1)]
    predicate_type: Literal["urn:shipworthy:release-decision:1"] = Field(alias="predicateType")
    predicate: Predicate


class Signature(Value):
    """Ed25519 by the deployment's decision key over the DSSE pre-authentication encoding, in base64."""

    keyid: Label
    sig: Line


class DecisionMade(Value):
    statement: Statement
    signature: Signature
