"""What a key may be: which roles go together, whom it must name, which level it has."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter, ValidationError

from models.actor import EvidenceLevel, Role, evidence_level
from models.errors import FieldProblem, InvalidInput
from models.fields import Label
from models.patterns import IDENTIFIER_PATTERN

# Whoever hands out keys must not be able to make evidence or to approve it with the same key.
NOT_WITH_ADMIN: Final = frozenset({Role.APPROVER, Role.RECORDER, Role.EVALUATOR})
MAX_GROUPS: Final = 100
_LABEL: Final[TypeAdapter[str]] = TypeAdapter(Label)


@dataclass(frozen=True, slots=True)
class KeyRights:
    """A checked request for a key. `owner` is the name or address as given, without outer spaces."""

    namespace: str
    roles: tuple[Role, ...]
    level: EvidenceLevel
    owner: str | None
    groups: tuple[str, ...]
    expires_at: datetime | None


def check_rights(
    *,
    namespace: str,
    roles: Iterable[str],
    owner: str | None,
    groups: Sequence[str],
    level: str | None,
    expires_at: datetime | None,
    now: datetime,
) -> KeyRights:
    """Raises InvalidInput, naming the field, when the rights break a rule. Roles and groups come back
    sorted."""
    if re.fullmatch(IDENTIFIER_PATTERN, namespace) is None:
        raise _refused(
            "namespace",
            f"namespace {namespace[:80]!r} must start with a letter or digit and have at most 256 letters, "
            "digits and . _ / : @ -",
        )
    held = _checked_roles(roles)
    owner = None if owner is None else _checked_label("owner", owner)
    if Role.APPROVER in held and owner is None:
        raise _refused(
            "owner",
            "an approver key needs its owner, for instance --owner ada@example.org: separation of duties "
            "compares persons",
        )
    names = {_checked_label("groups", group) for group in groups}
    if len(names) > MAX_GROUPS:
        raise _refused(
            "groups", f"a key names at most {MAX_GROUPS} groups, these are {len(names)}; name fewer"
        )
    if expires_at is not None:
        if expires_at.tzinfo is None:
            raise _refused("expires_at", "expires_at has no zone; give it one, such as Z")
        if expires_at <= now:
            raise _refused("expires_at", "expires_at is not in the future; name a later time")
    return KeyRights(
        namespace=namespace,
        roles=tuple(sorted(held)),
        level=_checked_level(held, level),
        owner=owner,
        groups=tuple(sorted(names)),
        expires_at=expires_at,
    )


def _checked_roles(roles: Iterable[str]) -> frozenset[Role]:
    known = {role.value: role for role in Role}
    given = set(roles)
    unknown = sorted(given - known.keys())
    if unknown:
        raise _refused("roles", f"role {unknown[0][:80]!r} is not known; use one of {', '.join(known)}")
    if not given:
        raise _refused("roles", f"a key needs at least one role; use one of {', '.join(known)}")
    held = frozenset(known[name] for name in given)
    if Role.ADMIN in held and held & NOT_WITH_ADMIN:
        clash = ", ".join(sorted(held & NOT_WITH_ADMIN))
        raise _refused("roles", f"an admin key may not also be {clash}; make two keys, best for two persons")
    return held


def _checked_level(held: frozenset[Role], level: str | None) -> EvidenceLevel:
    """Levels follow from the roles; only `server_run` is granted, and only to a key that is a worker and no
    more."""
    if level is None:
        return evidence_level(held)
    if level not in [known.value for known in EvidenceLevel]:
        raise _refused("level", f"level {level[:80]!r} is not known; use one of {', '.join(EvidenceLevel)}")
    wanted = EvidenceLevel(level)
    earned = evidence_level(held, wanted)
    if earned is not wanted:
        hint = "; level server_run is for a key whose only role is worker" if level == "server_run" else ""
        raise _refused(
            "level",
            f"a key with the roles {', '.join(sorted(held))} reports at level {earned}, not {level}{hint}; "
            "leave the level out or change the roles",
        )
    return wanted


def _checked_label(field: str, text: str) -> str:
    try:
        return _LABEL.validate_python(text.strip())
    except ValidationError:
        raise _refused(
            field, f"{field} {text[:80]!r} must be one line of 1 to 256 characters, no control characters"
        ) from None


def _refused(field: str, message: str) -> InvalidInput:
    return InvalidInput(message, problems=[FieldProblem(f"/{field}", message)])
