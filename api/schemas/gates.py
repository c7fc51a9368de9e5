"""Bodies of calls about gates. What a record holds beyond them the service adds: persons, groups, versions."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from models.fields import Digest, Identifier, Instant, Reason, Value
from models.kinds.gates import CriterionId, GateName, GateVersion, Target, VersionName

MAX_REPLAYED = 500


class DecisionRequest(Value):
    """May this artifact take this place? `mode` shadow tries a policy out: nothing is ever promoted by it."""

    model: Identifier
    artifact: Digest
    version: VersionName | None = None
    registry: Identifier = "default"
    to: Target
    mode: Literal["enforce", "shadow"] = "enforce"
    flags: Annotated[list[Literal["business-conditions-changed"]], Field(max_length=10)] = Field(
        default_factory=list
    )


class ReviewRequest(Value):
    """What somebody says of a decision; `expires_at` at the latest when the policy says so."""

    decision: Digest
    action: Literal["request", "approve", "deny"]
    reason: Reason
    expires_at: Instant | None = None


class WaiverRequest(Value):
    """A criterion of the gate's latest version that this artifact need not meet until `expires_at`."""

    gate: GateName
    criterion: CriterionId
    artifact: Digest
    to: Target
    reason: Reason
    expires_at: Instant


class BreakGlassRequest(Value):
    """Passing by a gate. It is decided when a second person asks for the same artifact and target."""

    model: Identifier
    artifact: Digest
    version: VersionName | None = None
    to: Target
    reason: Reason
    expires_at: Instant


class ReplayRequest(Value):
    """What past decisions would have been under another policy: a text, or a published version."""

    policy: Annotated[str, Field(max_length=262_144)] | None = None
    version: GateVersion | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_REPLAYED)] = 100
    after: Annotated[str, Field(max_length=4096)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.policy is None) == (self.version is None):
            raise ValueError("needs either `policy`, the text of one, or `version`, a published one")
        return self
