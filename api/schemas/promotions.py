"""Bodies of calls about what a registry's names hold."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from models.fields import Digest, Identifier, Instant, Label, Line, Reason, Text, Value
from models.kinds.gates import Target, VersionName
from models.kinds.promotions import REGISTRATION, Action, Held, RegisteredName
from models.patterns import TOKEN_PATTERN

MAX_OBSERVED = 5_000


class MoveAsked(Value):
    """May this name of the registry be moved? `incumbent` is what it holds there at this moment, null for nothing."""

    action: Action
    registry: Identifier = "default"
    model: RegisteredName
    version: VersionName | None = None
    target: Target
    artifact: Digest | None = None
    incumbent: Held | None = None
    source: Line | None = None
    registry_run_id: Label | None = None
    registry_user: Label | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.action == "register") != (self.target == REGISTRATION):
            raise ValueError(
                'contradicts itself: `action` is "register" exactly when `target` is "registration"'
            )
        if self.action != "demote" and self.artifact is None:
            raise ValueError(
                "leaves out `artifact`, which would stand there: hash it, nothing is allowed unread"
            )
        if self.action == "promote" and self.version is None:
            raise ValueError("leaves out `version`, which says what would stand there")
        return self


class MovesWritten(Value):
    """What a registry has written and not yet committed, all of one call: recorded together or not at all. `id` is made
    anew for each call; the same one again gets the same answer."""

    id: Annotated[str, Field(pattern=TOKEN_PATTERN, description="32 hex digits")]
    moves: Annotated[list[MoveAsked], Field(min_length=1, max_length=8)]

    @model_validator(mode="after")
    def _has_versions(self) -> Self:
        if any(each.action != "demote" and each.version is None for each in self.moves):
            raise ValueError("leaves out `version`: what was written has a number in the registry")
        return self


class Settlement(Value):
    """What became of a grant; sent before the registry's own transaction commits."""

    grant: Digest
    version: VersionName | None = None
    outcome: Literal["promoted", "failed"]
    reason: Text | None = None


class Observation(Value):
    """What a registry holds, whoever put it there."""

    registry: Identifier = "default"
    model: RegisteredName
    target: Target
    version: VersionName | None
    artifact: Digest | None
    how: Literal["import", "reconcile"]
    source: Line | None = None
    registry_run_id: Label | None = None


class DemotionRequest(Value):
    """Lets a target be emptied, once, within 15 minutes."""

    registry: Identifier = "default"
    model: RegisteredName
    target: Target
    reason: Reason


class Seen(Value):
    """What one name holds; `unreadable` says why its artifact could not be hashed."""

    model: RegisteredName
    target: Target
    version: VersionName
    artifact: Digest | None = None
    unreadable: Text | None = None
    source: Line | None = None
    registry_run_id: Label | None = None


class ReconciliationRequest(Value):
    """What a reconciler saw. `complete`: every protected name that holds something is in it."""

    registry: Identifier = "default"
    started_at: Instant
    finished_at: Instant
    observed: Annotated[list[Seen], Field(max_length=MAX_OBSERVED)]
    complete: bool
