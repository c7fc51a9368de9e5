"""Moves that a registry has written and not yet committed: judged and recorded at once.

One commit instead of three exchanges: what is judged under the log lock is what is recorded there, and nothing can come
between. The record is drafted by what most likely allows the move; only when that was wrong is all of it judged before.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import orjson
from anyio import to_thread

from api.promoting import MOVED, TRIES, allowed_body, bound, judge_now, link_of, refuse, wanted_by
from api.schemas.promotions import MoveAsked, MovesWritten
from api.services import Services
from models.actor import Actor
from models.errors import DecisionMoved
from models.gates.asking import JsonObject
from models.kinds.registry import KINDS
from models.ledger.drafts import Draft, Item, Stored, make_draft
from models.promotions.queries import find_event
from models.promotions.sketching import sketch
from models.promotions.verdicts import Allowed, Refused, Wanted, refused

_PROMOTION: Final = KINDS["promotion"]


async def move(services: Services, actor: Actor, written: MovesWritten) -> JsonObject:
    """The answer: all of the moves are recorded, or none and why not."""
    wanted = [wanted_by(actor, asked) for asked in written.moves]
    verdicts: Sequence[Allowed | Refused] | None = await to_thread.run_sync(_sketched, services, wanted)
    for _ in range(TRIES):
        if verdicts is None:
            verdicts = await to_thread.run_sync(_judged, services, wanted)
        allowed = [verdict for verdict in verdicts if isinstance(verdict, Allowed)]
        for asked, each, verdict in zip(written.moves, wanted, verdicts, strict=True):
            if isinstance(verdict, Refused):
                return {"promotions": []} | await refuse(services, actor, asked, each, verdict)
        item = move_item(actor, written, allowed)
        (outcome,) = await services.ledger.append_all([item])
        if isinstance(outcome, tuple):
            return await _recorded(services, actor, wanted, item.drafts, outcome)
        if not isinstance(outcome, DecisionMoved):
            raise outcome
        verdicts = None
    verdict = refused("moved", MOVED)
    return {"promotions": []} | await refuse(services, actor, written.moves[0], wanted[0], verdict)


def _sketched(services: Services, wanted: Sequence[Wanted]) -> list[Allowed] | None:
    """None when something has to be judged first: it is refused, or rests on more than a decision."""
    found = []
    for each in wanted:
        with services.database.one_statement() as connection:
            verdict = sketch(connection, each)
        if verdict is None:
            return None
        found.append(verdict)
    return found


def _judged(services: Services, wanted: Sequence[Wanted]) -> list[Allowed | Refused]:
    return [judge_now(services, each) for each in wanted]


def move_item(actor: Actor, written: MovesWritten, allowed: Sequence[Allowed]) -> Item:
    """All moves of a call, to be judged when they are written."""
    return Item(
        tuple(
            _draft(actor, f"{written.id}/{number}", asked, verdict)
            for number, (asked, verdict) in enumerate(zip(written.moves, allowed, strict=True))
        )
    )


def _draft(actor: Actor, key: str, asked: MoveAsked, verdict: Allowed) -> Draft:
    """Asked again with the same key it is the same record, whatever would be drafted by then."""
    body = allowed_body(asked, verdict) | {"grant": None}
    fact = _PROMOTION.body.model_validate(body)
    content = f"sha256:{sha256(asked.model_dump_json().encode()).hexdigest()}"
    return make_draft(_PROMOTION, actor, body, fact, idempotency_key=key, content=content)


async def _recorded(
    services: Services,
    actor: Actor,
    wanted: Sequence[Wanted],
    drafts: Sequence[Draft],
    stored: Sequence[Stored],
) -> JsonObject:
    bodies = [dict(draft.body) for draft in drafts]
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
        "link": link_of(wanted[0], bodies[0]["decision"]),
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
