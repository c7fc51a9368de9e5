"""A decision: facts gathered, judged, signed and appended, unless something moved meanwhile."""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from anyio import to_thread
from sqlalchemy import Connection

from api.keeping import keep_blob, kept_blob
from api.policies import published_policy
from api.predicates import gate_predicate
from api.schemas.gates import DecisionRequest
from api.services import Services
from gates.release.evaluate import Decision, evaluate
from gates.release.policy import Policy
from models.actor import SYSTEM, Actor
from models.errors import DecisionMoved, FieldProblem, InvalidInput, ShipworthyError
from models.gates.asking import Asked, JsonObject, Protocol
from models.gates.gathering import Gathered, gather
from models.gates.makers import makers_of
from models.gates.moving import Resting, unmoved
from models.gates.queries import CurrentGate, get_gate, get_gate_version, latest_decision
from models.kinds.gates import DecisionMade
from models.kinds.registry import KINDS
from models.ledger.drafts import Item, make_draft
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.dsse import IN_TOTO_TYPE, sign_payload
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.statement import decision_statement

TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Prepared:
    """A signed decision that has no place in the log yet. `item` appends it if nothing moved."""

    item: Item
    predicate: JsonObject


@dataclass(frozen=True, slots=True)
class Judged:
    """What was asked, what is known about it, and what the policy makes of that at `now`."""

    asked: Asked
    gathered: Gathered
    facts: JsonObject
    decision: Decision
    now: datetime


async def decide(services: Services, actor: Actor, name: str, wanted: DecisionRequest) -> JsonObject:
    """The predicate with `decision`, `position`. Raises NotFound, InvalidInput, RecordTooLarge, or DecisionMoved when
    what it rests on changed each time that it was tried."""
    moved: ShipworthyError | None = None
    for _ in range(TRIES):
        prepared = await to_thread.run_sync(prepare, services, actor, name, wanted)
        outcome = await appended(services, prepared)
        if not isinstance(outcome, DecisionMoved):
            return outcome
        moved = outcome
    assert moved is not None
    raise moved


async def appended(services: Services, prepared: Prepared) -> JsonObject | DecisionMoved:
    """What the caller is told, or why it has to be decided again; raises what else refuses it."""
    (outcome,) = await services.ledger.append_all([prepared.item])
    if isinstance(outcome, DecisionMoved):
        return outcome
    if isinstance(outcome, ShipworthyError):
        raise outcome
    return {"decision": outcome[0].digest, **prepared.predicate, "position": outcome[0].position}


def prepare(services: Services, actor: Actor, name: str, wanted: DecisionRequest) -> Prepared:
    """Everything but the append. The facts are kept as a blob: with them and the policy anybody can judge again. So is
    what the training run is made of, which a decision seals also where no model version does."""
    with services.database.read() as session:
        connection = session.connection()
        gate = get_gate(connection, actor.namespace, name)
        published = get_gate_version(connection, actor.namespace, name, gate.version)
        policy = published_policy(services.blobs, actor.namespace, published)
        _check_subject(policy, wanted)
        judged = judge_now(services, connection, actor.namespace, gate, policy, wanted)
        gathered, facts, decision, now = judged.gathered, judged.facts, judged.decision, judged.now
        records = {record for _, record in decision.inputs}
        if facts["incumbent"]["record"] is not None:
            records.add(facts["incumbent"]["record"])
        makers = makers_of(connection, actor.namespace, records)
        before = latest_decision(connection, actor.namespace, wanted.model, wanted.to, wanted.artifact)
    kept = canonicalize(facts)
    for data in (kept, gathered.made_of):
        if data is not None:
            keep_blob(services.blobs, actor.namespace, sha256_digest(data), data)
    predicate = gate_predicate(
        actor, wanted, gate, policy, gathered, decision, makers, now, facts, sha256_digest(kept)
    ) | {"supersedes": before.record if before is not None and wanted.mode == "enforce" else None}
    resting = Resting(
        decision="",
        namespace=actor.namespace,
        size=gathered.head.size,
        inputs=makers.keys(),
        keys={maker.key_id for maker in makers.values()},
        gate=gate.name,
        dataset=judged.asked.protocol.dataset,
        artifact=wanted.artifact,
        subjects=gathered.subjects,
    )
    return signed(services, actor.namespace, predicate, resting)


def judge_now(
    services: Services,
    connection: Connection,
    namespace: str,
    gate: CurrentGate,
    policy: Policy,
    wanted: DecisionRequest,
) -> Judged:
    """What the gate says of what is recorded at this moment. Nothing is written."""
    asked = _asked(namespace, gate, policy, wanted)
    gathered = gather(connection, asked)
    facts = _with_slices(services, namespace, gathered.facts)
    now = max(datetime.now(UTC), gathered.head.committed_at)
    return Judged(asked, gathered, facts, evaluate(policy, facts, now), now)


def signed(services: Services, namespace: str, predicate: JsonObject, resting: Resting) -> Prepared:
    """The record of a decision. Its actor is the service: nobody else can make one."""
    statement = decision_statement(predicate["model"], predicate["artifact"]["digest"], predicate)
    signature = sign_payload(IN_TOTO_TYPE, canonicalize(statement), services.ring.decision_key)
    body = {"statement": statement, "signature": signature}
    fact = DecisionMade.model_validate(body)
    draft = make_draft(KINDS["decision"], replace(SYSTEM, namespace=namespace), body, fact)
    return Prepared(Item((draft,), check=unmoved(replace(resting, decision=draft.digest))), predicate)


def _check_subject(policy: Policy, wanted: DecisionRequest) -> None:
    for field, found, needed in (("model", wanted.model, policy.model), ("to", wanted.to, policy.to)):
        if found != needed:
            message = (
                f"is {found}, but this gate stands before {policy.to} of model {policy.model}; ask another"
            )
            raise InvalidInput(f"/{field} {message}", problems=[FieldProblem(f"/{field}", message)])


def _asked(namespace: str, gate: CurrentGate, policy: Policy, wanted: DecisionRequest) -> Asked:
    rule = policy.protocol
    return Asked(
        namespace=namespace,
        model=wanted.model,
        target=wanted.to,
        artifact=wanted.artifact,
        version=wanted.version,
        registry=wanted.registry,
        gate=gate,
        protocol=Protocol(None, None, None, None)
        if rule is None
        else Protocol(rule.dataset.snapshot, rule.evaluator, rule.config, rule.incumbent.alias),
        flags=tuple(wanted.flags),
        now=datetime.now(UTC),
    )


def _with_slices(services: Services, namespace: str, facts: JsonObject) -> JsonObject:
    """Slices that were too many for their record come from the blob that it names."""
    statistics = facts["statistics"]
    if statistics is None or statistics["slices_blob"] is None:
        return facts
    slices = json.loads(kept_blob(services.blobs, namespace, statistics["slices_blob"]))
    return {**facts, "statistics": {**statistics, "slices": slices}}
