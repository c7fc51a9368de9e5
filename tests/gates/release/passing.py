"""The facts of a release that keeps everything which the policy asks for."""

from datetime import UTC, datetime
from typing import Any, Final

from gates.release.policy import Policy
from gates.release.protocol import protocol_digest
from tests.gates.release.policies import digest

Body = dict[str, Any]

NOW: Final = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
RECENTLY: Final = "2026-11-28T12:00:00Z"
LATER: Final = "2026-12-09T12:00:00Z"


def _measured(estimate: float, error: float, n: int, method: str = "delong") -> Body:
    return {
        "estimate": estimate,
        "standard_error": error,
        "n": n,
        "method": method,
        "successes": None,
        "trials": None,
    }


def _share(successes: int, trials: int, n: int) -> Body:
    rate = successes / trials
    error = (rate * (1 - rate) / trials) ** 0.5
    return _measured(rate, error, n, "wilson") | {"successes": successes, "trials": trials}


def _difference(candidate: float, incumbent: float, error: float, n: int, method: str) -> Body:
    return {
        "estimate": candidate - incumbent,
        "standard_error": error,
        "n": n,
        "method": method,
        "candidate": candidate,
        "incumbent": incumbent,
    }


def _slice(value: str, successes: int, trials: int) -> Body:
    recall = successes / trials
    return {
        "dimension": "country",
        "value": value,
        "n": 4 * trials,
        "positives": trials,
        "metrics": {"recall": _share(successes, trials, 4 * trials)},
        "differences": {"recall": _difference(recall, recall - 0.01, 0.004, 4 * trials, "closed-form")},
    }


def _run(name: str, seeds: str, auc: float, protocol: str) -> Body:
    return {
        "run_id": name,
        "seeds_digest": digest(seeds),
        "artifact": digest(f"artifact of {name}"),
        "record": digest(f"evaluation of {name}"),
        "level": "trusted_runner",
        "dataset": digest("eval"),
        "protocol_digest": protocol,
        "metrics": {"roc_auc": auc},
    }


def _evidence(kind: str, subject: str, level: str = "trusted_runner") -> Body:
    return {
        "kind": kind,
        "subject": subject,
        "outcome": "passed",
        "level": level,
        "produced_at": RECENTLY,
        "received_at": RECENTLY,
        "expires_at": LATER,
        "checks": 40,
        "rows": 1_000_000,
        "producer": "ci",
        "record": digest(f"report {kind} {subject}"),
        "revoked": False,
    }


def _statistics(protocol: str) -> Body:
    return {
        "schema": "shipworthy.statistics/1",
        "attempt": digest("attempt"),
        "candidate": digest("artifact"),
        "incumbent": digest("incumbent"),
        "dataset": digest("eval"),
        "protocol_digest": protocol,
        "evaluations": [digest("evaluation")],
        "incumbent_evaluations": [digest("evaluation of the incumbent")],
        "engine": {"scipy": "1.17.1"},
        "seed": 42,
        "resamples": 2000,
        "outcome": "ok",
        "reason": None,
        "rows": 40_000,
        "positives": 10_000,
        "metrics": {
            "roc_auc": _measured(0.92, 0.002, 40_000),
            "log_loss": _measured(0.4, 0.002, 40_000, "closed-form"),
            "p95_latency_ms": _measured(41.0, 0.3, 40_000, "bootstrap"),
        },
        "differences": {
            "roc_auc": _difference(0.92, 0.918, 0.001, 40_000, "delong"),
            "p95_latency_ms": _difference(41.0, 40.0, 0.3, 40_000, "bootstrap"),
        },
        "slices": [_slice("DE", 2400, 3000), _slice("NO", 1600, 2000), _slice("SE", 1700, 2100)],
        "repeats": {"roc_auc": [0.92]},
        "reported": [
            {"repeat": 0, "metric": "roc_auc", "reported": 0.92, "recomputed": 0.92, "agrees": True}
        ],
        "disjointness": {
            "status": "disjoint",
            "method": "key-sketch",
            "keys": 40_000,
            "overlap": 0,
            "false_positive_rate": 1e-9,
            "training": [digest("train")],
            "missing": [],
        },
        "record": digest("statistics"),
        "level": "server_run",
        "received_at": RECENTLY,
        "revoked": False,
    }


def make_facts(policy: Policy) -> Body:
    """Facts that keep everything which the policy of the scene asks for. Nobody has reviewed or waived anything."""
    protocol = protocol_digest(digest("evaluator"), digest("config"), "binary", 0.5)
    return {
        "schema": "shipworthy.facts/1",
        "namespace": "team-a",
        "model": "fraud-classifier",
        "to": "champion",
        "version": "7",
        "artifact": {
            "digest": digest("artifact"),
            "size_bytes": 1_000_000,
            "serialization": "safetensors",
            "records": [digest("artifact record")],
            "checksum": {
                "outcome": "passed",
                "level": "trusted_runner",
                "at": RECENTLY,
                "record": digest("checksum"),
            },
            "checkpoint": digest("checkpoint"),
        },
        "policy": {
            "name": policy.name,
            "version": policy.version,
            "digest": policy.digest,
            "document_digest": policy.document_digest,
            "owner": "author",
            "record": digest("policy record"),
            "revoked": False,
        },
        "training_run": {
            "run_id": "run-1",
            "record": digest("run"),
            "owner": "trainer",
            "state": "completed",
            "lineage_manifest": {"digest": digest("manifest"), "revision": 1},
            "recipe_digest": digest("recipe"),
            "family_digest": digest("family"),
            "seeds_digest": digest("seeds 1"),
            "git": {"commit": "0123456789abcdef", "dirty": False},
            "image": digest("image"),
            "snapshots": [
                {
                    "role": "train",
                    "digest": digest("train"),
                    "grade": "content",
                    "record": digest("train record"),
                    "revoked": False,
                    "contested": False,
                }
            ],
        },
        "incumbent": {
            "artifact": digest("incumbent"),
            "how": "promotion",
            "record": digest("promotion of the incumbent"),
        },
        "attempt": {
            "id": digest("attempt"),
            "number": 2,
            "state": "closed",
            "opened_at": RECENTLY,
            "level": "trusted_runner",
            "candidate": digest("artifact"),
            "dataset": digest("eval"),
            "evaluator": digest("evaluator"),
            "config": digest("config"),
            "protocol_digest": protocol,
            "repeats": 1,
            "incumbent": digest("incumbent"),
            "revoked": False,
        },
        "attempts": {"count": 3, "other_namespaces": 1, "extensions": []},
        "evaluations": [{"record": digest("evaluation"), "registered": True}],
        "statistics": _statistics(protocol),
        "dataset": {
            "digest": digest("eval"),
            "dataset": "team-a/fraud-eval-2026q4",
            "grade": "content",
            "row_count": 40_000,
            "record": digest("eval record"),
            "received_at": "2026-10-01T00:00:00Z",
            "revoked": False,
            "contested": False,
        },
        "family": [
            _run("run-1", "seeds 1", 0.92, protocol),
            _run("run-2", "seeds 2", 0.9201, protocol),
            _run("run-3", "seeds 3", 0.9202, protocol),
            _run("run-4", "seeds 4", 0.9199, protocol),
            _run("run-5", "seeds 5", 0.9198, protocol),
        ],
        "repeats": [_run("run-6", "seeds 1", 0.9203, protocol)],
        "evidence": [
            _evidence("data-contract", digest("train"), "server_run"),
            _evidence("checkpoint-restore", digest("artifact")),
            _evidence("protected-population", digest("artifact")),
            _evidence("serving-load-test", digest("artifact")),
        ],
        "approvers": 3,
        "reviews": [],
        "waivers": [],
        "flags": [],
    }
