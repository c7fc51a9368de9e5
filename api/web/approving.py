"""Why the viewer may not approve a decision, and which key may. Pure over the policy's words and the viewer's key."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.web.viewers import Viewer
from api.web.words import plural
from gates.release.texts import joined
from models.actor import Role
from models.errors import SeparationOfDuties
from models.gates.rules import check_separation

_YOU = "you@example.org"


@dataclass(frozen=True, slots=True)
class Barred:
    """`make` is a command that makes a key which may approve, None when another person is needed and no key; `approve`
    one that approves with its token, None where its holder signs in."""

    reasons: tuple[str, ...]
    make: str | None
    approve: str | None


def waits_for_people(predicate: Mapping[str, Any]) -> bool:
    return any(each["kind"] == "review" and each["state"] == "unmet" for each in predicate["criteria"])


def barred(
    viewer: Viewer,
    predicate: Mapping[str, Any],
    groups: Sequence[str],
    asked_of: Sequence[str],
    data: str,
    url: str,
) -> Barred | None:
    """None for who may approve. `groups` are those of the viewer's key, `asked_of` those of whom the policy wants one;
    `data` and `url` are the folder and the address that commands take."""
    is_open = viewer.session is None
    reasons = [_of_open_mode()] if is_open else _of_key(viewer, groups, asked_of)
    own = None if is_open else _of_person(viewer, predicate)
    if own is not None:
        return Barred((own, *reasons), None, None)
    if not reasons:
        return None
    approve = ["shipworthy", "review", "approve", predicate["decision"], "--reason", "WHY", "--url", url]
    return Barred(
        tuple(reasons),
        _make(viewer, asked_of, data),
        f"SHIPWORTHY_TOKEN=TOKEN {shlex.join(approve)}" if is_open else None,
    )


def _of_open_mode() -> str:
    return "In open mode everybody is “local”, who never approves, and nobody signs in, not even with a key."


def _of_key(viewer: Viewer, groups: Sequence[str], asked_of: Sequence[str]) -> list[str]:
    if Role.APPROVER not in viewer.actor.roles:
        held = sorted(viewer.actor.roles)
        return [
            f"Your key has the {plural(len(held), 'role').split(' ')[1]} {joined(held)}, and not approver."
        ]
    if asked_of and set(asked_of).isdisjoint(groups):
        return [f"The policy counts approvals by {joined(asked_of, 'or')}, and your key is in no such group."]
    return []


def _of_person(viewer: Viewer, predicate: Mapping[str, Any]) -> str | None:
    """What no other key of the same person mends."""
    if viewer.actor.owner is None and Role.APPROVER not in viewer.actor.roles:
        return None
    try:
        check_separation(viewer.actor.owner, predicate["separation"])
    except SeparationOfDuties as error:
        return f"{error.detail[:1].upper()}{error.detail[1:]}."
    return None


def _make(viewer: Viewer, asked_of: Sequence[str], data: str) -> str:
    words = ["shipworthy-server", "keys", "create", "--data", data]
    if viewer.actor.namespace != "default":
        words += ["--namespace", viewer.actor.namespace]
    words += ["--role", Role.APPROVER.value, "--owner", _YOU]
    return shlex.join(words + (["--groups", asked_of[0]] if asked_of else []))
