"""Who calls: a key, its namespace, its owning person's pseudonym, its roles, and the level of its evidence."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from shipworthy.formats.jcs import JsonValue, canonicalize


class Role(StrEnum):
    """What a key may do in its namespace; nothing is allowed without a role."""

    READER = "reader"
    RECORDER = "recorder"
    EVALUATOR = "evaluator"
    AUTHOR = "author"
    APPROVER = "approver"
    REGISTRY = "registry"
    WORKER = "worker"
    ADMIN = "admin"


class EvidenceLevel(StrEnum):
    """How independent the maker of evidence was, strongest first. Set by the key, never by the body."""

    SERVER_RUN = "server_run"
    TRUSTED_RUNNER = "trusted_runner"
    SELF_REPORTED = "self_reported"


def evidence_level(roles: Iterable[Role], granted: EvidenceLevel | None = None) -> EvidenceLevel:
    """The level of a key: a recorder reports about itself whatever else it may do; workers and evaluators are
    trusted runners; a worker key made with `--level server_run` is the service's own."""
    held = frozenset(roles)
    if Role.RECORDER in held or not held & {Role.WORKER, Role.EVALUATOR}:
        return EvidenceLevel.SELF_REPORTED
    if granted is EvidenceLevel.SERVER_RUN and held == {Role.WORKER}:
        return EvidenceLevel.SERVER_RUN
    return EvidenceLevel.TRUSTED_RUNNER


def weakest(levels: Iterable[EvidenceLevel]) -> EvidenceLevel:
    """The weakest of them; the weakest there is of none."""
    order = tuple(EvidenceLevel)
    return max(levels, key=order.index, default=EvidenceLevel.SELF_REPORTED)


@dataclass(frozen=True)
class Actor:
    """The authenticated caller. `owner` is a pseudonym (see models/keys), None when no person is known;
    `who` is the `$redactable` digest of the person's address."""

    key_id: str
    namespace: str
    roles: frozenset[Role]
    level: EvidenceLevel
    owner: str | None = None
    who: str | None = None
    auth: str = "key"

    @cached_property
    def envelope(self) -> bytes:
        """The `actor` member of a record's envelope, in canonical bytes."""
        member: dict[str, JsonValue] = {
            "auth": self.auth,
            "id": self.key_id,
            "level": self.level,
            "owner": self.owner,
        }
        if self.who is not None:
            member["who"] = {"$redactable": self.who}
        return canonicalize(member)


SYSTEM = Actor(
    key_id="system", namespace="system", roles=frozenset(), level=EvidenceLevel.SERVER_RUN, auth="system"
)
"""The service itself and its administrator on the command line."""
