"""A release that passes its policy in every respect, and ways to change one fact of it."""

import copy
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from gates.release.evaluate import Decision, evaluate
from gates.release.loading import load_policy
from gates.release.policy import Policy
from gates.release.protocol import protocol_digest

Body = dict[str, Any]

NOW: Final = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
RECENTLY: Final = "2026-11-28T12:00:00Z"
LATER: Final = "2026-12-09T12:00:00Z"


def digest(word: str) -> str:
    return "sha256:" + hashlib.sha256(word.encode()).hexdigest()


HEAD: Final = f"""\
apiVersion: shipworthy/v1
kind: ReleaseGate
metadata: {{name: fraud-classifier-champion, version: 7, owner: team-risk, reason: "Tightened NO recall floor"}}
appliesTo: {{model: fraud-classifier, to: champion, validFor: P7D}}
protocol:
  evaluator: {digest("evaluator")}
  config: {digest("config")}
  dataset: {{id: fraud-eval-2026q4, snapshot: {digest("eval")}, maxAge: P90D, disjointFromTraining: required,
    minimumRows: 20000}}
  incumbent: {{resolve: alias, alias: champion, onNone: first-release}}
  attempts: {{countPer: dataset-snapshot, budget: 10, alpha: 0.05, spending: harmonic-square, onBudgetSpent: block}}
"""

CRITERIA: Final[dict[str, str]] = {
    "auc-floor": "kind: threshold, metric: roc_auc, min: 0.900, use: lower-confidence-bound, severity: block",
    "loss": "kind: threshold, metric: log_loss, max: 0.5, severity: block",
    "auc-not-worse": (
        "kind: comparison, metric: roc_auc, better: higher, test: non-inferiority, margin: 0.005, "
        "method: paired-bootstrap, onInconclusive: review, severity: block"
    ),
    "latency": (
        "kind: comparison, metric: p95_latency_ms, better: lower, test: relative, maxRegression: 0.10, severity: review"
    ),
    "recall-by-country": (
        'kind: slices, metric: recall, dimension: country, expected: ["DE", "NO", "SE"], minimumPositives: 1500, '
        "floor: 0.70, maxRegression: 0.02, correction: holm, onTooSmall: review, onInconclusive: review, "
        "severity: block"
    ),
    "stable": (
        "kind: stability, metric: roc_auc, runs: 5, maxCv: 0.02, use: upper-confidence-bound, severity: block"
    ),
    "reproduced": "kind: reproduction, metric: roc_auc, runs: 1, severity: review",
    "contract": (
        "kind: evidence, evidence: data-contract, maxAge: P30D, minimumChecks: 10, minimumRows: 1000, "
        "level: server_run, severity: block"
    ),
    "restore": "kind: evidence, evidence: checkpoint-restore, maxAge: P7D, severity: block",
    "bias": "kind: evidence, evidence: protected-population, maxAge: P90D, severity: block",
    "artifact": (
        "kind: artifact, maxBytes: 2000000000, serialization: [safetensors, onnx], checksum: required, "
        "servingLoadTest: required, maxAge: P30D, severity: block"
    ),
    "provenance": (
        f"kind: provenance, imageDigestIn: [{digest('image')}], gitClean: true, snapshotGrade: manifest, "
        "severity: block"
    ),
    "sign-off": (
        "kind: review, approvals: 2, roles: [model-risk], excluding: [trainer, policy-author, waiver-grantor], "
        "triggeredBy: [inconclusive, contested-data-provenance, first-release, business-conditions-changed], "
        "expiresAfter: P14D, severity: block"
    ),
}
WAIVERS: Final = "waivers: {allowed: [latency, bias], maxDuration: P30D, approvals: 2, maxPerDecision: 2}\n"


def policy_text(criteria: dict[str, str] | None = None, *, head: str = HEAD, waivers: str = WAIVERS) -> bytes:
    lines = [f"  - {{id: {name}, {rest}}}\n" for name, rest in (criteria or CRITERIA).items()]
    return f"{head}criteria:\n{''.join(lines)}{waivers}".encode()


def make_policy(*ids: str, head: str = HEAD, waivers: str | None = None, **changed: str) -> Policy:
    """The policy of the scene, or of some of its criteria; `changed` replaces or adds one ("_" reads as "-")."""
    criteria = {name: CRITERIA[name] for name in (ids or CRITERIA)}
    criteria |= {name.replace("_", "-"): rest for name, rest in changed.items()}
    if waivers is None:
        allowed = ", ".join(name for name in ("latency", "bias") if name in criteria)
        waivers = WAIVERS.replace("latency, bias", allowed)
    return load_policy(policy_text(criteria, head=head, waivers=waivers))


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


def make_review(policy: Policy, owner: str | None, action: str = "approve", **changed: object) -> Body:
    return {
        "record": digest(f"{action} {owner}"),
        "action": action,
        "owner": owner,
        "groups": ["model-risk"],
        "artifact": digest("artifact"),
        "gate": policy.name,
        "policy_version": policy.version,
        "to": "champion",
        "at": RECENTLY,
        "expires_at": None,
        "reason": "looked at",
        "revoked": False,
    } | changed


def make_waiver(policy: Policy, owner: str | None, criterion: str, **changed: object) -> Body:
    return {
        "record": digest(f"waiver {criterion} {owner}"),
        "criterion": criterion,
        "owner": owner,
        "artifact": digest("artifact"),
        "gate": policy.name,
        "policy_version": policy.version,
        "to": "champion",
        "at": RECENTLY,
        "starts_at": RECENTLY,
        "expires_at": LATER,
        "reason": "known",
        "revoked": False,
    } | changed


def decide(
    policy: Policy, *changes: Callable[[Body], object], facts: Body | None = None, now: datetime = NOW
) -> Decision:
    """The decision about the passing facts after some changes."""
    changed = copy.deepcopy(make_facts(policy) if facts is None else facts)
    for change in changes:
        change(changed)
    return evaluate(policy, changed, now)


def put(path: str, value: object) -> Callable[[Body], None]:
    """A change: puts a value at a path such as "statistics/metrics/roc_auc/estimate"."""

    def change(facts: Body) -> None:
        holder, name = _holder(facts, path)
        holder[name] = value

    return change


def drop(path: str) -> Callable[[Body], None]:
    def change(facts: Body) -> None:
        holder, name = _holder(facts, path)
        del holder[name]

    return change


def _holder(facts: Body, path: str) -> tuple[Any, Any]:
    *parts, last = (int(part) if part.isdecimal() else part for part in path.split("/"))
    holder: Any = facts
    for part in parts:
        holder = holder[part]
    return holder, last
