"""Bodies of records about what a registry's names hold: grants, promotions, what was refused and what was seen.

The key of the registry's guard stands in the envelope, the registry's own user in the body.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from models.fields import Count, Digest, Identifier, Instant, Label, Line, Reason, Text, Value
from models.kinds.gates import Person, Target, VersionName
from models.patterns import HOUR_PATTERN, MODEL_PATTERN

REGISTRATION: Final = "registration"

RegisteredName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=256,
        pattern=MODEL_PATTERN,
        description='the model\'s name in the registry: one line, no "|"',
    ),
]
"""Wider than the names that policies take: what no gate can stand before is refused and recorded too."""
Action = Literal["promote", "register", "demote"]
Granted = Literal["promote", "rollback", "register", "demote"]
RefusalCode = Literal[
    "no_gate",
    "undecided",
    "not_passed",
    "lapsed",
    "fallen",
    "artifact_swapped",
    "incumbent_unknown",
    "incumbent_changed",
    "under_way",
    "no_demotion",
    "moved",
]
FindingKind = Literal[
    "artifact_changed",
    "moved_without_grant",
    "undecided",
    "record_without_move",
    "would_fail",
    "unreadable",
    "unconfirmed_grant",
]
"""Worst first."""


class Held(Value):
    """What a target holds in the registry; `artifact` None when nobody hashed it."""

    version: VersionName
    artifact: Digest | None = None


class Named(Value):
    registry: Identifier
    model: RegisteredName
    target: Target


class Told(Value):
    """What the registry says beside: who moved the name, where the artifact lies, which run it names."""

    registry_user: Label | None = None
    source: Line | None = None
    registry_run_id: Label | None = None


class PromotionGranted(Named, Told):
    """One move, allowed until `expires_at`. `decision` and `artifact` are None for a demotion alone, which rests on the
    record `demotion`; `version` for a registration, whose number the registry gives."""

    action: Granted
    version: VersionName | None
    artifact: Digest | None
    incumbent: Held | None
    decision: Digest | None
    policy_digest: Digest | None
    demotion: Digest | None
    expires_at: Instant


class Moved(Named, Told):
    """What a target was to hold, and by which decision."""

    action: Granted
    version: VersionName | None
    artifact: Digest | None
    incumbent: Held | None
    decision: Digest | None


class Promotion(Moved):
    """A move that the registry told before it became visible there: granted before, or with `grant` None judged and
    recorded at once. Then `policy_digest` and `demotion` are what a grant would have bound."""

    grant: Digest | None
    policy_digest: Digest | None = None
    demotion: Digest | None = None


class PromotionFailed(Moved):
    """A granted move that the registry did not make."""

    grant: Digest
    reason: Text | None


class PromotionRefused(Named):
    """`hour` (UTC, to the hour) makes one record of what is tried in a loop."""

    action: Action
    version: VersionName | None
    artifact: Digest | None
    decision: Digest | None
    code: RefusalCode
    sentence: Text
    registry_user: Label | None
    hour: Annotated[str, Field(pattern=HOUR_PATTERN)]


class PromotionObserved(Named):
    """What a registry holds without a grant of ours: no release by decision. `version` None: the name holds nothing."""

    version: VersionName | None
    artifact: Digest | None
    how: Literal["import", "reconcile"]
    source: Line | None = None
    registry_run_id: Label | None = None


class DemotionAllowed(Named):
    """A person lets a target be emptied, once."""

    reason: Reason
    by: Person | None


class RegistryReconciled(Value):
    """What a registry holds was compared with the records. `report` names the blob of what was seen and found; `judged`
    of the promoted models were judged by their gates again, `not_judged` were too many for this time."""

    registry: Identifier
    started_at: Instant
    finished_at: Instant
    complete: bool
    observed: Count
    findings: dict[FindingKind, Count]
    judged: Count
    not_judged: Count
    report: Digest
