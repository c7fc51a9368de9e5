"""Grants for moves in a registry, and what becomes of them.

A grant is judged twice: to draft it, and under the log lock when it is written, where nothing can come between the
question and the record. When both differ it is asked anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import uuid4

import orjson
from anyio import to_thread

from api.schemas.promotions import MoveAsked, Settlement
from api.services import Services
from models.actor import Actor
from models.errors import DecisionMoved, FieldProblem, InvalidInput, ShipworthyError
from models.fields import instant_text
from models.gates.asking import JsonObject
from models.kinds.registry import KINDS
from models.ledger.drafts import Item, Stored, make_draft
from models.ledger.head import read_head
from models.promotions.judging import judge
from models.promotions.queries import find_event, find_target_row, get_grant
from models.promotions.verdicts import Allowed, Refused, Wanted, refused, subject_of

GRANT_TIME: Final = timedelta(seconds=10)
"""From the check to the confirmation the registry's server makes one write of its own; MLflow's takes 20 to 340 ms."""
TRIES: Final = 3
MOVED: Final = "what it rests on changed again and again while it was checked; try again in a moment"


@dataclass(frozen=True, slots=True)
class Settled:
    """The record of a confirmation and the item that lists show of it."""

    stored: Stored
    document: str


async def check(services: Services, actor: Actor, asked: MoveAsked) -> JsonObject:
    """The answer, with a grant or with what is missing; what was refused is recorded."""
    wanted = wanted_by(actor, asked)
    for _ in range(TRIES):
        verdict = await to_thread.run_sync(judge_now, services, wanted)
        if isinstance(verdict, Refused):
            return {"grant": None} | await refuse(services, actor, asked, wanted, verdict)
        body = grant_body(asked, verdict)
        (outcome,) = await services.ledger.append_all([grant_item(actor, body)])
        if isinstance(outcome, tuple):
            return _granted(wanted, verdict, body, outcome[0])
        if not isinstance(outcome, DecisionMoved):
            raise outcome
    return {"grant": None} | await refuse(services, actor, asked, wanted, refused("moved", MOVED))


async def settle(services: Services, actor: Actor, said: Settlement) -> Settled:
    """Raises NotFound, InvalidInput, GrantVoid, or DecisionMoved when what the grant rests on kept changing."""
    item = await to_thread.run_sync(settlement_item, services, actor, said)
    moved: ShipworthyError | None = None
    for _ in range(TRIES):
        (outcome,) = await services.ledger.append_all([item])
        if isinstance(outcome, tuple):
            document = await to_thread.run_sync(_shown, services, actor.namespace, outcome[0].digest)
            return Settled(outcome[0], document)
        if not isinstance(outcome, DecisionMoved):
            raise outcome
        moved = outcome
    assert moved is not None
    raise moved


def judge_now(services: Services, wanted: Wanted) -> Allowed | Refused:
    with services.database.reading() as connection:
        head = read_head(connection)
        now = datetime.now(UTC)
        find = partial(find_target_row, connection, wanted.namespace, wanted.registry, wanted.model)
        return judge(connection, wanted, find, now if head is None else max(now, head.committed_at))


def wanted_by(actor: Actor, asked: MoveAsked) -> Wanted:
    return Wanted(
        namespace=actor.namespace,
        action=asked.action,
        registry=asked.registry,
        model=asked.model,
        version=asked.version,
        target=asked.target,
        artifact=asked.artifact,
        incumbent=asked.incumbent,
    )


def make_item(actor: Actor, kind: str, body: JsonObject, key: str | None) -> Item:
    fact = KINDS[kind].body.model_validate(body)
    return Item((make_draft(KINDS[kind], actor, body, fact, idempotency_key=key),))


def grant_item(actor: Actor, body: JsonObject) -> Item:
    """Each grant is one of its own, also when two are asked for in the same microsecond."""
    return make_item(actor, "promotion.granted", body, uuid4().hex)


def grant_body(asked: MoveAsked, verdict: Allowed) -> JsonObject:
    return allowed_body(asked, verdict) | {"expires_at": instant_text(datetime.now(UTC) + GRANT_TIME)}


def allowed_body(asked: MoveAsked, verdict: Allowed) -> JsonObject:
    """What a grant and a promotion at once say of a move."""
    return {
        "action": verdict.action,
        **_named(asked),
        "version": asked.version,
        "artifact": asked.artifact,
        "incumbent": _incumbent(asked),
        "decision": verdict.decision,
        "policy_digest": verdict.policy_digest,
        "demotion": verdict.demotion,
        "registry_user": asked.registry_user,
        "source": asked.source,
        "registry_run_id": asked.registry_run_id,
    }


def _named(asked: MoveAsked) -> JsonObject:
    return {"registry": asked.registry, "model": asked.model, "target": asked.target}


def _incumbent(asked: MoveAsked) -> JsonObject | None:
    held = asked.incumbent
    return None if held is None else {"version": held.version, "artifact": held.artifact}


def bound(body: Mapping[str, Any]) -> JsonObject:
    """What was allowed, nothing else."""
    names = ("registry", "model", "version", "target", "artifact", "incumbent", "policy_digest")
    return {name: body[name] for name in names}


def _granted(wanted: Wanted, verdict: Allowed, body: Mapping[str, Any], stored: Stored) -> JsonObject:
    return {
        "allowed": True,
        "grant": {
            "id": stored.digest,
            "expires_at": body["expires_at"],
            "action": verdict.action,
            "binds": bound(body),
        },
        "decision": verdict.decision,
        "sentence": verdict.sentence,
        "code": None,
        "missing": [],
        "who": [],
        "link": link_of(wanted, verdict.decision),
    }


async def refuse(
    services: Services, actor: Actor, asked: MoveAsked, wanted: Wanted, verdict: Refused
) -> JsonObject:
    """Records the refusal; the answer."""
    sentence = f"{subject_of(wanted)}: {verdict.reason}"
    body: JsonObject = {
        "action": asked.action,
        **_named(asked),
        "version": asked.version,
        "artifact": asked.artifact,
        "decision": verdict.decision,
        "code": verdict.code,
        "sentence": sentence,
        "registry_user": asked.registry_user,
        "hour": datetime.now(UTC).isoformat()[:13],
    }
    (outcome,) = await services.ledger.append_all([make_item(actor, "promotion.refused", body, None)])
    if isinstance(outcome, ShipworthyError):
        raise outcome
    return {
        "allowed": False,
        "decision": verdict.decision,
        "sentence": sentence,
        "code": verdict.code,
        "missing": list(verdict.missing),
        "who": list(verdict.who),
        "link": link_of(wanted, verdict.decision),
    }


def link_of(wanted: Wanted, decision: str | None) -> str:
    """A page that shows more."""
    if decision is not None:
        return f"/decisions/{quote(decision, safe=':')}"
    return f"/decisions?{urlencode({'model': wanted.model, 'to': wanted.target})}"


def settlement_item(services: Services, actor: Actor, said: Settlement) -> Item:
    """Raises NotFound for an unknown grant, InvalidInput for another version than its own."""
    with services.database.reading() as connection:
        grant = get_grant(connection, actor.namespace, said.grant)
    version = grant["version"] or said.version
    if said.version not in (None, version):
        message = f"is not that of the grant, which is for version {version}"
        raise InvalidInput(f"/version {message}", problems=[FieldProblem("/version", message)])
    if said.outcome == "promoted" and version is None and grant["action"] == "register":
        message = "is missing: it is the number that the registry gave to the version"
        raise InvalidInput(f"/version {message}", problems=[FieldProblem("/version", message)])
    taken = (
        "action",
        "registry",
        "model",
        "target",
        "artifact",
        "incumbent",
        "decision",
        "registry_user",
        "source",
        "registry_run_id",
    )
    body: JsonObject = {name: grant[name] for name in taken} | {"version": version, "grant": said.grant}
    if said.outcome == "promoted":
        return make_item(actor, "promotion", body, None)
    return make_item(actor, "promotion.failed", body | {"reason": said.reason}, None)


def _shown(services: Services, namespace: str, record: str) -> str:
    with services.database.one_statement() as connection:
        event = find_event(connection, namespace, record)
    assert event is not None
    return event.document


def answer_of(settled: Settled) -> bytes:
    """What a confirmation is answered with."""
    document: JsonObject = orjson.loads(settled.document)
    return orjson.dumps(document | {"position": settled.stored.position, "created": settled.stored.created})
