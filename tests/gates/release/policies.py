"""A policy that asks for everything a policy can ask for, and ways to take parts of it."""

import hashlib
from typing import Final

from gates.release.loading import load_policy
from gates.release.policy import Policy


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
