"""Whether files may go where a decision says they may: checked from a bundle and a trust file, without the service."""

from datetime import datetime
from pathlib import Path

from shipworthy.formats.bundle import Bundle, BundleError, parse_bundle
from shipworthy.formats.manifest import ManifestError, hash_tree, manifest_digest
from shipworthy.formats.trust import Trust, TrustError, parse_trust
from shipworthy.verifying.acceptance import check_accepted
from shipworthy.verifying.log_proof import check_growth, logged_records, trusted_head
from shipworthy.verifying.outcome import Report, VerificationFailed, Verified
from shipworthy.verifying.signed_decision import SignedDecision, signed_decision

_NOT_PROVEN = (
    "that no revocation and no later decision was left out of the bundle: a log shows what is in it, not what is not; "
    "ask the service, or fetch the bundle again",
    "that what was measured is true: how independent each result is, its level says",
    "that blobs (predictions, reports) still lie where the records name them",
    "that the registry's version is these files: compare the digest there",
)


def artifact_digest(path: Path) -> str:
    """The manifest digest of a file or folder. Raises VerificationFailed when it can't be hashed."""
    try:
        return manifest_digest(hash_tree(path))
    except (ManifestError, OSError) as error:
        raise VerificationFailed(Verified.INCOMPLETE, f"the files can't be hashed: {error}") from error


def verify(
    artifact: str,
    evidence: bytes,
    trusted: bytes,
    now: datetime,
    pin: str | None = None,
    *,
    model: str | None = None,
    target: str | None = None,
) -> tuple[Report, str]:
    """`artifact` is the manifest digest of the files, `pin` a signed head that was seen earlier, `model` and `target`
    what the pass has to be for; None takes any.

    Gives the report and the signed head to keep as the next pin. Raises VerificationFailed for everything that is not
    proven.
    """
    bundle, trust = _read(evidence, trusted)
    head = trusted_head(bundle.checkpoint, trust, "the bundle's head")
    records = logged_records(bundle, head)
    if pin is not None:
        check_growth(bundle, trusted_head(pin, trust, "the pin"), head, "the pin")
    decision = signed_decision(bundle, records, head, trust, artifact)
    check_accepted(decision, records.values(), now)
    for word, found, wanted in (
        ("model", decision.predicate["model"], model),
        ("target", decision.predicate["to"], target),
    ):
        if wanted is not None and found != wanted:
            raise VerificationFailed(
                Verified.NOT_ACCEPTED,
                f"the decision is a pass for the {word} {found!a}, you asked for {wanted!a}",
            )
    return _report(decision, head.size, pinned=pin is not None), bundle.checkpoint


def _read(evidence: bytes, trusted: bytes) -> tuple[Bundle, Trust]:
    try:
        return parse_bundle(evidence), parse_trust(trusted)
    except BundleError as error:
        raise VerificationFailed(Verified.FORGED, f"the bundle can't be read: {error}") from error
    except TrustError as error:
        raise VerificationFailed(Verified.INCOMPLETE, str(error)) from error


def _report(decision: SignedDecision, size: int, *, pinned: bool) -> Report:
    predicate, gate = decision.predicate, decision.predicate["gate"]
    approvals = sum(each.get("action") == "approve" for each in predicate["reviews"])
    proven = [
        f"the files are the artifact {predicate['artifact']['digest']}",
        f"gate {gate['name']} version {gate['version']} of namespace {decision.record.namespace} let it pass to "
        f"{predicate['to']} at {predicate['evaluated_at']}, valid until {predicate['valid_until']}",
        f"its {len(predicate['criteria'])} results come to that verdict by the published rule",
        f"all {len(decision.inputs)} records that it rests on were in the log before it, none of those in the bundle "
        "takes one back",
        f"the log of {size} records is signed by a key you trust",
    ]
    if approvals:
        by = "approval by somebody" if approvals == 1 else "approvals by people"
        proven.append(f"{approvals} {by} who neither trained nor wrote the policy nor waived")
    if pinned:
        proven.append("the log continues the head you kept")
    not_proven = (
        _NOT_PROVEN if pinned else (*_NOT_PROVEN, "that this log shows everybody the same: keep a --pin")
    )
    return Report(
        model=predicate["model"],
        target=predicate["to"],
        artifact=predicate["artifact"]["digest"],
        decision=decision.record.digest,
        proven=tuple(proven),
        not_proven=not_proven,
    )
