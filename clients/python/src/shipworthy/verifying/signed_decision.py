"""The decision in a bundle: signed by whom the verifier trusts, about these files, after all that it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shipworthy.formats.bundle import Bundle
from shipworthy.formats.digests import digest_bytes
from shipworthy.formats.dsse import IN_TOTO_TYPE, EnvelopeError, check_signature
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.notes import TreeHead
from shipworthy.formats.statement import DECISION_TYPE, decision_statement
from shipworthy.formats.trust import Trust
from shipworthy.verifying.log_proof import LoggedRecord, check_growth
from shipworthy.verifying.outcome import VerificationFailed, Verified


@dataclass(frozen=True, slots=True)
class SignedDecision:
    """A decision whose signature is good; `predicate` as docs/verify.md lists it, `inputs` by their role."""

    record: LoggedRecord
    predicate: Mapping[str, Any]
    inputs: tuple[tuple[str, LoggedRecord], ...]

    def inputs_as(self, role: str) -> tuple[LoggedRecord, ...]:
        return tuple(record for named, record in self.inputs if named == role)


def signed_decision(
    bundle: Bundle, records: Mapping[str, LoggedRecord], head: TreeHead, trust: Trust, artifact: str
) -> SignedDecision:
    """Raises VerificationFailed when the signature is not good, or the statement is about another artifact, or
    rests on records that are not in the bundle or came later than the head it names."""
    record = records.get(bundle.decision)
    if record is None:
        raise VerificationFailed(Verified.INCOMPLETE, "the decision's own record is not in the bundle")
    if record.kind != "decision":
        raise VerificationFailed(Verified.FORGED, f"the record named as the decision is a {record.kind}")
    statement, keyid, signature = _parts(record)
    signer = trust.signers.get(keyid)
    if signer is None or not signer.is_trusted_at(record.position):
        raise VerificationFailed(
            Verified.NOT_ACCEPTED,
            f"the decision is signed by the key {keyid[:80]}, which the trust file does not trust at position "
            f"{record.position} of the log",
        )
    if record.namespace not in signer.namespaces:
        raise VerificationFailed(
            Verified.NOT_ACCEPTED,
            f"the decision was made in the namespace {record.namespace[:200]!a}, for which the trust file does "
            "not trust this signer: others there set their own bars",
        )
    try:
        check_signature(IN_TOTO_TYPE, canonicalize(statement), signature, signer.public_key)
    except EnvelopeError as error:
        raise VerificationFailed(Verified.FORGED, str(error)) from error
    predicate = _predicate(statement)
    if predicate["namespace"] != record.namespace:
        raise VerificationFailed(
            Verified.FORGED, "the signed statement is of another namespace than the record that holds it"
        )
    found = predicate["artifact"]["digest"]
    if found != artifact:
        raise VerificationFailed(
            Verified.FORGED,
            f"the files have the digest {artifact}, the decision is about {found}: these are not the files that were "
            "judged",
        )
    inputs = _inputs(predicate, records)
    _check_order(bundle, predicate, record, inputs, head)
    return SignedDecision(record, predicate, inputs)


def _parts(record: LoggedRecord) -> tuple[Mapping[str, Any], str, str]:
    match record.body:
        case {
            "statement": dict(statement),
            "signature": {"keyid": str(keyid), "sig": str(signature)},
        }:
            return statement, keyid, signature
        case _:
            raise VerificationFailed(Verified.FORGED, "the decision's record holds no signed statement")


def _predicate(statement: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a genuine statement says. One that contradicts itself was signed by a broken service: not believed."""
    match statement:
        case {
            "predicateType": str(kind),
            "predicate": {
                "namespace": str(),
                "model": str(model),
                "to": str(),
                "verdict": str(),
                "mode": str(),
                "type": str(),
                "artifact": {"digest": str(artifact)},
                "criteria": list(),
                "inputs": list(),
                "reviews": list(),
                "waivers": list(),
                "evaluated_at": str(),
                "asOf": {"origin": str(), "size": int(), "root": str()},
            } as predicate,
        } if kind == DECISION_TYPE and statement == decision_statement(model, artifact, predicate):
            return dict(predicate)
        case _:
            raise VerificationFailed(
                Verified.FORGED, f"the signed statement is not one of {DECISION_TYPE}, or contradicts itself"
            )


def _inputs(
    predicate: Mapping[str, Any], records: Mapping[str, LoggedRecord]
) -> tuple[tuple[str, LoggedRecord], ...]:
    inputs = []
    for named in predicate["inputs"]:
        match named:
            case {"role": str(role), "record": str(digest)}:
                record = records.get(digest)
            case _:
                raise VerificationFailed(
                    Verified.FORGED, "the statement lists an input without role and record"
                )
        if record is None:
            raise VerificationFailed(
                Verified.INCOMPLETE,
                f"the decision rests on {digest[:80]} ({role}), which is not in the bundle",
            )
        inputs.append((role, record))
    if not inputs:
        raise VerificationFailed(Verified.INCOMPLETE, "the decision names nothing that it rests on")
    return tuple(inputs)


def _check_order(
    bundle: Bundle,
    predicate: Mapping[str, Any],
    record: LoggedRecord,
    inputs: tuple[tuple[str, LoggedRecord], ...],
    head: TreeHead,
) -> None:
    named = predicate["asOf"]
    try:
        as_of = TreeHead(named["origin"], named["size"], digest_bytes(named["root"]))
    except ValueError as error:
        raise VerificationFailed(
            Verified.FORGED, f"the head that the decision names is none: {error}"
        ) from error
    check_growth(bundle, as_of, head, "the head that the decision names")
    for role, each in inputs:
        if each.position >= as_of.size:
            raise VerificationFailed(
                Verified.FORGED,
                f"the decision rests on a {each.kind} ({role}) that was recorded only after it",
            )
        if each.namespace != record.namespace:
            raise VerificationFailed(
                Verified.FORGED, f"the decision rests on a {each.kind} ({role}) of another namespace"
            )
    if record.position < as_of.size:
        raise VerificationFailed(
            Verified.FORGED, "the decision stands in the log before the head that it names"
        )
