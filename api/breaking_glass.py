"""Break-glass: two persons let an artifact pass without its gate, by a decision of a type of its own."""

import json
from datetime import UTC, datetime
from typing import Any, Final

from anyio import to_thread

from api.deciding import TRIES, Prepared, appended, signed
from api.predicates import as_of, evaluator
from api.schemas.gates import BreakGlassRequest
from api.services import Services
from models.actor import Actor
from models.errors import DecisionMoved, Unavailable
from models.fields import instant_text
from models.gates.asking import JsonObject
from models.gates.breaking import find_asked
from models.gates.gathering_subject import trainers_of
from models.gates.makers import makers_of
from models.gates.moving import Resting
from models.gates.queries import decision_on, find_gate_at, latest_decision
from models.ledger.head import read_head
from shipworthy.formats.times import parse_instant

NEEDED: Final = 2
"""Distinct persons."""


async def decide_when_two_asked(
    services: Services, actor: Actor, record: str, wanted: BreakGlassRequest
) -> JsonObject | None:
    """The decision, or None while one person alone has asked; `record` is the caller's own wish, which may have been
    decided on before. Raises DecisionMoved when others kept asking."""
    moved: DecisionMoved | None = None
    for _ in range(TRIES):
        prepared = await to_thread.run_sync(_prepare, services, actor.namespace, wanted)
        if prepared is None:
            return await to_thread.run_sync(_decided, services, actor.namespace, record)
        outcome = await appended(services, prepared)
        if not isinstance(outcome, DecisionMoved):
            return outcome
        moved = outcome
    assert moved is not None
    raise moved


def _decided(services: Services, namespace: str, record: str) -> JsonObject | None:
    with services.database.read() as session:
        found = decision_on(session, namespace, record)
    if found is None:
        return None
    document: JsonObject = json.loads(found.document)
    return document | {"position": found.position}


def _prepare(services: Services, namespace: str, wanted: BreakGlassRequest) -> Prepared | None:
    with services.database.read() as session:
        connection = session.connection()
        head = read_head(connection)
        if head is None:
            raise Unavailable("the log is empty; nothing was recorded yet")
        now = max(datetime.now(UTC), head.committed_at)
        asked = find_asked(connection, namespace, wanted.model, wanted.to, wanted.artifact, now)
        latest = {row["by"]: row for row in reversed(asked)}
        if len(latest) < NEEDED:
            return None
        used = sorted(latest.values(), key=lambda row: row["record"])
        makers = makers_of(connection, namespace, [row["record"] for row in used])
        gate = find_gate_at(connection, namespace, wanted.model, wanted.to)
        before = latest_decision(connection, namespace, wanted.model, wanted.to, wanted.artifact)
        trainers = trainers_of(connection, namespace, wanted.artifact)
    until = min(parse_instant(row["expires_at"]) for row in used)
    predicate: dict[str, Any] = {
        "type": "break_glass",
        "mode": "enforce",
        "verdict": "break_glass",
        "sentence": f"BREAK-GLASS: {len(used)} persons let this artifact go to {wanted.to} without its gate until "
        f"{instant_text(until)}. {used[0]['reason']}",
        "namespace": namespace,
        "model": wanted.model,
        "version": wanted.version,
        "to": wanted.to,
        "artifact": {"digest": wanted.artifact, "size_bytes": None},
        "training_run": None,
        "incumbent": {"artifact": None, "how": "none", "record": None},
        "gate": None
        if gate is None
        else {
            "name": gate.name,
            "version": gate.version,
            "digest": gate.digest,
            "document_digest": gate.document_digest,
            "owner": gate.owner,
        },
        "protocol_digest": None,
        "attempt": None,
        "criteria": [],
        "counts": {},
        "warnings": [],
        "triggers": ["break-glass"],
        "inputs": [
            {"role": "break_glass", "record": row["record"], "key": makers[row["record"]].key_id}
            for row in used
        ],
        "facts": None,
        "reviews": [
            {
                "record": row["record"],
                "action": "break_glass",
                "owner": row["by"],
                "reason": row["reason"],
                "at": row["at"],
                "expires_at": row["expires_at"],
            }
            for row in used
        ],
        "waivers": [],
        "separation": {"trainers": list(trainers), "persons": [row["by"] for row in used]},
        "unblocks": [],
        "evaluator": evaluator(),
        "evaluated_at": instant_text(now),
        "valid_until": instant_text(until),
        "supersedes": None if before is None else before.record,
        "asOf": as_of(head),
    }
    resting = Resting(
        decision="",
        namespace=namespace,
        size=head.size,
        inputs=makers.keys(),
        keys={maker.key_id for maker in makers.values()},
        gate=None,
        dataset=None,
        artifact=wanted.artifact,
        subjects=(),
    )
    return signed(services, namespace, predicate, resting)
