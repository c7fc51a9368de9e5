"""Moves that a registry has written and not yet committed: judged and recorded at once.

One commit instead of three exchanges: a move is judged under the log lock, its record is made of the verdict there, and
nothing can come between.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Final

import orjson
from anyio import to_thread

from api.promoting import MOVED, TRIES, allowed_body, bound, link_of, refuse, wanted_by
from api.schemas.promotions import MoveAsked, MovesWritten
from api.services import Services
from models.actor import Actor
from models.errors import DecisionMoved
from models.gates.asking import JsonObject
from models.kinds.promotions import Promotion
from models.kinds.registry import KINDS
from models.ledger.drafts import Draft, Item, Stored, late_draft, make_draft
from models.ledger.workspace import Workspace
from models.promotions.queries import find_event
from models.promotions.rules import judge_in_batch
from models.promotions.verdicts import Refused, refused

_PROMOTION: Final = KINDS["promotion"]


class Move:
    """One move of a call: `body` and `refusal` are what the commit made of it last."""

    def __init__(self, actor: Actor, asked: MoveAsked) -> None:
        self.asked = asked
        self.wanted = wanted_by(actor, asked)
        self.body: JsonObject = {}
        self.refusal: Refused | None = None
        self._actor = actor

    def draft(self, key: str) -> Draft:
        """Asked again with the same key it is the same record, whatever would be allowed by then."""
        content = f"sha256:{sha256(self.asked.model_dump_json().encode()).hexdigest()}"
        return late_draft(
            _PROMOTION,
            self._actor,
            Promotion(**dict(self.asked), decision=None, grant=None),
            idempotency_key=key,
            content=content,
            complete=partial(self._judged, key, content),
        )

    def _judged(self, key: str, content: str, workspace: Workspace, now: datetime) -> Draft:
        self.refusal = None
        verdict = judge_in_batch(workspace, self.wanted, now)
        if isinstance(verdict, Refused):
            self.refusal = verdict
            raise DecisionMoved(verdict.reason)
        self.body = allowed_body(self.asked, verdict) | {"grant": None}
        fact = _PROMOTION.body.model_validate(self.body)
        return make_draft(_PROMOTION, self._actor, self.body, fact, idempotency_key=key, content=content)


def move_item(moves: Sequence[Move], id: str) -> Item:
    """All moves of a call, to be judged when they are written."""
    return Item(tuple(each.draft(f"{id}/{number}") for number, each in enumerate(moves)))


async def move(services: Services, actor: Actor, written: MovesWritten) -> JsonObject:
    """The answer: all of the moves are recorded, or none and why not."""
    moves = [Move(actor, asked) for asked in written.moves]
    item = move_item(moves, written.id)
    for _ in range(TRIES):
        (outcome,) = await services.ledger.append_all([item])
        if isinstance(outcome, tuple):
            return await _recorded(services, actor, moves, outcome)
        if not isinstance(outcome, DecisionMoved):
            raise outcome
        for each in moves:
            if each.refusal is not None:
                return await _refused(services, actor, each, each.refusal)
    return await _refused(services, actor, moves[0], refused("moved", MOVED))


async def _refused(services: Services, actor: Actor, move: Move, refusal: Refused) -> JsonObject:
    return {"promotions": []} | await refuse(services, actor, move.asked, move.wanted, refusal)


async def _recorded(
    services: Services, actor: Actor, moves: Sequence[Move], stored: Sequence[Stored]
) -> JsonObject:
    bodies = [each.body for each in moves]
    if not stored[0].created:
        bodies = await to_thread.run_sync(_earlier, services, actor.namespace, stored)
    return {
        "allowed": True,
        "promotions": [
            {
                "record": each.digest,
                "position": each.position,
                "created": each.created,
                "action": body["action"],
                "decision": body["decision"],
                "binds": bound(body),
            }
            for each, body in zip(stored, bodies, strict=True)
        ],
        "decision": bodies[0]["decision"],
        "sentence": "Recorded: the registry may commit.",
        "code": None,
        "missing": [],
        "who": [],
        "link": link_of(moves[0].wanted, bodies[0]["decision"]),
    }


def _earlier(services: Services, namespace: str, stored: Sequence[Stored]) -> list[JsonObject]:
    """What the same call recorded before."""
    found = []
    with services.database.reading() as connection:
        for each in stored:
            event = find_event(connection, namespace, each.digest)
            assert event is not None
            found.append(orjson.loads(event.document))
    return found
