"""A deployment in memory: a log of records, a decision that passed, and the bundle and trust file of it."""

import json
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shipworthy.formats.bundle import Bundle, Growth, ProvenRecord, bundle_document
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.dsse import IN_TOTO_TYPE, sign_payload
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.log_entry import leaf_entry
from shipworthy.formats.merkle import consistency_path, inclusion_path, leaf_hash, tree_root
from shipworthy.formats.notes import TreeHead, sign_note, verifier_key
from shipworthy.formats.statement import decision_statement
from shipworthy.formats.trust import trust_document

ORIGIN = "ships.example/log"
NOW = "2026-06-01T12:00:00.000Z"
EVALUATED = "2026-06-01T11:00:00.000Z"
UNTIL = "2026-06-08T11:00:00.000Z"
TRAINER, AUTHOR, APPROVER, OTHER = "p-trainer", "p-author", "p-approver", "p-other"


@dataclass
class Deployment:
    """Appends records as a service does, and hands out what GET …/bundle and GET /v1/trust answer."""

    log_key: Ed25519PrivateKey = field(
        default_factory=lambda: Ed25519PrivateKey.from_private_bytes(b"l" * 32)
    )
    decision_key: Ed25519PrivateKey = field(
        default_factory=lambda: Ed25519PrivateKey.from_private_bytes(b"d" * 32)
    )
    records: list[tuple[str, str]] = field(default_factory=list)
    """Text and kind, by position."""

    def append(
        self, kind: str, body: dict[str, Any], owner: str | None, key: str = "k1", namespace: str = "team"
    ) -> str:
        record: dict[str, Any] = {
            "actor": {"auth": "key", "id": key, "level": "trusted_runner", "owner": owner},
            "body": body,
            "created": EVALUATED,
            "kind": kind,
            "links": [],
            "nonce": f"{len(self.records):032x}",
            "ns": namespace,
            "schema": sha256_digest(kind.encode()),
            "subjects": [],
            "v": "shipworthy.record/1",
        }
        text = canonicalize(record)
        self.records.append((text.decode(), kind))
        return sha256_digest(text)

    def head(self, size: int | None = None) -> TreeHead:
        size = len(self.records) if size is None else size
        return TreeHead(ORIGIN, size, tree_root(self._leaves()[:size]))

    def note(self, size: int | None = None) -> str:
        return sign_note(self.head(size).text(), ORIGIN, self.log_key)

    def bundle(self, decision: str, *, since: int | None = None) -> dict[str, Any]:
        """With every record of the log: all that is in it has to do with the decision."""
        size = len(self.records)
        as_of = self._predicate(decision)["asOf"]["size"]
        growth = [
            Growth(each, tuple(consistency_path(each, size, self._node)))
            for each in sorted({as_of} | (set() if since is None else {since}))
        ]
        proven = [
            ProvenRecord(text, at, tuple(inclusion_path(at, size, self._node)))
            for at, (text, _) in enumerate(self.records)
        ]
        return bundle_document(Bundle(decision, self.note(), tuple(growth), tuple(proven)))

    def trust(self) -> dict[str, Any]:
        log = verifier_key(ORIGIN, self.log_key.public_key().public_bytes_raw())
        return trust_document(log, self.decision_key.public_key().public_bytes_raw(), ["team"])

    def sign(self, predicate: dict[str, Any]) -> dict[str, Any]:
        """The body of a decision record."""
        statement = decision_statement(predicate["model"], predicate["artifact"]["digest"], predicate)
        signature = sign_payload(IN_TOTO_TYPE, canonicalize(statement), self.decision_key)
        return {"signature": signature, "statement": statement}

    def _predicate(self, decision: str) -> dict[str, Any]:
        for text, _ in self.records:
            if sha256_digest(text.encode()) == decision:
                found: dict[str, Any] = json.loads(text)["body"]["statement"]["predicate"]
                return found
        raise AssertionError("no such decision")

    def _leaves(self) -> list[bytes]:
        return [leaf_hash(leaf_entry(sha256_digest(text.encode()), kind)) for text, kind in self.records]

    def _node(self, level: int, index: int) -> bytes:
        width = 1 << level
        return tree_root(self._leaves()[index * width : (index + 1) * width])


def result(
    name: str, outcome: str = "passed", effect: str = "none", severity: str = "block"
) -> dict[str, Any]:
    """A criterion's result as decisions record it."""
    return {
        "id": name,
        "kind": "threshold",
        "outcome": outcome,
        "effect": effect,
        "severity": severity,
        "on": {"inconclusive": None, "too_small": None},
        "state": None,
        "observed": 0.91,
        "interval": [0.905, 0.915],
        "bound": "≥ 0.900",
        "n": 20000,
        "needed_n": None,
        "method": "delong",
        "alpha": 0.05,
        "seed": 7,
        "evidence": [],
        "code": None,
        "sentence": "roc_auc is at least 0.905",
        "parts": [],
        "waiver": None,
    }


@dataclass
class Case:
    """A decision that passed with one approval and one waiver; a test changes what it needs before `decide`."""

    artifact: str
    deployment: Deployment = field(default_factory=Deployment)
    criteria: list[dict[str, Any]] = field(
        default_factory=lambda: [result("auc"), result("latency", "waived"), result("sign-off")]
    )
    changes: dict[str, Any] = field(default_factory=dict)
    """Members of the predicate that are other than usual."""
    approver: str | None = APPROVER
    approval: dict[str, Any] = field(default_factory=dict)
    waiver: dict[str, Any] = field(default_factory=dict)
    policy_ids: list[str] | None = None

    def decide(self) -> str:
        """Appends everything; gives the decision's id."""
        log = self.deployment
        gate = {
            "name": "fraud-champion",
            "version": 7,
            "digest": _digest("g"),
            "document_digest": _digest("G"),
        }
        asked = self.policy_ids or [each["id"] for each in self.criteria]
        policy = log.append("gate.published", {**gate, "criteria": asked}, AUTHOR, "k-author")
        bound = {"artifact": self.artifact, "gate": "fraud-champion", "policy_version": 7, "to": "champion"}
        approval_body = {
            **bound,
            "decision": _digest("x"),
            "reason": "fine",
            "expires_at": UNTIL,
            **self.approval,
        }
        approval = log.append("review.approved", approval_body, self.approver, "k-approver")
        waiver_body = {
            **bound,
            "criterion": "latency",
            "reason": "night job",
            "expires_at": UNTIL,
            **self.waiver,
        }
        waiver = log.append("waiver", waiver_body, OTHER, "k-other")
        for each in self.criteria:
            each["waiver"] = waiver if each["outcome"] == "waived" else None
        run = log.append("run.registered", {"run_id": "r1"}, TRAINER, "k-run")
        statistics = log.append("statistics", {"outcome": "ok"}, None, "k-worker")
        head = log.head()
        roles = {"policy": policy, "run": run, "statistics": statistics, "review": approval, "waiver": waiver}
        predicate: dict[str, Any] = {
            "type": "gate",
            "mode": "enforce",
            "verdict": "passed",
            "sentence": "May ship.",
            "namespace": "team",
            "model": "fraud",
            "version": "3",
            "to": "champion",
            "artifact": {"digest": self.artifact, "size_bytes": 5},
            "training_run": {"run_id": "r1", "owner": TRAINER},
            "incumbent": None,
            "gate": {**gate, "owner": AUTHOR},
            "protocol_digest": _digest("p"),
            "attempt": None,
            "criteria": self.criteria,
            "counts": {"passed": 2, "waived": 1},
            "warnings": [],
            "triggers": [],
            "inputs": [{"role": role, "record": digest, "key": "k"} for role, digest in roles.items()],
            "facts": _digest("f"),
            "reviews": [{"record": approval, "action": "approve", "owner": self.approver}],
            "waivers": [{"record": waiver, "criterion": "latency", "owner": OTHER}],
            "separation": {},
            "unblocks": [],
            "evaluator": {"name": "shipworthy-server", "version": "0.1.0"},
            "evaluated_at": EVALUATED,
            "valid_until": UNTIL,
            "supersedes": None,
            "asOf": {"origin": ORIGIN, "size": head.size, "root": "sha256:" + head.root.hex()},
            **self.changes,
        }
        return log.append("decision", log.sign(predicate), None, "system")


def _digest(letter: str) -> str:
    return sha256_digest(letter.encode())


def encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()
