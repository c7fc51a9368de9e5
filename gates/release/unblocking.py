"""What would unblock a release, one sentence for each thing to do, with who can do it."""

from collections.abc import Mapping, Sequence
from typing import Final

from gates.release.context import Context
from gates.release.policy import Policy
from gates.release.results import CriterionResult

_MEASURE: Final = (
    "An evaluator opens an attempt for this artifact by the protocol of the policy and sends all its results."
)
_BY_CODE: Final[Mapping[str, str]] = {
    "no_attempt": _MEASURE,
    "unregistered": _MEASURE,
    "wrong_candidate": _MEASURE,
    "wrong_dataset": _MEASURE,
    "wrong_dataset_name": (
        "An author publishes a policy version whose protocol.dataset.id is the name under which the snapshot is "
        "recorded."
    ),
    "wrong_evaluator": _MEASURE,
    "wrong_config": _MEASURE,
    "wrong_protocol": _MEASURE,
    "attempt_abandoned": _MEASURE,
    "attempt_open": "The evaluator sends the results that the open attempt still waits for.",
    "no_statistics": (
        "A worker computes the statistics of the attempt; `work` in GET /v1/evaluation-attempts/{id} says how far it "
        "is. When it stays queued no worker with the extra packages runs."
    ),
    "other_incumbent": (
        "An evaluator asks for statistics against the present incumbent: "
        "POST /v1/evaluation-attempts/{id}/statistics; that is no new attempt."
    ),
    "budget_spent": (
        "An author publishes a policy version with a new evaluation snapshot, or two approvers extend the attempts: "
        "POST /v1/evaluation-attempts/extensions."
    ),
    "disjointness_unknown": (
        "A recorder registers the snapshots of training and evaluation data with a key sketch or a declared split, "
        "and an evaluator measures again."
    ),
    "other_rows": "The evaluator measures every row of the snapshot and no other, in an attempt with the next retry.",
    "policy_revoked": "An author publishes the next version of the policy: PUT /v1/gates/{name}.",
    "overlap": "An author publishes a policy version whose evaluation snapshot shares nothing with training data.",
    "reported_differs": "The evaluator mends what computes the metric and measures again under a new retry.",
    "no_incumbent": "An approver decides by a review, or the registry's present target is imported first.",
    "incumbent_unclear": "A registry guard records what the target holds now.",
    "unknown_person": "The run and the policy are recorded again by keys that name an owning person.",
    "denied": "The artifact is changed: a new digest starts anew. Or the person who denied approves it.",
    "too_few_approvals": "Approvers who neither trained, waived nor wrote the policy approve it: POST /v1/reviews.",
}


def unblocking_sentences(
    policy: Policy, results: Sequence[CriterionResult], context: Context | None
) -> tuple[str, ...]:
    """In the order of the policy, each once; empty when nothing is in the way."""
    if context is None:
        again = "The facts of this release have to be gathered again; nobody can supply a criterion alone."
        return tuple(dict.fromkeys(_BY_CODE.get(result.finding.code or "", again) for result in results))
    waivable = frozenset() if policy.document.waivers is None else frozenset(policy.document.waivers.allowed)
    can_review = any(criterion.kind == "review" for criterion in policy.criteria)
    found: dict[str, list[str]] = {}
    for result in results:
        if result.effect in ("review", "block"):
            found.setdefault(_sentence(result, can_review), []).append(result.id)
    sentences = [f"{', '.join(ids)}: {sentence}" for sentence, ids in found.items()]
    open_waivable = [r.id for r in results if r.effect in ("review", "block") and r.id in waivable]
    if open_waivable:
        sentences.append(f"{', '.join(open_waivable)}: may be waived by approvers, POST /v1/waivers.")
    return tuple(sentences)


def _sentence(result: CriterionResult, can_review: bool) -> str:
    known = _BY_CODE.get(result.finding.code or "")
    if known is not None:
        return known
    needed = result.finding.needed_n
    if result.outcome == "inconclusive":
        more = "" if needed is None else f" of about {needed:,} examples"
        review = ", or approvers decide by a review" if result.effect == "review" and can_review else ""
        if result.state == "too_small":
            return f"An evaluation snapshot with enough examples of the small slices is needed{review}."
        return f"A larger evaluation snapshot{more} is needed{review}."
    if result.outcome == "failed":
        review = " Or approvers decide by a review." if result.effect == "review" and can_review else ""
        return f"{_OF_KIND.get(result.kind, 'A better artifact is needed.')}{review}"
    return _NO_VALUE.get(result.kind, f"What is missing has to be supplied: {result.finding.sentence}")


_OF_KIND: Final[Mapping[str, str]] = {
    "evidence": "What the report found is mended, and a new report that passes is attested: POST /v1/evidence.",
    "artifact": "The artifact is made again so that it keeps this.",
    "provenance": "The model is trained again from sources that keep this.",
    "reproduction": "The recipe is run again until it is known why its repeats differ; then the model is trained anew.",
}
_NO_VALUE: Final[Mapping[str, str]] = {
    "evidence": "An evaluator attests a report that passed, new and strong enough: POST /v1/evidence.",
    "stability": "Runs of the same family with seeds of their own are trained and measured.",
    "reproduction": "The recipe is run again and measured by the same protocol.",
    "artifact": "The recorder or a worker supplies what is not recorded about the artifact.",
    "provenance": "The recorder supplies what is not recorded about the training run.",
}
