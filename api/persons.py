"""Who speaks: the person and the groups behind a key, as records about gates name them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session

from models.actor import Actor
from models.errors import SeparationOfDuties
from models.keys.store import find_key


@dataclass(frozen=True, slots=True)
class Speaker:
    """`owner` is the person's pseudonym, None when the key names nobody."""

    owner: str | None
    groups: Sequence[str]

    def known(self) -> str:
        """The person. Raises SeparationOfDuties when nobody is known."""
        if self.owner is None:
            raise SeparationOfDuties(
                "this key names no person, and what it says could be anybody's; have one made with "
                "shipworthy-server keys create --role approver --owner ADDRESS"
            )
        return self.owner


def speaker(session: Session, actor: Actor) -> Speaker:
    """Groups are read anew each time: who left a group no longer speaks for it."""
    row = find_key(session, actor.key_id) if actor.auth == "key" else None
    return Speaker(actor.owner, [] if row is None else json.loads(row.groups))
