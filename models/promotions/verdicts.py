"""What is asked about a move in a registry, and what may be answered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from models.bulk import Row
from models.kinds.promotions import REGISTRATION, Action, Granted, Held, RefusalCode

DECIDERS: Final = ("evaluator", "author", "recorder")
"""Roles that may ask a gate."""
WHO: Final[dict[RefusalCode, tuple[str, ...]]] = {
    "no_gate": ("author",),
    "undecided": DECIDERS,
    "not_passed": ("recorder", "evaluator", "approver"),
    "lapsed": DECIDERS,
    "fallen": ("recorder", "evaluator"),
    "artifact_swapped": ("recorder",),
    "incumbent_unknown": ("recorder", "registry", "worker"),
    "incumbent_changed": DECIDERS,
    "under_way": (),
    "no_demotion": ("approver",),
    "moved": (),
}
FindTarget = Callable[[str], Row | None]
"""The row of another target of the same model and registry."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A move. `artifact` is None for a demotion alone, `version` for a registration; `incumbent` is what the target
    holds in the registry at this moment."""

    namespace: str
    action: Action
    registry: str
    model: str
    version: str | None
    target: str
    artifact: str | None
    incumbent: Held | None


@dataclass(frozen=True, slots=True)
class Allowed:
    """`policy_digest` is None where no policy let it pass; `demotion` the record that allows one."""

    action: Granted
    sentence: str
    decision: str | None = None
    policy_digest: str | None = None
    demotion: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    code: RefusalCode
    reason: str
    missing: tuple[str, ...]
    who: tuple[str, ...]
    decision: str | None = None


def refused(code: RefusalCode, reason: str, decision: str | None = None) -> Refused:
    return Refused(code, reason, (reason,), WHO[code], decision)


def subject_of(wanted: Wanted) -> str:
    """What a sentence about a refusal begins with."""
    if wanted.action == "register" or wanted.target == REGISTRATION:
        return f"No version of {wanted.model} may be registered from this artifact"
    if wanted.action == "demote":
        return f"{wanted.target} of {wanted.model} may not be emptied"
    return f"Version {wanted.version} of {wanted.model} may not become {wanted.target}"
