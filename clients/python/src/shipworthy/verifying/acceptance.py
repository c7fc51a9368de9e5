"""Whether a genuine decision lets its artifact pass now: the rule run again, terms, people, what was taken back."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from shipworthy.formats.decision_rule import verdict
from shipworthy.formats.times import parse_instant
from shipworthy.verifying.log_proof import LoggedRecord
from shipworthy.verifying.outcome import VerificationFailed, Verified
from shipworthy.verifying.signed_decision import SignedDecision

_APPROVAL: Final = "review.approved"
_WAIVER: Final = "waiver"


def check_accepted(decision: SignedDecision, records: Iterable[LoggedRecord], now: datetime) -> None:
    """Raises VerificationFailed, always NOT_ACCEPTED or FORGED, naming the first reason why it does not."""
    _check_rule(decision)
    _check_passed(decision.predicate)
    _check_term(decision.predicate, now)
    _check_people(decision, now)
    _check_standing(decision, records)


def _check_rule(decision: SignedDecision) -> None:
    predicate = decision.predicate
    if predicate["type"] != "gate":
        return
    try:
        found = verdict(predicate["criteria"])
    except ValueError as error:
        raise VerificationFailed(
            Verified.FORGED, f"the decision's results can't be judged: {error}"
        ) from error
    if found != predicate["verdict"]:
        raise VerificationFailed(
            Verified.FORGED,
            f'the recorded results come to "{found}", the decision says "{predicate["verdict"]}"',
        )
    _check_policy(decision)


def _check_policy(decision: SignedDecision) -> None:
    """The gate that was published asked for exactly the criteria that were judged."""
    named = decision.predicate.get("gate")
    published = decision.inputs_as("policy")
    if len(published) != 1 or published[0].kind != "gate.published" or not isinstance(named, dict):
        raise VerificationFailed(Verified.FORGED, "the decision does not rest on exactly one published gate")
    body = published[0].body
    for member in ("name", "version", "digest", "document_digest"):
        if body.get(member) != named.get(member):
            raise VerificationFailed(
                Verified.FORGED, f"the decision and the gate it rests on differ in their {member}"
            )
    if body.get("criteria") != [each.get("id") for each in decision.predicate["criteria"]]:
        raise VerificationFailed(
            Verified.FORGED, "the criteria that were judged are not those of the published gate"
        )


def _check_passed(predicate: Mapping[str, Any]) -> None:
    if predicate["type"] != "gate":
        sentence = "the decision is a break-glass: two people let the artifact pass without its gate"
    elif predicate["mode"] != "enforce":
        sentence = "the decision is a trial run of its policy (shadow), which lets nothing pass"
    elif predicate["verdict"] != "passed":
        sentence = f'the verdict is "{predicate["verdict"]}": {predicate.get("sentence", "")}'
    else:
        return
    raise VerificationFailed(Verified.NOT_ACCEPTED, sentence)


def _check_term(predicate: Mapping[str, Any], now: datetime) -> None:
    made, until = _instant(predicate["evaluated_at"]), predicate.get("valid_until")
    if until is None:
        raise VerificationFailed(Verified.FORGED, "the decision does not say how long it is valid")
    if now < made:
        raise VerificationFailed(
            Verified.NOT_ACCEPTED,
            f"the decision was made at {made.isoformat()}, which lies ahead; check the clock",
        )
    if now >= _instant(until):
        raise VerificationFailed(
            Verified.NOT_ACCEPTED, f"the decision was valid until {until}; have the gate evaluated again"
        )


def _check_people(decision: SignedDecision, now: datetime) -> None:
    """Who approved and who waived, by the records they wrote themselves and not by what the decision says of them."""
    predicate = decision.predicate
    inputs = {record.digest: record for _, record in decision.inputs}
    run = predicate.get("training_run")
    trainer = run.get("owner") if isinstance(run, dict) else None
    author = decision.inputs_as("policy")[0].owner
    waivers = [_granted(each, _WAIVER, inputs, decision, now) for each in predicate["waivers"]]
    waived = {record.owner for record in waivers}
    used = {each.get("waiver") for each in predicate["criteria"]} - {None}
    if not used <= {record.digest for record in waivers}:
        raise VerificationFailed(Verified.FORGED, "a criterion is waived by a waiver that is not listed")
    approvals = [each for each in predicate["reviews"] if each.get("action") == "approve"]
    if not approvals and any(each.get("state") == "approved" for each in predicate["criteria"]):
        raise VerificationFailed(
            Verified.FORGED, "a review is said to be approved, and no approval is listed"
        )
    for each in approvals:
        approval = _granted(each, _APPROVAL, inputs, decision, now)
        if approval.owner is None or trainer is None or author is None:
            raise VerificationFailed(
                Verified.NOT_ACCEPTED, "it is not known who trained, wrote the policy or approved: nobody is"
            )
        if approval.owner in {trainer, author, *waived}:
            raise VerificationFailed(
                Verified.NOT_ACCEPTED,
                "the person who approved is also the one who trained, wrote the policy or granted a waiver",
            )


def _granted(
    named: Mapping[str, Any],
    kind: str,
    inputs: Mapping[str, LoggedRecord],
    decision: SignedDecision,
    now: datetime,
) -> LoggedRecord:
    record = inputs.get(str(named.get("record")))
    if record is None or record.kind != kind or record.owner != named.get("owner"):
        raise VerificationFailed(Verified.FORGED, f"the decision lists a {kind} that its inputs do not hold")
    predicate = decision.predicate
    wanted = {
        "artifact": predicate["artifact"]["digest"],
        "gate": predicate["gate"]["name"],
        "policy_version": predicate["gate"]["version"],
        "to": predicate["to"],
    }
    for member, value in wanted.items():
        if record.body.get(member) != value:
            raise VerificationFailed(
                Verified.NOT_ACCEPTED,
                f"a {kind} is for {member} {record.body.get(member)}, the decision for {value}: it counts for nothing",
            )
    until = record.body.get("expires_at")
    if until is not None and now >= _instant(until):
        raise VerificationFailed(
            Verified.NOT_ACCEPTED, f"a {kind} that the decision rests on ended at {until}"
        )
    return record


def _check_standing(decision: SignedDecision, records: Iterable[LoggedRecord]) -> None:
    rests_on = {decision.record.digest: "the decision"} | {
        record.digest: f"a {record.kind} that it rests on" for _, record in decision.inputs
    }
    keys = {record.key_id: record.kind for _, record in decision.inputs}
    as_of = decision.predicate["asOf"]["size"]
    # What was said before was known to the decision, and judged: contested data may pass with a review.
    for record in (each for each in records if each.position >= as_of):
        if record.kind == "revocation" and record.body.get("record") in rests_on:
            what = rests_on[record.body["record"]]
            raise VerificationFailed(
                Verified.NOT_ACCEPTED,
                f"{what} was {record.body.get('effect')}: {record.body.get('reason')}",
            )
        if record.kind == "key.revoked" and record.body.get("key_id") in keys:
            raise VerificationFailed(
                Verified.NOT_ACCEPTED,
                f"the key that wrote a {keys[record.body['key_id']]} which it rests on was revoked",
            )
        if record.kind == "decision" and record.position > decision.record.position:
            _check_not_superseded(decision, record)


def _check_not_superseded(decision: SignedDecision, later: LoggedRecord) -> None:
    match later.body:
        case {
            "statement": {"predicate": {"model": model, "to": to, "artifact": {"digest": artifact}} as said}
        }:
            ours = decision.predicate
            same = (model, to, artifact) == (ours["model"], ours["to"], ours["artifact"]["digest"])
            if same and said.get("mode") == "enforce" and later.namespace == decision.record.namespace:
                raise VerificationFailed(
                    Verified.NOT_ACCEPTED,
                    f'a later decision ({later.digest}) supersedes it: "{said.get("verdict")}"',
                )


def _instant(text: object) -> datetime:
    try:
        return parse_instant(str(text))
    except ValueError as error:
        raise VerificationFailed(
            Verified.FORGED, f"the statement holds a time that is none: {error}"
        ) from error
