"""Facts and now in, decision out. Pure: the same policy, facts and now give the same bytes, always."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeGuard

from gates.release.context import Context
from gates.release.criteria.base import MetricCriterion
from gates.release.criteria.review import ReviewCriterion, Trigger
from gates.release.facts import Facts, Malformed, read_facts
from gates.release.numbers import Unusable
from gates.release.policy import JudgedCriterion, Policy
from gates.release.results import CriterionResult, Finding, Inputs
from gates.release.sentences import verdict_sentence
from gates.release.unblocking import unblocking_sentences
from gates.release.waivers import active_waivers, waived
from shipworthy.formats.decision_rule import OUTCOMES, Verdict, is_clearable, verdict
from shipworthy.formats.times import format_instant


@dataclass(frozen=True, slots=True)
class Decision:
    """`valid_until` is when a pass ends: after `validFor`, or when the first thing it rests on ends to count.
    `inputs` are (role, record digest) of all that was read, sorted, each once."""

    verdict: Verdict
    sentence: str
    criteria: tuple[CriterionResult, ...]
    counts: Mapping[str, int]
    warnings: tuple[str, ...]
    triggers: tuple[Trigger, ...]
    unblocks: tuple[str, ...]
    alpha: float | None
    valid_until: datetime
    protocol_digest: str | None
    inputs: Inputs

    def as_json(self) -> dict[str, object]:
        """The members of a decision's predicate that follow from evaluating."""
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "criteria": [each.as_json() for each in self.criteria],
            "counts": dict(self.counts),
            "warnings": list(self.warnings),
            "triggers": list(self.triggers),
            "unblocks": list(self.unblocks),
            "alpha": self.alpha,
            "valid_until": format_instant(self.valid_until),
            "protocol_digest": self.protocol_digest,
            "inputs": [{"role": role, "record": record} for role, record in self.inputs],
        }


def evaluate(policy: Policy, facts: Facts | Malformed | Mapping[str, object], now: datetime) -> Decision:
    """The decision about the artifact that the facts name.

    Never raises for facts, whatever they are: what can't be used is an error of the criteria that need it, and what
    can't be used at all one of every criterion. ValueError when `now` has no zone.
    """
    if now.utcoffset() is None:
        raise ValueError("now must be aware: datetime.now(UTC)")
    known = read_facts(facts) if isinstance(facts, Mapping) else facts
    refusal = _refusal(policy, known)
    if refusal is not None or isinstance(known, Malformed):
        results = tuple(_result(each, _error(refusal or _unreadable(known))) for each in policy.criteria)
        return _decision(policy, results, (), None, now)
    context = Context(policy.name, policy.version, policy.to, policy.protocol, known, now)
    rule = policy.document.waivers
    waivers = active_waivers(rule, context)
    judged = waived(rule, [_judged(each, context) for each in policy.criteria if _is_judged(each)], waivers)
    triggers = _triggers(context, judged)
    in_use = [waivers[result.id] for result in judged if result.waiver is not None]
    grantors = {owner for waiver in in_use for owner in waiver.owners}
    reviewed = [
        _reviewed(each, context, judged, triggers, grantors)
        for each in policy.criteria
        if isinstance(each, ReviewCriterion)
    ]
    by_id = {result.id: result for result in (*_cleared(judged, reviewed), *reviewed)}
    results = tuple(by_id[each.id] for each in policy.criteria)
    return _decision(policy, results, triggers, context, now)


def _is_judged(criterion: JudgedCriterion | ReviewCriterion) -> TypeGuard[JudgedCriterion]:
    return not isinstance(criterion, ReviewCriterion)


def _refusal(policy: Policy, facts: Facts | Malformed) -> Unusable | None:
    """Why these facts say nothing about this policy's question; they must name it in every respect."""
    if isinstance(facts, Malformed):
        return None
    bound = (
        ("model", facts.model, policy.model),
        ("target", facts.to, policy.to),
        ("policy", facts.policy.name, policy.name),
        ("policy version", str(facts.policy.version), str(policy.version)),
        ("policy", facts.policy.digest, policy.digest),
        ("policy", facts.policy.document_digest, policy.document_digest),
    )
    for word, found, wanted in bound:
        if found != wanted:
            return Unusable(
                "wrong_subject", f"The facts are about another {word} than the policy.", "refused"
            )
    if facts.policy.revoked:
        sentence = "The policy was revoked, and decides nothing until its next version is published."
        return Unusable("policy_revoked", sentence, "refused")
    return None


def _unreadable(facts: Facts | Malformed) -> Unusable:
    assert isinstance(facts, Malformed)
    return Unusable("unreadable", f"The facts can't be read: {facts.place} {facts.why}.", "refused")


def _error(error: Unusable) -> Finding:
    return Finding(
        outcome="error", sentence=str(error), code=error.code, state=error.state, inputs=tuple(error.inputs)
    )


def _result(criterion: JudgedCriterion | ReviewCriterion, finding: Finding) -> CriterionResult:
    return CriterionResult(criterion.id, criterion.kind, criterion.severity, criterion.on(), finding)


def _judged(criterion: JudgedCriterion, context: Context) -> CriterionResult:
    try:
        finding = criterion.judge(context)
    except Unusable as error:
        finding = _error(error)
        statistics = context.facts.statistics
        if isinstance(criterion, MetricCriterion) and statistics is not None:
            finding = replace(finding, inputs=context.statistics_inputs(statistics))
    return _result(criterion, finding)


def _triggers(context: Context, results: Sequence[CriterionResult]) -> tuple[Trigger, ...]:
    """What happened that may ask for a review. What is unknown counts as having happened."""
    facts = context.facts
    found: list[Trigger] = []
    if any(result.outcome in ("inconclusive", "error") for result in results):
        found.append("inconclusive")
    snapshots = () if facts.training_run is None else facts.training_run.snapshots
    contested = facts.training_run is None or any(each.contested or each.revoked for each in snapshots)
    if (
        contested
        or facts.contested
        or (context.protocol is not None and (facts.dataset is None or facts.dataset.contested))
    ):
        found.append("contested-data-provenance")
    if facts.incumbent.artifact is None or facts.incumbent.how == "none":
        found.append("first-release")
    found.extend(flag for flag in dict.fromkeys(facts.flags))
    return tuple(found)


def _reviewed(
    criterion: ReviewCriterion,
    context: Context,
    results: Sequence[CriterionResult],
    triggers: Collection[Trigger],
    grantors: Collection[str],
) -> CriterionResult:
    try:
        return _result(criterion, criterion.judge(context, results, triggers, grantors))
    except Unusable as error:
        return _result(criterion, _error(error))


def _cleared(results: Sequence[CriterionResult], reviews: Sequence[CriterionResult]) -> list[CriterionResult]:
    """Results that ask for review, as far as people may decide about them, answered by the first approved review."""
    approved = next((review for review in reviews if review.state == "approved"), None)
    if approved is None:
        return list(results)
    return [
        replace(result, cleared_by=approved.id)
        if result.effect == "review" and is_clearable({"outcome": result.outcome, "state": result.state})
        else result
        for result in results
    ]


def _decision(
    policy: Policy,
    results: tuple[CriterionResult, ...],
    triggers: tuple[Trigger, ...],
    context: Context | None,
    now: datetime,
) -> Decision:
    found = verdict([result.as_json() for result in results])
    counted = Counter(result.outcome for result in results)
    ends = (end for result in results for end in result.finding.good_until)
    dataset_ends = () if context is None else context.dataset_ends()
    valid_until = min((now + policy.valid_for, *ends, *dataset_ends))
    return Decision(
        verdict=found,
        sentence=verdict_sentence(policy, results, found, valid_until),
        criteria=results,
        counts={outcome: counted[outcome] for outcome in OUTCOMES},
        warnings=tuple(result.id for result in results if result.effect == "warn"),
        triggers=triggers,
        unblocks=unblocking_sentences(policy, results, context),
        alpha=_alpha(context),
        valid_until=valid_until,
        protocol_digest=policy.protocol_digest,
        inputs=_inputs(results, context),
    )


def _alpha(context: Context | None) -> float | None:
    if context is None:
        return None
    try:
        return context.alpha()
    except Unusable:
        return None


def _inputs(results: Sequence[CriterionResult], context: Context | None) -> Inputs:
    found = {pair for result in results for pair in result.finding.inputs}
    if context is not None:
        facts = context.facts
        found.add(("policy", facts.policy.record))
        found.update(("artifact", record) for record in facts.artifact.records)
        found.update(("extension", record) for each in facts.attempts.extensions for record in each.records)
        if facts.training_run is not None:
            found.add(("training_run", facts.training_run.record))
            found.update(("snapshot", each.record) for each in facts.training_run.snapshots)
    return tuple(sorted(found))
