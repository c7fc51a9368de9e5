"""What is signed about a decision: an in-toto Statement v1 (in-toto attestation framework) and what it says in
SLSA's words, a Verification Summary Attestation v1."""

from collections.abc import Mapping
from typing import Any, Final

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
DECISION_TYPE: Final = "urn:shipworthy:release-decision:1"
SUMMARY_TYPE: Final = "https://slsa.dev/verification_summary/v1"
VERIFIER: Final = "urn:shipworthy:server"


def decision_statement(model: str, artifact: str, predicate: Mapping[str, Any]) -> dict[str, Any]:
    """The statement of a decision about an artifact, which is named by its manifest digest alone."""
    return _statement(model, artifact, DECISION_TYPE, predicate)


def summary_statement(decision: str, predicate: Mapping[str, Any], *, resource: str) -> dict[str, Any]:
    """A SLSA summary of a decision. PASSED stands only for a decision of a gate that lets the artifact pass and is
    enforced: not for a break-glass, a review that is open, or a trial run of a policy.

    `decision` is the digest of its record. No SLSA level is claimed: a gate judges a model, not how it was built.
    """
    gate = predicate["gate"]
    passed = (
        predicate["type"] == "gate"
        and predicate["mode"] == "enforce"
        and predicate["verdict"] == "passed"
        and gate is not None
    )
    summary: dict[str, Any] = {
        "verifier": {"id": VERIFIER, "version": {"shipworthy": predicate["evaluator"]["version"]}},
        "timeVerified": predicate["evaluated_at"],
        "resourceUri": resource,
        "policy": None
        if gate is None
        else {"uri": f"{gate['name']}@{gate['version']}", "digest": {"sha256": gate["digest"][7:]}},
        "inputAttestations": [{"digest": {"sha256": decision[7:]}}],
        "verificationResult": "PASSED" if passed else "FAILED",
        "verifiedLevels": [],
        "slsaVersion": "1.1",
    }
    return _statement(predicate["model"], predicate["artifact"]["digest"], SUMMARY_TYPE, summary)


def _statement(name: str, artifact: str, kind: str, predicate: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": artifact[7:]}}],
        "predicateType": kind,
        "predicate": dict(predicate),
    }
