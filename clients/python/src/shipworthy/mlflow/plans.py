"""What a call to the registry would change, and what the gates must say before it may."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Action: TypeAlias = Literal["promote", "register", "demote"]


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A model version as the registry's database holds it. `location` is where its files are said to lie."""

    version: int
    source: str | None
    location: str | None
    run_id: str | None
    stage: str


@dataclass(frozen=True, slots=True)
class ModelState:
    """What one registered model holds now: all its aliases, and the versions that were asked for."""

    registry: str
    model: str
    aliases: tuple[tuple[str, int], ...]
    versions: tuple[VersionRow, ...]

    def holder(self, alias: str) -> VersionRow | None:
        """The version behind an alias; None also when the alias points to a version that is gone."""
        return self.version(dict(self.aliases).get(alias))

    def version(self, number: int | None) -> VersionRow | None:
        return next((row for row in self.versions if row.version == number), None)

    def in_stage(self, stage: str) -> VersionRow | None:
        """What a consumer gets who loads by stage: the highest version in it."""
        rows = [row for row in self.versions if row.stage == stage]
        return max(rows, key=lambda row: row.version, default=None)


@dataclass(frozen=True, slots=True)
class Move:
    """One thing to ask the gates. `version` is None while a version that is being registered has no number."""

    action: Action
    target: str
    row: VersionRow | None
    incumbent: VersionRow | None


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a session of the registry's database does: what, to which alias or version, to which value.

    What it was before (None when that is not known) and the number of a new version say more of what was seen; two
    changes are equal without them.
    """

    what: Literal["alias", "stage", "registered", "renamed", "rewritten", "version deleted", "model deleted"]
    model: str
    key: str
    value: str | None
    before: str | None = field(default=None, compare=False)
    version: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """`moves` are asked in their order; `permits` are the guarded changes that the call may then make.

    A plan without moves and permits is that of a call which touches nothing that is protected.
    """

    model: str
    moves: tuple[Move, ...] = ()
    permits: frozenset[Change] = field(default_factory=frozenset)


class Refused(Exception):
    """The call is refused; the sentence tells its user why, and what to do."""
