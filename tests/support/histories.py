"""A varied history, written through the ledger as the service writes it.

Facts come late, twice, in parts and after a version was sealed; numbers are those whose canonical text
differs from Python's; more than 256 records, so that a tree hash is stored and a pass takes several chunks.
"""

from dataclasses import dataclass
from typing import Any

from api.recording import Recorder
from models.actor import Actor, EvidenceLevel
from models.keys.administration import create_key, revoke_key
from models.keys.key_files import KeyRing
from models.keys.store import find_key
from models.ledger.drafts import Stored
from models.ledger.writer import Ledger
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

NAMESPACE = "team-a"
LONG_RUN_EVENTS = 300


def run_id(number: int) -> str:
    return f"01900000-0000-7000-8000-{number:012x}"


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


@dataclass(frozen=True)
class History:
    """Writes facts with real keys."""

    ledger: Ledger
    ring: KeyRing

    def actor(self, *roles: str, namespace: str = NAMESPACE, owner: str | None = None) -> Actor:
        created = create_key(self.ledger, self.ring, namespace=namespace, roles=roles, owner=owner)
        with self.ledger.database.read() as session:
            row = find_key(session, created.key_id)
            assert row is not None
            return Actor(
                key_id=row.key_id,
                namespace=row.namespace,
                roles=frozenset(created.roles),
                level=EvidenceLevel(row.level),
                owner=row.owner,
                who=row.who,
            )

    def add(self, actor: Actor, kind: str, body: dict[str, Any], key: str | None = None) -> Stored:
        """The first record of the post."""
        item = Recorder(self.ring.pepper).item(kind, actor, body, key)
        return self.ledger.append(item).result(30)[0]


def write_history(ledger: Ledger, ring: KeyRing) -> None:
    """Some 350 records: five runs in two namespaces, their products, verifications, versions, revocations."""
    history = History(ledger, ring)
    recorder = history.actor("recorder", owner="ada@example.org")
    evaluator = history.actor("evaluator", owner="grace@example.org")
    author = history.actor("author")
    other = history.actor("recorder", namespace="team-b")
    registered = history.add(recorder, "run.registered", _full_run(1), key="first-post")
    history.add(recorder, "run.registered", _full_run(1), key="first-post")
    history.add(
        recorder, "run.registered", _full_run(2) | {"initiated_by": "lin@example.org", "artifacts": []}
    )
    history.add(other, "run.registered", _full_run(1) | {"tags": {"owner": "team b"}})
    _write_late_facts(history, recorder, evaluator)
    long_run, notes = {"run_id": run_id(4), "job": {"namespace": "ci", "name": "long"}}, _notes()
    history.add(recorder, "run.registered", long_run | {"events": notes[:40]})
    for note in notes:
        history.add(recorder, "run.event", note | {"run_id": run_id(4)})
    _write_contracts(history, recorder, author)
    noted = history.add(recorder, "run.event", _event(4, type="note", text="Ærlig talt — 最後"))
    history.add(
        author, "revocation", {"record": noted.digest, "effect": "revoked", "reason": "said in error"}
    )
    history.add(
        author, "revocation", {"record": registered.digest, "effect": "contested", "reason": "which data?"}
    )
    revoke_key(ledger, author.key_id, namespace=NAMESPACE, reason="left the team")


def _write_late_facts(history: History, recorder: Actor, evaluator: Actor) -> None:
    history.add(
        recorder,
        "run.registered",
        {
            "run_id": run_id(3),
            "job": {"namespace": "ci", "name": "train"},
            "heartbeat": {"expected": False},
            "resumed_from": {"checkpoint": digest(102), "run_id": run_id(1)},
        },
    )
    history.add(recorder, "run.event", _event(3, state="completed", at="2026-05-02T12:00:00+02:00"))
    history.add(recorder, "run.event", _event(3, state="failed", at="2026-05-02T11:00:00Z"))
    history.add(
        recorder, "run.event", _event(3, state="running", at="2026-05-02T09:00:00.123456Z", attempt=2)
    )
    for number in (1, 2):
        version = {"model": "churn", "version": str(number), "artifact": digest(200 + number)}
        history.add(
            recorder, "model_version", version | {"run_id": run_id(number), "tags": {"stage": "candidate"}}
        )
    # Sealed already: each of these makes a new revision of the lineage manifest.
    part = {"run_id": run_id(1), "job": {"namespace": "ci", "name": "train"}, "tags": {"late": "yes"}}
    history.add(recorder, "run.registered", part | {"hardware": {"nodes": 2, "cpu": "x"}})
    history.add(recorder, "artifact", {"run_id": run_id(2), "digest": digest(300), "role": "report"})
    history.add(recorder, "checkpoint.saved", _checkpoint(1, 103, 3000) | {"run_id": run_id(1)})
    history.add(evaluator, "evaluation.completed", _evaluation(201) | {"run_id": run_id(1)})
    history.add(evaluator, "evaluation.completed", _evaluation(999))
    history.add(recorder, "snapshot", _snapshot(51))
    copy = {"dataset": {"namespace": "s3", "name": "clicks-copy"}, "grade": "declared", "row_count": 11}
    history.add(recorder, "snapshot", _snapshot(51) | copy)
    for level, outcome in (("checksummed", "passed"), ("loaded", "failed")):
        history.add(
            recorder,
            "checkpoint.verified",
            {
                "checkpoint": digest(101),
                "level": level,
                "outcome": outcome,
                "checked_at": "2026-05-03T00:00:00Z",
            },
        )


def _write_contracts(history: History, recorder: Actor, author: Actor) -> None:
    worker = history.actor("worker")
    baseline = _baseline()
    named = sha256_digest(canonicalize(baseline))
    asked = history.actor("author", owner="ada@example.org")
    published = {
        "digest": named,
        "baseline": baseline,
        "root": "lake",
        "path": "clicks/2026",
        "requested_by": asked.owner,
    }
    history.add(worker, "baseline.published", published)
    approver = history.actor("approver", owner="grace@example.org")
    history.add(approver, "baseline.approved", {"baseline": named, "reason": "looked at — 良い"})
    for version in (1, 2):
        contract = _contract(version)
        history.add(author, "contract.published", contract | {"baseline": named})
        history.add(worker, "contract.checked", _checked(contract, named))
    reported = _checked(_contract(2), named) | {"run_id": run_id(1)}
    history.add(recorder, "contract.checked", reported)


def _contract(version: int) -> dict[str, Any]:
    return {
        "version": version,
        "name": "clicks",
        "format": "odcs",
        "media_type": "application/yaml",
        "digest": digest(400 + version),
        "size_bytes": 1234,
        "suite_digest": digest(410 + version),
        "objects": [{"not_evaluated": 1, "name": "Klickstrøm", "checks": 1, "blocking": 1}],
    }


def _checked(contract: dict[str, Any], baseline: str) -> dict[str, Any]:
    return {
        "contract": {name: contract[name] for name in ("name", "version", "digest", "suite_digest")},
        "object": "Klickstrøm",
        "baseline": baseline,
        "parameters": {"share": 1.0, "day": "2026-05-01"},
        "as_of": "2026-05-01T12:00:00+02:00",
        "data": {
            "manifest": digest(51),
            "root": "lake",
            "path": "clicks/2026",
            "files": 1,
            "bytes": 10,
            "rows": 7,
        },
        "engine": {"name": "duckdb", "versions": {"duckdb": "2.0.1"}},
        "started_at": "2026-05-01T12:00:00Z",
        "completed_at": "2026-05-01T12:00:01.5Z",
        "outcome": "failed",
        "counts": {"failed": 1},
        "checks": [
            {
                "id": "psi",
                "type": "expect_population_stability_index_to_be_at_most",
                "column": "zone",
                "blocking": True,
                "outcome": "failed",
                "observed": 1e16,
                "histogram": {"labels": ["a", "b"], "baseline": [1.0, 1e-07], "observed": [0.5, None]},
            }
        ],
    }


def _baseline() -> dict[str, Any]:
    return {
        "schema": "shipworthy.baseline/1",
        "engine": {"version": "2.0.1", "name": "duckdb"},
        "data": {"rows": 10, "files": 1, "manifest": digest(51)},
        "columns": [
            {
                "name": "Größe",
                "kind": "number",
                "n": 10,
                "nulls": 0,
                "bins": {"edges": [0, 1.0, 1e16], "counts": [4, 6]},
                "quantiles": {"values": {"0.5": 1.0}, "definition": "linear"},
            },
            {"name": "zone", "kind": "label", "n": 10, "nulls": 1, "labels": [["a", 5], ["ü", 4]]},
        ],
    }


def _full_run(number: int) -> dict[str, Any]:
    return {
        "run_id": run_id(number),
        "started_at": "2026-05-01T12:00:00.000Z",
        "team": "team a",
        "job": {"name": "train", "namespace": "ci"},
        "tags": {"zone": "north", "Ähre": "ü", "a": "1"},
        "code": {"commit": "a" * 40, "dirty": False, "repository": "https://example.org/code"},
        "environment": {"python": "3.12", "image": {"digest": digest(9), "name": "trainer"}},
        "config": {
            "values": {
                "lr": 3e-05,
                "whole": 1.0,
                "large": 1e16,
                "huge": 1e300,
                "zero": -0.0,
                "seed": 7,
                "on": True,
            },
            "seed_keys": ["/seed"],
        },
        "seeds": {"values": {"numpy": 7}, "derivation": "one seed for all"},
        "inputs": [
            {"role": "train", "snapshot": _snapshot(50 + number)},
            {"role": "base_model", "digest": digest(60)},
            {"role": "test", "snapshot": {"dataset": {"namespace": "s3", "name": "old"}, "grade": "none"}},
        ],
        "transformations": [
            {"version": "2", "name": "dedupe", "output": digest(70), "statistics": {"share": 1.0, "rows": 10}}
        ],
        "events": [
            {"type": "attempt.started", "at": "2026-05-01T12:00:01Z"},
            {"type": "state", "state": "completed", "at": "2026-05-01T15:00:00.000Z"},
            {"type": "phase", "phase": "warm-up", "at": "2026-05-01T12:30:00Z", "step": 3},
        ],
        "checkpoints": [_checkpoint(number, 101, 1000), _checkpoint(number, 102, 2000)],
        "artifacts": [{"digest": digest(200 + number), "role": "model", "size_bytes": 2**53 - 1}],
        "evaluations": [_evaluation(200 + number)],
    }


def _notes() -> list[dict[str, Any]]:
    return [
        {"type": "note", "text": f"step {step}", "at": "2026-05-04T00:00:00Z", "step": step}
        for step in range(LONG_RUN_EVENTS)
    ]


def _event(number: int, **members: str | int) -> dict[str, Any]:
    return {"run_id": run_id(number), "type": "state", "at": "2026-05-02T10:00:00Z"} | members


def _checkpoint(number: int, name: int, step: int) -> dict[str, Any]:
    trained_until = f"2026-05-01T1{step // 1000}:00:0{number}.5Z"
    return {"digest": digest(name), "step": step, "trained_until": trained_until, "duration_seconds": 12.0}


def _evaluation(subject: int) -> dict[str, Any]:
    return {
        "subject": digest(subject),
        "metrics": {"auc": 0.91, "accuracy": 1.0, "loss": 1e-07, "n": 5e21},
        "protocol": {"folds": 5, "holdout": 0.2, "split": ["a", 1, 2.0, True]},
        "slices": [{"dimension": "country", "value": "NO", "metrics": {"auc": 1.0}}],
    }


def _snapshot(number: int) -> dict[str, Any]:
    return {
        "grade": "manifest",
        "digest": digest(number),
        "dataset": {"namespace": "s3", "name": "clicks"},
        "row_count": 10,
    }
