"""Grants and what became of them, observations, demotions and reconciliations, written through the ledger."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from models.actor import SYSTEM, Actor
from models.fields import instant_text
from models.ledger.drafts import Stored
from tests.support.gate_history import decision_body
from tests.support.histories import NAMESPACE, History, digest

MODEL: Final = "churn"
TO: Final = "Produktion"


def write_promotions(history: History) -> None:
    """A target that was imported, promoted to, emptied, seen with something else and promoted to again; a registration,
    a failed and an open grant, a refusal, and two comparisons of the registry."""
    author = history.actor("author", owner="ada@example.org")
    approver = history.actor("approver", owner="grace@example.org")
    guard = history.actor("registry")
    decision = _decided(history, author, TO)
    history.add(guard, "promotion.observed", _named(TO) | _seen("3", 209, "import"))
    _moved(history, guard, decision, "4", incumbent={"version": "3", "artifact": digest(209)})
    history.add(guard, "promotion.observed", _named(TO) | _seen("3", 209, "import"), "again")
    allowed = history.add(
        approver, "demotion.allowed", _named(TO) | {"reason": "brann — 火", "by": approver.owner}
    )
    emptied = history.add(guard, "promotion.granted", _emptying(allowed.digest))
    history.add(guard, "promotion", _settled(_emptying(allowed.digest), emptied, "4"))
    history.add(guard, "promotion.observed", _named(TO) | _seen("7", None, "reconcile"))
    grant = _grant(decision.digest, "rollback", "4", {"version": "7", "artifact": None})
    given = history.add(guard, "promotion.granted", grant)
    history.add(guard, "promotion.failed", _settled(grant, given, "4") | {"reason": "größer als die Platte"})
    _moved(history, guard, decision, "4", action="rollback", incumbent={"version": "7", "artifact": None})
    _register(history, author, guard)
    history.add(guard, "promotion.granted", _grant(decision.digest, "promote", "4", None))
    refusal = {
        "action": "promote",
        "version": "5",
        "artifact": digest(205),
        "decision": None,
        "code": "undecided",
    }
    told = {"sentence": "Nei — まだ", "registry_user": "ada", "hour": "2026-05-01T12"}
    history.add(guard, "promotion.refused", _named(TO) | refusal | told)
    for number in (1, 2):
        history.add(guard, "registry.reconciled", _reconciled(number))


def _register(history: History, author: Actor, guard: Actor) -> None:
    decision = _decided(history, author, "registration")
    grant = _grant(decision.digest, "register", None, None) | {"target": "registration"}
    given = history.add(guard, "promotion.granted", grant)
    history.add(guard, "promotion", _settled(grant, given, "12"))


def _decided(history: History, author: Actor, target: str) -> Stored:
    """A pass of a gate before the target."""
    name = f"churn-{target}"
    gate = {
        "name": name,
        "version": 1,
        "media_type": "application/yaml",
        "digest": digest(601),
        "document_digest": digest(602),
        "size_bytes": 900,
        "applies_to": {"model": MODEL, "to": target},
        "criteria": ["auc"],
    }
    published = history.add(author, "gate.published", gate)
    body = decision_body(1, published.digest, author.key_id)
    predicate: dict[str, Any] = body["statement"]["predicate"]
    predicate |= {"mode": "enforce", "verdict": "passed", "to": target, "unblocks": []}
    predicate["incumbent"] = {"artifact": digest(209), "how": "observed", "record": published.digest}
    predicate["gate"] |= {"name": name, "digest": digest(601)}
    return history.add(replace(SYSTEM, namespace=NAMESPACE), "decision", body)


def _moved(
    history: History,
    guard: Actor,
    decision: Stored,
    version: str,
    *,
    action: str = "promote",
    incumbent: dict[str, Any] | None,
) -> None:
    grant = _grant(decision.digest, action, version, incumbent)
    given = history.add(guard, "promotion.granted", grant)
    history.add(guard, "promotion", _settled(grant, given, version))


def _named(target: str) -> dict[str, Any]:
    return {"registry": "default", "model": MODEL, "target": target}


def _seen(version: str, artifact: int | None, how: str) -> dict[str, Any]:
    return {"version": version, "artifact": None if artifact is None else digest(artifact), "how": how}


def _grant(
    decision: str, action: str, version: str | None, incumbent: dict[str, Any] | None
) -> dict[str, Any]:
    return _named(TO) | {
        "action": action,
        "version": version,
        "artifact": digest(201),
        "incumbent": incumbent,
        "decision": decision,
        "policy_digest": digest(601),
        "demotion": None,
        "registry_user": "ådne",
        "source": "runs:/1/modèle",
        "registry_run_id": "1",
        "expires_at": _soon(),
    }


def _emptying(demotion: str) -> dict[str, Any]:
    return _named(TO) | {
        "action": "demote",
        "version": "4",
        "artifact": None,
        "incumbent": {"version": "4", "artifact": digest(201)},
        "decision": None,
        "policy_digest": None,
        "demotion": demotion,
        "expires_at": _soon(),
    }


def _settled(grant: dict[str, Any], given: Stored, version: str) -> dict[str, Any]:
    own = ("policy_digest", "demotion", "expires_at")
    kept = {name: value for name, value in grant.items() if name not in own}
    return kept | {"version": version, "grant": given.digest}


def _reconciled(number: int) -> dict[str, Any]:
    return {
        "registry": "default",
        "started_at": f"2026-05-0{number}T12:00:00Z",
        "finished_at": f"2026-05-0{number}T12:00:01.5Z",
        "complete": True,
        "observed": number,
        "findings": {"undecided": 1},
        "judged": 0,
        "not_judged": 0,
        "report": digest(700 + number),
    }


def _soon() -> str:
    return instant_text(datetime.now(UTC) + timedelta(hours=1))
