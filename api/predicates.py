"""What a decision says: its predicate, put together from the facts, what judging them gave, and who made what."""

from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Any, Final

from api.schemas.gates import DecisionRequest
from gates.release.criteria.review import ReviewCriterion
from gates.release.evaluate import Decision
from gates.release.policy import Policy
from models.actor import Actor
from models.fields import instant_text
from models.gates.asking import JsonObject
from models.gates.gathering import Gathered
from models.gates.makers import Maker
from models.gates.queries import CurrentGate
from models.ledger.head import Head

EVALUATOR: Final = "shipworthy-server"
_MEASURING: Final = frozenset({"attempt", "evaluation", "statistics", "family", "repeat", "evidence"})


def as_of(head: Head) -> JsonObject:
    return {"origin": head.origin, "size": head.size, "root": "sha256:" + head.frontier.root().hex()}


def evaluator() -> JsonObject:
    return {"name": EVALUATOR, "version": version("shipworthy-server")}


def gate_predicate(
    actor: Actor,
    wanted: DecisionRequest,
    gate: CurrentGate,
    policy: Policy,
    gathered: Gathered,
    decision: Decision,
    makers: Mapping[str, Maker],
    now: datetime,
    facts: JsonObject,
    facts_digest: str,
) -> JsonObject:
    judged: dict[str, Any] = decision.as_json()
    run = facts["training_run"]
    used = {record for _, record in decision.inputs}
    return {
        "type": "gate",
        "mode": wanted.mode,
        "verdict": judged["verdict"],
        "sentence": judged["sentence"],
        "namespace": actor.namespace,
        "model": wanted.model,
        "version": wanted.version,
        "to": wanted.to,
        "artifact": {"digest": wanted.artifact, "size_bytes": facts["artifact"]["size_bytes"]},
        "training_run": None if run is None else _training_run(run),
        "incumbent": facts["incumbent"] | {"target": _compared_target(policy)},
        "gate": {
            "name": gate.name,
            "version": gate.version,
            "digest": gate.digest,
            "document_digest": gate.document_digest,
            "owner": gate.owner,
        },
        "protocol_digest": judged["protocol_digest"],
        "attempt": _attempt(policy, facts, judged["alpha"]),
        "criteria": judged["criteria"],
        "counts": judged["counts"],
        "warnings": judged["warnings"],
        "triggers": judged["triggers"],
        "inputs": _inputs(judged["inputs"], facts, makers),
        "facts": facts_digest,
        "reviews": [each for each in facts["reviews"] if each["record"] in used],
        "waivers": [each for each in facts["waivers"] if each["record"] in used],
        "separation": _separation(actor, gate, policy, gathered, facts, judged["inputs"], makers),
        "unblocks": judged["unblocks"],
        "evaluator": evaluator(),
        "evaluated_at": instant_text(now),
        "valid_until": judged["valid_until"],
        "asOf": as_of(gathered.head),
    }


def _compared_target(policy: Policy) -> str:
    """Where the incumbent was looked for."""
    return policy.to if policy.protocol is None else policy.protocol.incumbent.alias


def _training_run(run: JsonObject) -> JsonObject:
    sealed = run["lineage_manifest"]
    return {
        "run_id": run["run_id"],
        "record": run["record"],
        "owner": run["owner"],
        "made_of": run["made_of"],
        "lineage_manifest": None if sealed is None else sealed["digest"],
        "revision": None if sealed is None else sealed["revision"],
    }


def _attempt(policy: Policy, facts: JsonObject, alpha: float | None) -> JsonObject | None:
    attempt, counted = facts["attempt"], facts["attempts"]
    if attempt is None or policy.protocol is None:
        return None
    return {
        "id": attempt["id"],
        "number": attempt["number"],
        "budget": policy.protocol.attempts.budget,
        "alpha": alpha,
        "other_namespaces": counted["other_namespaces"],
        "extensions": counted["extensions"],
    }


def _inputs(
    judged: list[dict[str, str]], facts: JsonObject, makers: Mapping[str, Maker]
) -> list[dict[str, str]]:
    """Each record once, under the first of its roles, with the key that made it."""
    incumbent = facts["incumbent"]["record"]
    listed = [*judged, *([] if incumbent is None else [{"role": "incumbent", "record": incumbent}])]
    roles: dict[str, str] = {}
    for each in listed:
        roles.setdefault(each["record"], each["role"])
    return [{"role": role, "record": record, "key": makers[record].key_id} for record, role in roles.items()]


def _separation(
    actor: Actor,
    gate: CurrentGate,
    policy: Policy,
    gathered: Gathered,
    facts: JsonObject,
    inputs: list[dict[str, str]],
    makers: Mapping[str, Maker],
) -> JsonObject:
    """Who did what, by pseudonym: whoever approves must be none of `trainers`, `policy_author`, `waiver_grantors`, as
    far as `excluding` says so."""
    run = facts["training_run"]
    excluded = {
        each
        for criterion in policy.criteria
        if isinstance(criterion, ReviewCriterion)
        for each in criterion.excluding
    }
    measuring = {makers[each["record"]].key_id for each in inputs if each["role"] in _MEASURING}
    return {
        "trainer": None if run is None else run["owner"],
        "trainers": list(gathered.trainers),
        "policy_author": gate.owner,
        "waiver_grantors": sorted({each["owner"] for each in facts["waivers"] if each["owner"]}),
        "excluding": sorted(excluded),
        "asked_by": actor.owner,
        "evaluator_keys": sorted(measuring),
    }
