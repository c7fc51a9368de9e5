"""Gates, decisions, reviews, waivers and break-glass, written through the ledger as the service writes them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from models.actor import SYSTEM, Actor
from models.fields import instant_text
from models.ledger.drafts import Stored
from tests.support.histories import NAMESPACE, History, digest

MODEL: Final = "churn"
TO: Final = "champion"
_FAR: Final = "2099-05-01T12:00:00.5+02:00"


def write_gates(history: History) -> None:
    """Two versions of a gate, a decision by each and one by break-glass, every action of a review, two waivers of the
    same words, and wishes to pass by the gate."""
    author = history.actor("author", owner="ada@example.org")
    approver = history.actor("approver", owner="grace@example.org")
    other = history.actor("approver", owner="noor@example.org")
    evaluator = history.actor("evaluator", owner="kim@example.org")
    _decided(history, author, 7)
    decision = _decided(history, author, 8)
    for actor, action in ((evaluator, "requested"), (approver, "approved"), (other, "denied")):
        ends = {"expires_at": _FAR} if action == "approved" else {}
        said = {"decision": decision.digest, "reason": "sett på — 見た"}
        history.add(actor, f"review.{action}", _bound(actor.owner) | said | ends)
    for person in (approver, other):
        waived = {"criterion": "größe", "reason": "known", "expires_at": _FAR}
        history.add(person, "waiver", _bound(person.owner) | waived)
        wish = {
            "model": MODEL,
            "artifact": digest(201),
            "to": TO,
            "reason": "brann",
            "expires_at": _soon(),
            "by": person.owner,
        }
        history.add(person, "break_glass.asked", wish)


def _decided(history: History, author: Actor, version: int) -> Stored:
    gate = history.add(author, "gate.published", _gate(version))
    body = decision_body(version, gate.digest, author.key_id)
    return history.add(replace(SYSTEM, namespace=NAMESPACE), "decision", body)


def _gate(version: int) -> dict[str, Any]:
    return {
        "version": version,
        "name": "churn-champion",
        "media_type": "application/yaml",
        "digest": digest(500 + version),
        "document_digest": digest(510 + version),
        "size_bytes": 900,
        "applies_to": {"to": TO, "model": MODEL, "valid_for_seconds": 604800.0},
        "criteria": ["auc", "größe"],
        "reason": "Strammet — 厳しく",
    }


def _bound(owner: str | None) -> dict[str, Any]:
    return {
        "to": TO,
        "gate": "churn-champion",
        "policy_version": 8,
        "model": MODEL,
        "artifact": digest(201),
        "by": owner,
        "groups": ["model-risk"],
    }


def decision_body(version: int, gate: str, key: str) -> dict[str, Any]:
    predicate = {
        "type": "gate",
        "mode": "enforce" if version == 8 else "shadow",
        "verdict": "blocked",
        "sentence": "Blocked: auc is 1e-07.",
        "namespace": NAMESPACE,
        "model": MODEL,
        "version": None,
        "to": TO,
        "artifact": {"digest": digest(201), "size_bytes": None},
        "training_run": None,
        "incumbent": {"artifact": None, "how": "none", "record": None},
        "gate": {
            "name": "churn-champion",
            "version": version,
            "digest": digest(500 + version),
            "document_digest": digest(510 + version),
            "owner": None,
        },
        "protocol_digest": digest(1),
        "attempt": None,
        "criteria": [{"id": "auc", "observed": 1e-07, "interval": [1e16, 1.0], "outcome": "failed"}],
        "counts": {"failed": 1},
        "warnings": [],
        "triggers": [],
        "inputs": [{"role": "policy", "record": gate, "key": key}],
        "facts": digest(2),
        "reviews": [],
        "waivers": [],
        "separation": {"trainer": "ada", "excluding": []},
        "unblocks": ["A better artifact is needed."],
        "evaluator": {"name": "shipworthy-server", "version": "0"},
        "evaluated_at": "2026-05-01T12:00:00.123456Z",
        "valid_until": _FAR,
        "supersedes": None,
        "asOf": {"origin": "log", "size": 1, "root": digest(3)},
    }
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": MODEL, "digest": {"sha256": digest(201)[7:]}}],
        "predicateType": "urn:shipworthy:release-decision:1",
        "predicate": predicate,
    }
    return {"statement": statement, "signature": {"keyid": digest(4), "sig": "c2lnbmF0dXJl"}}


def _soon() -> str:
    return instant_text(datetime.now(UTC) + timedelta(days=1))
